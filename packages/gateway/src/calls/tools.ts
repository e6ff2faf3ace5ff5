import { ToolFailure } from '../call/tool.ts';
import type { AnyTool, Tool } from '../call/tool.ts';
import type { ListedCall, RunningCalls } from './running-calls.ts';
import { defineAdministration } from '../registry/administration.ts';

type Calls = Pick<RunningCalls, 'list' | 'cancel'>;

/** Seeing and ending what runs. Governed calls like any other, for operators only. */
export function callTools(running: Calls): readonly AnyTool[] {
  return [listTool(running), cancelTool(running)] as unknown as AnyTool[];
}

function listTool(running: Calls): Tool<{ readonly session_id?: string }> {
  return {
    definition: defineAdministration({
      name: 'calls.list',
      description: 'Lists the calls that run or wait, the oldest first.',
      mutates: false,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          session_id: { type: 'string', minLength: 1, maxLength: 64, description: 'Only those of this session.' },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['calls'],
        properties: {
          calls: {
            type: 'array',
            items: {
              type: 'object',
              required: ['call_id', 'tool', 'agent', 'session_id', 'state', 'started_at'],
              properties: {
                call_id: { type: 'string' },
                tool: { type: 'string' },
                agent: { type: 'string' },
                session_id: { type: 'string' },
                state: { enum: ['waiting', 'running'] },
                started_at: { type: 'string' },
              },
            },
          },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'List the calls that run.', detail: '', undoable: true }),
    run: ({ session_id: sessionId }, { callId }) => {
      const others = running.list().filter((call) => call.callId !== callId);
      const shown = others.filter(({ session }) => sessionId === undefined || session.id === sessionId);
      return Promise.resolve({ calls: shown.map(describeCall) });
    },
    summarize: (_args, output) => `${(output as { calls: readonly unknown[] }).calls.length} calls`,
  };
}

function cancelTool(running: Calls): Tool<{ readonly call_id: string }> {
  return {
    definition: defineAdministration({
      name: 'calls.cancel',
      description: 'Ends a call that runs or waits. Its caller is told who ended it.',
      mutates: true,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['call_id'],
        properties: {
          call_id: { type: 'string', minLength: 1, maxLength: 64, description: 'As calls.list shows it.' },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['call_id', 'tool', 'agent'],
        properties: { call_id: { type: 'string' }, tool: { type: 'string' }, agent: { type: 'string' } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ call_id: id }) => {
      const { tool, session } = find(running, id);
      const summary = `Cancel call ${id} of ${session.agent}.`;
      return Promise.resolve({ summary, detail: `tool: ${tool}\n`, undoable: false });
    },
    run: ({ call_id: id }, context) => {
      const { tool, session } = find(running, id);
      running.cancel(id, context.session.agent);
      return Promise.resolve({ call_id: id, tool, agent: session.agent });
    },
    summarize: ({ call_id: id }) => `cancelled call ${id}`,
  };
}

function find(running: Calls, id: string): ListedCall {
  const found = running.list().find(({ callId }) => callId === id);
  if (found !== undefined) return found;
  throw new ToolFailure('NOT_FOUND', `No call ${id} is running.`, {
    forOperators: '`sallyport call list` shows those that are.',
  });
}

function describeCall({ callId, tool, session, state, startedAtMs }: ListedCall) {
  return {
    ...{ call_id: callId, tool, agent: session.agent, session_id: session.id, state },
    started_at: new Date(startedAtMs).toISOString(),
  };
}
