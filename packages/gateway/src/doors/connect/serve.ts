import { create } from '@bufbuild/protobuf';
import {
  ExecuteToolStreamResponseSchema,
  GetToolSchemaResponseSchema,
  ListAvailableToolsResponseSchema,
  ToolService,
  wholeText,
} from '@sallyport/contract';
import type { ExecuteToolResponse } from '@sallyport/contract';
import type { Answer } from '../../call/answer.ts';
import { doors } from '../../call/call.ts';
import type { ShownDefinitions } from '../../registry/shown-definitions.ts';
import type { RedactText } from '../../call/redacted.ts';
import { isOnlyName } from '../../registry/registry.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ToolVisibility } from '../../sessions/tool-visibility.ts';
import type { Store } from '../../storage/stores.ts';
import type { Submission, Submit } from '../../call/submission.ts';
import { checkCaller } from '../check-caller.ts';
import { presentTool } from '../present-tool.ts';
import { ProgressQueue } from '../progress-queue.ts';
import { presentError, RpcError } from '../transport/rpc-error.ts';
import { bindService } from '../transport/service-binding.ts';
import type { HandlersOf, HandlersWriting, ServiceBinding } from '../transport/service-binding.ts';
import { answerCalls } from './answer-calls.ts';
import { encodeSuccess, numberSuccess } from './encode-success.ts';
import { exportSessionTools } from './export-session-tools.ts';
import { checkKnown, presentAnswer, writeSuccess } from './present-answer.ts';
import { readCall } from './read-call.ts';

const ignore = (): void => undefined;

export interface ToolServiceParts {
  readonly store: Pick<Store, 'findSessionByToken' | 'readMode' | 'readSession'>;
  readonly registry: Registry;
  readonly visibility: Pick<ToolVisibility, 'isEntitled' | 'isShown'>;
  readonly definitions: Pick<ShownDefinitions, 'of'>;
  readonly redact: RedactText;
  /** Runs a call through the gateway. */
  readonly submit: Submit;
  /** Where a person decides about a task. */
  readonly linkToTask: (taskId: string) => string;
  /** Called with errors of this door itself. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

export function toolService(parts: ToolServiceParts): ServiceBinding {
  const { store, registry, visibility, submit, linkToTask } = parts;
  const present = (answer: Answer): ExecuteToolResponse => {
    const response = presentAnswer(answer);
    const ticket = response.result.case === 'denied' ? response.result.value.approval : undefined;
    if (ticket !== undefined && ticket.taskId !== '') ticket.link = linkToTask(ticket.taskId);
    return response;
  };
  const runWriting =
    <Written>(write: (answer: Answer) => Written | undefined) =>
    async (call: Submission): Promise<ExecuteToolResponse | Written> => {
      const answer = await submit(call);
      checkKnown(answer);
      return write(answer) ?? present(answer);
    };
  const run = runWriting<never>(() => undefined);
  const runInJson = runWriting(writeSuccess);
  const runInBinary = runWriting<Uint8Array>(encodeSuccess);

  const presentFault = (error: unknown): RpcError =>
    presentError(error, 'ExecuteTools', { redact: parts.redact, log: (event) => parts.onFault(event.error) });

  const inJson: HandlersWriting<string, typeof ToolService> = {
    executeTool: (request, peer) => runInJson(readCall(request, peer)),

    executeTools: (requests, peer) => {
      const number = (given: number, written: string): string => `{"number":${given},"response":${written}}`;
      return answerCalls(requests, peer, { run: runInJson, number, present: presentFault });
    },
  };

  const inBinary: HandlersWriting<Uint8Array, typeof ToolService> = {
    executeTool: (request, peer) => runInBinary(readCall(request, peer)),

    executeTools: (requests, peer) =>
      answerCalls(requests, peer, { run: runInBinary, number: numberSuccess, present: presentFault }),
  };

  const methods: HandlersOf<typeof ToolService> = {
    executeTool: (request, peer) => run(readCall(request, peer)),

    executeToolStream: async function* ({ call }, peer) {
      if (call === undefined) throw new RpcError('invalid_argument', 'The request holds no call.');
      const news = new ProgressQueue();
      const ran = run({
        ...readCall(call, peer),
        onProgress: (progress) => news.tell(progress),
        onPending: (taskId) => news.tellPending(taskId, linkToTask(taskId)),
      }).finally(() => news.end());
      const ended = ran.catch(ignore);
      try {
        for await (const event of news) yield create(ExecuteToolStreamResponseSchema, { event });
        yield create(ExecuteToolStreamResponseSchema, { event: { case: 'response', value: await ran } });
      } finally {
        // A caller who leaves is answered by nobody, but what ran for it has ended and is on record.
        await ended;
      }
    },

    executeTools: (requests, peer) => answerCalls<never>(requests, peer, { run, present: presentFault }),

    listAvailableTools: ({ category, tag }, peer) => {
      const session = checkCaller(store, peer);
      const mode = store.readMode();
      const nowMs = Date.now();
      const tools = registry.all
        .filter((tool) => !isOnlyName(tool) && visibility.isShown(tool, session, nowMs))
        .filter(({ definition }) => category === '' || definition.category === category)
        .filter(({ definition }) => tag === '' || definition.tags.includes(tag));
      return Promise.resolve(
        create(ListAvailableToolsResponseSchema, { mode, tools: tools.map((tool) => presentTool(tool, parts)) }),
      );
    },

    getToolSchema: ({ name }, peer) => {
      const session = checkCaller(store, peer);
      const tool = registry.find(name)?.tool;
      if (tool === undefined || !visibility.isEntitled(tool, session, Date.now())) {
        const suggestions = registry.suggest(name, session.principal);
        const advice = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : '';
        throw new RpcError('not_found', `There is no tool named ${JSON.stringify(wholeText(name))}.${advice}`);
      }
      return Promise.resolve(create(GetToolSchemaResponseSchema, { tool: presentTool(tool, parts) }));
    },

    exportTools: async (request, peer) => exportSessionTools(request, checkCaller(store, peer), parts),
  };
  const binding = bindService(ToolService, doors, methods, { inJson, inBinary });
  return { ...binding, whole: ['listAvailableTools', 'getToolSchema', 'exportTools'] };
}
