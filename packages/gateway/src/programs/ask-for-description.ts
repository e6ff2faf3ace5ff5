import { makeVisible, parseStrictJson, spellBytes, StrictJsonError } from '@sallyport/contract';
import { ProgramNotStarted } from '@sallyport/sandbox';
import type { ProgramEnd, ProgramLimits, ProgramRunner } from '@sallyport/sandbox';
import type { Answer } from './description-cache.ts';
import { modeVariables } from './place-program.ts';
import type { PlacedProgram } from './place-program.ts';

/** For a reason that is not its own, a program was not asked, or nobody heard its answer. It can be asked again. */
export type NoAnswer =
  | { readonly kind: 'not-started'; readonly reason: string }
  | { readonly kind: 'lost'; readonly reason: string }
  /** It is being asked. */
  | { readonly kind: 'asking' };

const mebibyte = 1024 * 1024;
const defaultPatienceMs = 5000;
const maxAnswerBytes = 512 * 1024;
const mostComplaintBytes = 16 * 1024;
const cannotStart = 'it does not start: its interpreter or a library is missing, or it is not a program';
const limits: ProgramLimits = {
  cpuMs: 5000,
  memoryBytes: 512 * mebibyte,
  processes: 32,
  openFiles: 128,
  fileBytes: 16 * mebibyte,
  diskBytes: 16 * mebibyte,
  outputBytes: mebibyte,
};

/**
 * Runs a program with `--schema`, in the sandbox, where it sees itself and the system and nothing else: nobody has
 * accepted it yet.
 */
export async function askForDescription(
  program: PlacedProgram,
  programs: ProgramRunner,
  { signal, patienceMs = defaultPatienceMs }: { readonly signal: AbortSignal; readonly patienceMs?: number },
): Promise<Answer | Exclude<NoAnswer, { readonly kind: 'asking' }>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const complaint: Uint8Array[] = [];
  let complaintLength = 0;
  const timeout = AbortSignal.timeout(patienceMs);
  let end: ProgramEnd;
  try {
    end = await programs.run(
      {
        argv: [program.file, '--schema'],
        environment: modeVariables,
        workingDirectory: '/tmp',
        stdin: new Uint8Array(),
        mounts: program.mounts,
        hosts: [],
        limits,
        isolation: 'sandbox',
      },
      {
        signal: AbortSignal.any([signal, timeout]),
        onStdout: (chunk) => {
          length += chunk.length;
          if (length <= maxAnswerBytes) chunks.push(chunk.slice());
        },
        onStderr: (chunk) => {
          complaintLength += chunk.length;
          if (complaintLength <= mostComplaintBytes) complaint.push(chunk.slice());
        },
      },
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    if (!(error instanceof ProgramNotStarted)) return { kind: 'lost', reason };
    const isItsOwnFault = !error.isTransient && isAboutTheFile(error);
    return isItsOwnFault
      ? { kind: 'broken', reason: withoutStop(reason), stderr: '' }
      : { kind: 'not-started', reason };
  }
  if (signal.aborted) return { kind: 'lost', reason: 'the daemon is stopping' };
  // Nothing was measured: it was still waiting for its turn.
  const hasRun = end.how.kind !== 'aborted' || end.usage.measuredBy !== undefined;
  if (!hasRun) return { kind: 'not-started', reason: 'too many programs are running' };
  // All of it or nothing: half a secret is one that nobody recognises any more.
  const stderr =
    complaintLength <= mostComplaintBytes
      ? makeVisible(new TextDecoder().decode(Buffer.concat(complaint)).trim())
      : `[${spellBytes(complaintLength)}, too many to show]`;
  if (timeout.aborted) return { kind: 'slow', reason: `it did not answer --schema within ${patienceMs} ms`, stderr };
  const failure = explainEnd(end.how, stderr);
  if (failure !== undefined) return failure;
  if (length > maxAnswerBytes)
    return { kind: 'unknown', reason: `its --schema is larger than ${spellBytes(maxAnswerBytes)}`, stderr };
  return readAnswer(Buffer.concat(chunks), stderr);
}

/** Reasons are parts of sentences. */
function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function isAboutTheFile({ code }: ProgramNotStarted): boolean {
  return code === 'TOOL_MISSING' || code === 'EXECUTION_ERROR';
}

function explainEnd(how: ProgramEnd['how'], stderr: string): Answer | undefined {
  const unknown = (ending: string): Answer => ({ kind: 'unknown', reason: `its --schema ended ${ending}`, stderr });
  switch (how.kind) {
    case 'exited':
      if (how.code === 0) return undefined;
      // What a shell says when there is no such file, or none that can be started.
      if (how.code === 126 || how.code === 127) return { kind: 'broken', reason: cannotStart, stderr };
      return unknown(`with exit code ${how.code}`);
    case 'killed':
      return unknown(`by ${how.signal}`);
    case 'limit':
      return unknown(`at its limit of ${how.limit}`);
    case 'disk-nearly-full':
      return unknown('because the disk is nearly full');
    case 'aborted':
      return unknown('before its time');
    // Only calls are answered in a frame.
    case 'answered':
    case 'misanswered':
      return unknown('with the answer of a call');
  }
}

function readAnswer(bytes: Buffer, stderr: string): Answer {
  if (bytes.length === 0) return { kind: 'unknown', reason: 'its --schema printed nothing', stderr };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { kind: 'described', printed: parseStrictJson(text) };
  } catch (error) {
    const why = error instanceof StrictJsonError ? error.message : 'not UTF-8';
    return { kind: 'unknown', reason: `its --schema printed no acceptable JSON: ${why}`, stderr };
  }
}
