import { spellBytes } from '@sallyport/contract';
import { NetworkLog, ProgramLost, ProgramNotStarted } from '@sallyport/sandbox';
import type { Program, ProgramEnd, ProgramLimits, RunOptions } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { CapturedOutput } from './captured-output.ts';
import type { CapturedText } from './captured-output.ts';
import { hintAtUser } from './hint-at-user.ts';

export type { CapturedText } from './captured-output.ts';

/** How a program ended that came to an end of its own. */
export interface ProgramOutput {
  readonly how: Extract<ProgramEnd['how'], { readonly kind: 'exited' | 'killed' }>;
  readonly stdout: CapturedText;
  readonly stderr: CapturedText;
  /** What it asked of the network. */
  readonly network: NetworkLog;
}

export interface ProgramRunOptions {
  readonly inlineBytes: number;
  /** As in RunOptions. */
  readonly warmKey?: string;
  readonly preparedKey?: string;
  /** The program only looks, so that the effect of the call has not begun with it. Absent: it may do anything. */
  readonly isLooking?: boolean;
  /** What it writes to stdout is reported as it comes, too. Absent: it is not. */
  readonly reportsStdout?: boolean;
}

/**
 * With the span of the call in its environment. One that may wait for a call, already started, was told nothing of any;
 * a sandbox that was built ahead has the environment of no call, so that this one is built anew.
 */
function trace(
  program: Program,
  { traceparent }: Pick<ToolContext, 'traceparent'>,
  options: ProgramRunOptions,
): readonly [Program, ProgramRunOptions] {
  if (traceparent === undefined || options.warmKey !== undefined) return [program, options];
  const { preparedKey: _, ...others } = options;
  return [{ ...program, environment: { TRACEPARENT: traceparent, ...program.environment } }, others];
}

/**
 * Runs a program for a call: its output is captured, what it writes to stderr is reported as it comes, what it used is
 * counted. Output past `inlineBytes` is kept whole in the content store.
 *
 * Failure: throws ToolFailure when a limit, the caller or the clock ended it, and ToolRefused when it may not start
 * here. An exit code other than 0 and a deadly signal are endings.
 */
export async function runProgram(
  untraced: Program,
  context: ToolContext,
  given: ProgramRunOptions,
): Promise<ProgramOutput> {
  const [program, options] = trace(untraced, context, given);
  const keep = (source: AsyncIterable<Uint8Array>) => context.content.keep(source);
  const stdout = new CapturedOutput(options.inlineBytes, keep);
  const stderr = new CapturedOutput(options.inlineBytes, keep);
  // Our own reason to stop: nothing can take the output any more.
  const stop = new AbortController();
  const guard = async (writing: void | Promise<void>): Promise<void> => {
    try {
      await writing;
    } catch (error) {
      stop.abort(error);
    }
  };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() } as const;
  const report = (kind: keyof typeof decoders, chunk: Uint8Array): void => {
    const text = decoders[kind].decode(chunk, { stream: true });
    if (text !== '') context.reportProgress({ kind, text });
  };
  const network = new NetworkLog();
  try {
    const end = await startOnceMore(program, context, {
      signal: AbortSignal.any([context.signal, stop.signal]),
      ...(options.warmKey === undefined ? {} : { warmKey: options.warmKey }),
      ...(options.preparedKey === undefined ? {} : { preparedKey: options.preparedKey }),
      onStdout: (chunk) => {
        if (options.reportsStdout === true) report('stdout', chunk);
        return guard(stdout.write(chunk));
      },
      onStderr: (chunk) => {
        report('stderr', chunk);
        return guard(stderr.write(chunk));
      },
      onNetwork: (events) => {
        network.add(...events);
        context.noteNetwork(events);
      },
    });
    if (options.isLooking !== true) context.noteEffect();
    context.countUsage(end.usage);
    if (stop.signal.aborted) throw stop.signal.reason;
    const { how } = end;
    if (how.kind === 'limit') throw failureOfLimit(how.limit, program.limits);
    if (how.kind === 'disk-nearly-full') throw failureOfSpace();
    if (how.kind === 'aborted') throw reasonOf(context.signal);
    if (how.kind === 'misanswered') throw new ToolFailure('INVALID_RESULT', misanswered);
    // An answer is what exit code 0 stands for.
    const ending = how.kind === 'answered' ? ({ kind: 'exited', code: 0 } as const) : how;
    const output = { how: ending, stdout: await stdout.finish(), stderr: await stderr.finish(), network };
    const hint = options.isLooking === true ? undefined : hintAtUser(program, output);
    if (hint !== undefined) context.warn(hint);
    return output;
  } catch (error) {
    await Promise.all([stdout.discard(), stderr.discard()]);
    if (error instanceof ProgramNotStarted) throw explainNotStarted(error);
    if (options.isLooking !== true) context.noteEffect();
    if (error instanceof ProgramLost) throw new ToolFailure(error.code, error.message);
    throw error;
  }
}

/** What certainly did not start may be tried again without a doubt. */
async function startOnceMore(program: Program, context: ToolContext, options: RunOptions): Promise<ProgramEnd> {
  try {
    return await context.programs.run(program, options);
  } catch (error) {
    if (!(error instanceof ProgramNotStarted && error.isTransient) || options.signal.aborted) throw error;
    return context.programs.run(program, options);
  }
}

function explainNotStarted({ code, message, remedy, cause }: ProgramNotStarted): Error {
  if (code === 'EXECUTION_ERROR')
    return new ToolFailure(code, message, { cause, ...(remedy === undefined ? {} : { forOperators: remedy }) });
  if (code === 'FOLDER_BUSY') return new ToolRefused(refuse(code, 'sandbox', message, whenBusy));
  return new ToolRefused(refuse(code, 'sandbox', message, remedy === undefined ? {} : { forOperators: remedy }));
}

const whenBusy = {
  remedy: 'Send the call again when the other program has ended.',
  forOperators:
    'Nothing has run. `sallyport call list` shows the calls that run, and `sallyport upstream list` the servers; a server ' +
    'makes way as soon as no call uses it. Then send the call again.',
} as const;

const misanswered =
  'The tool began to answer, and what it wrote is not one answer: too little, too much or not its own.';

const limitFailures = {
  cpuMs: ['CPU_LIMIT', (most) => `The program used its ${most} ms of CPU time.`],
  memoryBytes: ['MEMORY_LIMIT', (most) => `The program used its ${spellBytes(most)} of memory.`],
  processes: ['PROCESS_LIMIT', (most) => `The program wanted more than ${most} processes.`],
  openFiles: ['EXECUTION_ERROR', (most) => `The program wanted more than ${most} open files.`],
  fileBytes: ['FILE_SIZE_LIMIT', (most) => `The program wrote a file of more than ${spellBytes(most)}.`],
  diskBytes: ['DISK_LIMIT', (most) => `The program wrote more than ${spellBytes(most)} to disk.`],
  outputBytes: ['OUTPUT_LIMIT', (most) => `The program wrote more than ${spellBytes(most)} of output.`],
} as const satisfies Record<keyof ProgramLimits, readonly [string, (most: number) => string]>;

function failureOfLimit(limit: keyof ProgramLimits, limits: ProgramLimits): ToolFailure {
  const [code, describe] = limitFailures[limit];
  return new ToolFailure(code, describe(limits[limit]), { forOperators: 'A rule can grant more with limits.' });
}

function failureOfSpace(): ToolFailure {
  return new ToolFailure('DISK_LIMIT', 'The program was ended because the disk that it wrote to is nearly full.', {
    forOperators: 'Free some space on the disk that holds the folders it may change.',
  });
}

function reasonOf(signal: AbortSignal): ToolFailure {
  return signal.reason instanceof ToolFailure ? signal.reason : new ToolFailure('CANCELLED', 'The call was cancelled.');
}
