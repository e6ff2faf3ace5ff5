import type { Json, JsonObject } from '@sallyport/contract';
import {
  canonicalJson,
  isJsonObject,
  makeVisible,
  parseStrictJson,
  spellBytes,
  StrictJsonError,
} from '@sallyport/contract';
import { redactEnd } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, Effect, Resources, ToolContext, ToolDefinition } from '../../call/tool.ts';
import { findPaths } from '../../registry/schemas/find-paths.ts';
import type { PlacedProgram } from '../place-program.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { attendTo } from './attend-to.ts';
import { buildProgram, writeArguments } from './build-program.ts';
import type { BuiltProgram } from './build-program.ts';
import { describeLimits } from './describe-limits.ts';
import { viewFor } from './mounts-for.ts';
import { runProgram } from './run-program.ts';
import type { CapturedText, ProgramOutput, ProgramRunOptions } from './run-program.ts';

/** How a tool that is a program comes by its command line, its input and its result. */
export interface ProgramTool {
  readonly definition: ToolDefinition;
  /** Throws ToolRefused when the program is not there as it was accepted. */
  readonly openProgram: () => Promise<PlacedProgram>;
  /** Programs may be started ahead and wait for their input. Absent: each is started when it is needed. */
  readonly isWarm?: boolean;
  /** Absent: none. */
  readonly writeArgs?: (args: JsonObject) => readonly string[];
  /** Absent: the arguments as JSON on standard input. */
  readonly writeInput?: (args: JsonObject) => Uint8Array;
  /** Absent: standard output is JSON. */
  readonly readResult?: (stdout: CapturedText) => Json;
  /** The command that the rules judge. Absent: none is named. */
  readonly describeCommand?: (args: JsonObject) => string;
}

const inlineBytes = 8 * 1024 * 1024;
const tailCharacters = 2000;
const uncertainBytes = 512 * 1024;

/** A tool whose every call is one new process. */
export function programTool(program: ProgramTool): AnyTool {
  const { definition, openProgram, writeArgs, describeCommand } = program;
  const { writeInput = writeArguments, readResult = readJson } = program;
  return {
    definition,
    claim: (args, session) => claimResources(definition, args, session, describeCommand),
    preview: async (args, context) => {
      // What cannot be hidden from the program is refused before anybody is asked about the call.
      if (context.grants.isolation === 'sandbox') await viewFor(context);
      return previewRun(definition, args, context);
    },
    run: async (args, context) => {
      const placed = await openProgram();
      const given = { args: writeArgs?.(args) ?? [], stdin: writeInput(args) };
      const built = await buildProgram(placed, given, context);
      const keys = keyFor(program, built, context);
      const toRun = keys.warmKey === undefined ? built.program : { ...built.program, mayAnswer: true };
      const { value: output } = await attendTo(built, context, () =>
        runProgram(toRun, context, { inlineBytes, ...keys }),
      );
      checkEnd(definition.name, output, context.redact);
      return readResult(output.stdout);
    },
    summarize: (_args, output) =>
      isJsonObject(output) ? `${Object.keys(output).length} fields` : `one ${typeof output}`,
  };
}

/** Under which key the next call of the tool may find its program started, or at least its sandbox built. */
function keyFor(
  { definition, isWarm = false, writeArgs }: ProgramTool,
  { canBeAhead }: BuiltProgram,
  { policyKey }: ToolContext,
): Pick<ProgramRunOptions, 'warmKey' | 'preparedKey'> {
  // With arguments on its command line, the next call is another program.
  if (!canBeAhead || writeArgs !== undefined) return {};
  const key = `${definition.name}@${definition.version} ${policyKey}`;
  return isWarm ? { warmKey: key } : { preparedKey: key };
}

/** What the arguments name is judged; what the rules grant besides is theirs to know. */
function claimResources(
  { inputSchema }: ToolDefinition,
  args: JsonObject,
  session: Session,
  describeCommand: ProgramTool['describeCommand'],
): Resources {
  const paths = findPaths(inputSchema, args).map(({ given, access }) => ({
    path: parsePath(given, session.workingDirectory).path,
    access,
  }));
  return { paths, ...(describeCommand === undefined ? {} : { commands: [describeCommand(args)] }) };
}

function previewRun({ name, version, timeoutMs }: ToolDefinition, args: JsonObject, { grants }: ToolContext): Effect {
  const lines = [
    `arguments: ${canonicalJson(args)}`,
    ...grants.read.map((path) => `may read: ${path}`),
    ...grants.write.map((path) => `may change: ${path}`),
    ...grants.hosts.map((host) => `may reach: ${host}`),
    ...grants.secrets.map((secret) => `gets the secret: ${secret.name}`),
    ...(grants.unixSockets ? ['may use unix sockets: also those of other programs, in the folders it sees'] : []),
    ...(grants.isolation === 'none' ? ['WITHOUT a sandbox: it can do whatever the daemon can'] : []),
    `at most: ${describeLimits(grants.limits, timeoutMs)}`,
    'What it will do with that is not known beforehand.',
  ];
  const detail = lines.map((line) => `${makeVisible(line)}\n`).join('');
  return { summary: `Run ${name} ${version}.`, detail, undoable: false };
}

/** Throws ToolFailure unless the program ended with code 0. */
function checkEnd(name: string, { how, stderr, network }: ProgramOutput, redact: RedactText): void {
  if (how.kind === 'exited' && how.code === 0) return;
  const ending = how.kind === 'exited' ? `failed with exit code ${how.code}` : `was ended by ${how.signal}`;
  // What was not captured may begin in the middle of a secret.
  const captured = stderr.truncated ? stderr.bytes.subarray(0, -uncertainBytes) : stderr.bytes;
  const tail = makeVisible(redactEnd(new TextDecoder().decode(captured).trim(), tailCharacters, redact));
  const refusedHosts = network.targetsOf('refused');
  const hosts = refusedHosts.length === 0 ? '' : ` Sallyport refused to connect it to ${refusedHosts.join(', ')}.`;
  throw new ToolFailure('EXECUTION_ERROR', `${name} ${ending}${tail === '' ? '.' : `: ${tail}`}${hosts}`);
}

/** Nothing at all is an empty object. Throws ToolFailure. */
export function readJson(stdout: CapturedText): Json {
  const text = readText(stdout);
  if (text.trim() === '') return {};
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new ToolFailure('INVALID_RESULT', `What the tool printed is not acceptable JSON: ${error.message}.`);
  }
}

/** All of it, or ToolFailure. */
export function readText({ bytes, truncated, totalBytes, contentHash }: CapturedText): string {
  if (truncated) {
    const message = `The tool printed ${spellBytes(totalBytes)}, and a result has at most ${spellBytes(inlineBytes)}.`;
    throw new ToolFailure('TOO_LARGE', `${message} All of it is kept as content ${contentHash ?? ''}.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolFailure('INVALID_RESULT', 'What the tool printed is not UTF-8.');
  }
}

export function refuseMissing(name: string, reason: string): ToolRefused {
  return new ToolRefused(
    refuse('TOOL_MISSING', 'registry', `${name} cannot run: ${reason}.`, {
      forOperators: 'Install and accept it again.',
    }),
  );
}
