import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { cutText } from '../../call/redacted.ts';
import { withDeadline } from '../shell/with-deadline.ts';
import { maxAnswerBytes } from './database-answer.ts';
import type { DatabaseAnswer, DatabaseQuestion } from './database-answer.ts';
import type { PostgresConnection } from './database-connection.ts';
import type { PostgresReport, PostgresTask } from './postgres-thread.ts';

/** How long the server has to end a statement that nobody waits for. */
const cancelMs = 2000;
const maxHeapMegabytes = 256;

/** Runs one statement on a PostgreSQL server, over a connection that is opened and closed for it. */
export async function runPostgres(
  connection: PostgresConnection,
  password: string,
  question: DatabaseQuestion,
  context: ToolContext,
): Promise<DatabaseAnswer> {
  const target = `${connection.host}:${connection.port}`;
  const run = async ({ signal }: ToolContext): Promise<DatabaseAnswer> => {
    if (question.access === 'write') context.noteEffect();
    const report = await ask({ connection, password, question, maxAnswerBytes }, signal);
    const isConnected = report.kind === 'answer' || report.isConnected;
    context.noteNetwork([{ outcome: isConnected ? 'connected' : 'unreachable', target, times: 1 }]);
    if (report.kind === 'answer') return report.answer;
    const { message, isUnsure, remedy } = report;
    if (signal.aborted && !isUnsure) throw signal.reason;
    const said = cutText(context.redact(message), 500);
    const doubt = isUnsure ? ' Whether the change was made is not known.' : '';
    throw new ToolFailure('EXECUTION_ERROR', `The database says: ${said}${doubt}`, {
      ...(remedy === undefined ? {} : { forOperators: remedy }),
    });
  };
  return withDeadline(question.timeoutMs, context, run, 'The statement');
}

async function ask(task: PostgresTask, signal: AbortSignal): Promise<PostgresReport> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<PostgresReport>();
  const thread = new Worker(join(import.meta.dirname, `postgres-thread${extname(import.meta.filename)}`), {
    workerData: task,
    // The client would take its settings, and a password, from there.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
  });
  const lost = (message: string) => () => {
    resolve({ kind: 'failure', message, isUnsure: task.question.access === 'write', isConnected: true });
  };
  thread.once('message', resolve);
  thread.once('error', lost('The answer was too large, or could not be read.'));
  thread.once('exit', lost('It gave no answer.'));
  let patience: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    thread.postMessage('cancel');
    patience = setTimeout(() => void thread.terminate(), cancelMs);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', cancel);
    clearTimeout(patience);
    await thread.terminate();
  }
}
