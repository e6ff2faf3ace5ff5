import { randomBytes } from 'node:crypto';
import { CallProgress } from '../../client/call-progress.ts';
import type { CommandContext } from '../../command-context.ts';
import { confirmEffect } from '../../terminal/confirm-effect.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { declined, exitCodeInterrupted, usageFailure } from '../../client/failure.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { makeVisible } from '../../terminal/visible-text.ts';
import type { ExecuteToolRequestJson, ExecuteToolResponseJson, ProgressJson } from '@sallyport/contract';
import type { Given } from '../../command-table.ts';
import type { invokeOptions } from './tool-commands.ts';

export type InvokeOptions = Given<typeof invokeOptions>;

/** Longer than any request waits; the gate ends the wait. */
const longestWaitSeconds = 600;

export async function invokeTool(
  name: string,
  pairs: readonly string[],
  options: InvokeOptions,
  context: CommandContext,
): Promise<number> {
  const { input, inputFile, taskId, correlationId, wait, trace, yes = false, ...rest } = options;
  const request: ExecuteToolRequestJson = {
    ...rest,
    name,
    inputJson: await readInputFor(
      name,
      {
        pairs,
        ...(input === undefined ? {} : { input }),
        ...(inputFile === undefined ? {} : { inputFile }),
      },
      context,
    ),
    context: { ...(taskId === undefined ? {} : { taskId }), ...(correlationId === undefined ? {} : { correlationId }) },
    ...(wait === undefined ? {} : { waitMs: (wait === true ? longestWaitSeconds : wait) * 1000 }),
  };
  const traceId = trace ?? traceOf(options.confirmToken);
  const inTrace = traceId === undefined ? {} : { traceparent: traceparentOf(traceId) };
  if (yes) context.openOperatorClient();
  const consent = yes ? ({ consent: 'agreed' } as const) : {};
  return showAnswer(await runCall(request, context, { ...inTrace, ...consent }), context);
}

/** A confirm token is good in one trace, which it names. */
function traceOf(confirmToken: string | undefined): string | undefined {
  try {
    const [, , body = ''] = (confirmToken ?? '').split('.');
    const { traceId } = JSON.parse(Buffer.from(body, 'base64url').toString()) as { traceId?: unknown };
    return typeof traceId === 'string' && /^[0-9a-f]{32}$/.test(traceId) ? traceId : undefined;
  } catch {
    // No token of a gate: the gate will say so.
    return undefined;
  }
}

function traceparentOf(traceId: string): string {
  if (!/^[0-9a-f]{32}$/.test(traceId)) throw usageFailure('A trace is named by 32 hexadecimal digits.');
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}

export interface CallOptions {
  /** `agreed`: the person was asked about this call in other words. Absent: the gate's own question is asked. */
  readonly consent?: 'agreed';
  /** Hears what is shown while the call runs. */
  readonly onProgress?: (news: ProgressJson) => void;
  /** W3C trace context. Absent: a trace of its own. */
  readonly traceparent?: string;
}

/** Runs one call. Asks the person at the terminal where the call needs their consent. Ctrl-C cancels it. */
export async function runCall(
  request: ExecuteToolRequestJson,
  context: CommandContext,
  { consent, onProgress = () => undefined, ...post }: CallOptions = {},
): Promise<ExecuteToolResponseJson> {
  const client = context.openClient();
  const mayAsk = context.terminal.interactive && !context.json;
  const execute = (call: ExecuteToolRequestJson) => executeCancellably(call, client, context, { onProgress, ...post });
  let answer = await execute(request);
  if (client.role !== 'operator' || !(mayAsk || consent === 'agreed')) return answer;
  // The effect can change while it is being read; then the new one is shown and asked about.
  for (let approval = answer.denied?.approval; approval !== undefined; approval = answer.denied?.approval) {
    const isAgreed = consent === 'agreed' && answer.denied?.rationaleCode === 'APPROVAL_REQUIRED';
    if (!isAgreed && !mayAsk) return answer;
    if (!isAgreed && !(await confirmEffect(approval.effect ?? '', answer.tool ?? '', context.terminal)))
      throw declined();
    answer = await execute({ ...request, confirmBinding: approval.binding ?? '' });
  }
  return answer;
}

/** The first Ctrl-C closes the connection, by which the daemon ends the call; the second does not wait for that. */
async function executeCancellably(
  request: ExecuteToolRequestJson,
  client: DaemonClient,
  context: CommandContext,
  { onProgress, traceparent }: { readonly onProgress: (news: ProgressJson) => void; readonly traceparent?: string },
): Promise<ExecuteToolResponseJson> {
  const cancel = new AbortController();
  const onInterrupt = (): void => {
    if (cancel.signal.aborted) process.exit(exitCodeInterrupted);
    cancel.abort();
  };
  process.on('SIGINT', onInterrupt);
  try {
    using progress = new CallProgress(request.name ?? '', context);
    const answer = await client.executeTool(request, {
      ...(traceparent === undefined ? {} : { headers: { traceparent } }),
      signal: cancel.signal,
      onProgress: (news) => {
        progress.hear(news);
        onProgress(news);
      },
      onPending: (need) => progress.hearPending(need),
    });
    return context.json ? answer : leaveOutSeen(answer, progress.stderr);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** A failure quotes the end of standard error, which the person has just read line by line. */
function leaveOutSeen(answer: ExecuteToolResponseJson, seen: string): ExecuteToolResponseJson {
  const message = answer.error?.message ?? '';
  const shown = makeVisible(seen).trimEnd();
  const at = message.indexOf(': ');
  const said = message.slice(at + 2);
  // The quotation may be followed by a sentence of the gate.
  let length = shown === '' || at < 0 ? 0 : said.length;
  while (length > 0 && !shown.endsWith(said.slice(0, length).trimEnd())) length -= 1;
  if (said.slice(0, length).trim() === '') return answer;
  const rest = said.slice(length).trim();
  const error = { ...answer.error, message: `${message.slice(0, at)}.${rest === '' ? '' : ` ${rest}`}` };
  return { ...answer, error };
}
