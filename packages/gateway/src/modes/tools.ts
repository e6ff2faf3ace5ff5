import type { JsonObject } from '@sallyport/contract';
import { edges } from '../policy/judge/mode-policy.ts';
import type { ModePolicy } from '../policy/judge/mode-policy.ts';
import { isRefusal } from '../call/refusal.ts';
import { modes } from '../call/session.ts';
import type { Mode } from '../call/session.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool, Tool } from '../call/tool.ts';
import type { ModeAuthority } from './mode-authority.ts';
import type { ModeChange } from '../storage/stores.ts';
import { defineAdministration } from '../registry/administration.ts';

export interface ModeToolParts {
  readonly authority: ModeAuthority;
  readonly policy: () => ModePolicy;
}

const change: JsonObject = {
  type: 'object',
  required: ['from', 'to', 'by', 'cause', 'at'],
  properties: {
    from: { enum: modes },
    to: { enum: modes },
    by: { type: 'string' },
    cause: { type: 'string' },
    at: { type: 'string' },
  },
};

/** Seeing and changing the mode. For operators, in every mode. */
export function modeTools(parts: ModeToolParts): readonly AnyTool[] {
  return [showTool(parts), setTool(parts), historyTool(parts)] as unknown as AnyTool[];
}

function showTool({ authority, policy }: ModeToolParts): Tool {
  return {
    definition: defineAdministration({
      name: 'mode.show',
      description: 'Shows the mode, its limits, where it can lead, and how it came about.',
      mutates: false,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, properties: {} },
      outputSchema: {
        type: 'object',
        required: ['mode', 'max_running', 'leads_to'],
        properties: {
          mode: { enum: modes },
          max_running: { type: 'integer' },
          calls_per_minute: { type: 'integer' },
          leads_to: { type: 'array', items: { enum: modes } },
          last_change: change,
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'Show the mode.', detail: '', undoable: true }),
    run: async () => {
      const mode = authority.current();
      const { maxRunning, callsPerMinute } = policy().limits[mode];
      const [last] = await authority.history(1);
      return {
        mode,
        max_running: maxRunning,
        ...(callsPerMinute === undefined ? {} : { calls_per_minute: callsPerMinute }),
        leads_to: [...edges[mode]],
        ...(last === undefined ? {} : { last_change: describeChange(last) }),
      };
    },
    summarize: (_args, output) => `the mode is ${(output as { mode: string }).mode}`,
  };
}

function setTool({ authority }: ModeToolParts): Tool<{ readonly mode: Mode; readonly cause: string }> {
  return {
    definition: defineAdministration({
      name: 'mode.set',
      description: 'Changes the mode. LOCKDOWN stops running calls that change something, at once.',
      mutates: true,
      idempotent: false,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['mode', 'cause'],
        properties: {
          mode: { enum: modes },
          cause: { type: 'string', minLength: 1, maxLength: 500, description: 'Why; it stands in the log.' },
        },
      },
      outputSchema: change,
    }),
    claim: () => ({ paths: [] }),
    preview: ({ mode }) =>
      Promise.resolve({
        summary: `Change the mode from ${authority.current()} to ${mode}.`,
        detail: '',
        undoable: edges[mode].includes(authority.current()),
      }),
    run: async ({ mode, cause }, context) => {
      const made = await authority.change({ to: mode, by: context.session.agent, cause: context.redact(cause) });
      if (isRefusal(made)) throw new ToolRefused(made);
      return describeChange(made);
    },
    summarize: (_args, output) => {
      const { from, to } = output as { from: string; to: string };
      return `changed the mode from ${from} to ${to}`;
    },
  };
}

function historyTool({ authority }: ModeToolParts): Tool<{ readonly limit: number }> {
  return {
    definition: defineAdministration({
      name: 'mode.history',
      description: 'Lists the changes of the mode with their causes, newest first.',
      mutates: false,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        properties: { limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 } },
      },
      outputSchema: {
        type: 'object',
        required: ['changes'],
        properties: { changes: { type: 'array', items: change } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'List the changes of the mode.', detail: '', undoable: true }),
    run: async ({ limit }) => ({ changes: (await authority.history(limit)).map(describeChange) }),
    summarize: (_args, output) => `${(output as { changes: readonly unknown[] }).changes.length} changes`,
  };
}

function describeChange({ from, to, by, cause, atMs }: ModeChange) {
  return { from, to, by: by ?? 'sallyport', cause, at: new Date(atMs).toISOString() };
}
