import { writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { describeUsage } from './describe-usage.ts';
import type { JsonObject } from './json.ts';
import { InvalidInput, runTool } from './run-tool.ts';
import { object, string } from './schema.ts';
import { preparedInput, standardInput } from './standard-input.ts';
import { defineTool, ToolError } from './tool.ts';
import type { Tool, ToolSpec } from './tool.ts';
import { dropStartPages } from './travel-light.ts';

/** How a tool ends. Every code but 0 comes with a reason on stderr. */
export const toolExitCodes = {
  success: 0,
  /** An error that nobody expected, or an output that breaks the tool's own schema. Node uses it for crashes, too. */
  defect: 1,
  /** The input or the command line is not what the tool takes. */
  usage: 2,
  /** The tool threw a ToolError. */
  failure: 3,
} as const;

const answerVariable = 'SALLYPORT_ANSWER';

export interface ToolProcess {
  /** Without the program and its file. */
  readonly args: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  readonly writeOutput: (text: string) => Promise<void>;
  /** From the gate: with this before its answer, the answer counts before the tool ends. Absent: not given. */
  readonly answerSign?: string;
  readonly writeError: (text: string) => Promise<void>;
}

/**
 * Makes this process the tool: answers `--schema` and `--help`, otherwise reads one call from stdin, prints its answer
 * and ends the process, whatever the tool left running. From here on, what anything else prints to stdout goes to
 * stderr.
 */
export function serveTool<const Input extends JsonObject, const Output extends JsonObject = JsonObject>(
  tool: ToolSpec<Input, Output> | Tool<Input, Output>,
): void {
  const defined = 'spec' in tool ? tool : defineTool(tool);
  const streams = { writeOutput: writer(process.stdout), writeError: writer(process.stderr) };
  const { [answerVariable]: answerSign } = process.env;
  // Meant for this process, not for what it starts.
  delete process.env[answerVariable];
  process.stdout.write = process.stderr.write.bind(process.stderr);
  process.on('exit', complainAboutSilence);
  const crash = (defect: unknown): void => {
    streams.writeError(describeDefect(defect)).then(endDefective, endDefective);
  };
  process.on('uncaughtException', crash);
  void answerProcess(defined, {
    args: process.argv.slice(2),
    stdin: answerSign ? preparedInput(() => rehearse(streams.writeOutput)) : standardInput,
    ...streams,
    ...(answerSign && { answerSign }),
  }).then(end, crash);
}

const rehearsal = defineTool({
  name: 'rehearsal',
  version: '1.0.0',
  description: 'Answers what it is asked.',
  input: object({ text: string() }),
  output: object({ text: string() }),
  run: ({ text }) => ({ text }),
});

/**
 * While nobody waits yet, goes through all that happens between input and answer: once to compile it, and once more to
 * have in memory what that takes and nothing else. Nothing is written.
 */
async function rehearse(writeOutput: ToolProcess['writeOutput']): Promise<void> {
  const answer = (): Promise<number> =>
    answerProcess(rehearsal, {
      args: [],
      stdin: rehearsedInput(),
      writeOutput: () => writeOutput(''),
      writeError: () => Promise.resolve(),
      answerSign: '-',
    });
  await answer();
  dropStartPages();
  await answer();
}

async function* rehearsedInput(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"text":"…"}');
}

function end(exitCode: number): never {
  process.off('exit', complainAboutSilence);
  process.exit(exitCode);
}

function endDefective(): never {
  end(toolExitCodes.defect);
}

// Nothing on stdout and exit code 0 would count as success.
function complainAboutSilence(): void {
  writeSync(process.stderr.fd, 'The tool ended without an answer.\n');
  process.exitCode = toolExitCodes.defect;
}

/** The whole run of a tool's process. Resolves with its exit code; rejects only when nobody reads what it writes. */
export async function answerProcess<Input extends JsonObject, Output extends JsonObject>(
  tool: Tool<Input, Output>,
  { args, stdin, writeOutput, writeError, answerSign }: ToolProcess,
): Promise<number> {
  const [option, ...more] = args;
  if (option === '--schema' && more.length === 0) {
    await writeOutput(`${JSON.stringify(tool.schema)}\n`);
    return toolExitCodes.success;
  }
  if (option === '--help' && more.length === 0) {
    await writeOutput(describeUsage(tool.spec));
    return toolExitCodes.success;
  }
  if (option !== undefined) {
    await writeError(`${tool.spec.name} does not know ${args.join(' ')}.\n\n${describeUsage(tool.spec)}`);
    return toolExitCodes.usage;
  }
  if (stdin.isTTY === true) {
    await writeError(`${tool.spec.name} waits for JSON on standard input.\n\n${describeUsage(tool.spec)}`);
    return toolExitCodes.usage;
  }
  try {
    await writeOutput(frameAnswer(`${await runTool(tool, await readText(stdin))}\n`, answerSign));
    return toolExitCodes.success;
  } catch (error) {
    await writeError(describeFailure(error));
    return exitCodeOf(error);
  }
}

/** In one piece, because the reader acts as soon as the answer is complete. */
function frameAnswer(answer: string, sign: string | undefined): string {
  return sign === undefined ? answer : `\u001e${sign} ${Buffer.byteLength(answer)}\n${answer}`;
}

async function readText(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new InvalidInput('The input is not UTF-8.', { cause: error });
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ToolError) return toolExitCodes.failure;
  return error instanceof InvalidInput ? toolExitCodes.usage : toolExitCodes.defect;
}

function describeFailure(error: unknown): string {
  const isExpected = error instanceof ToolError || error instanceof InvalidInput;
  return isExpected ? `${error.message}\n` : describeDefect(error);
}

function describeDefect(error: unknown): string {
  return `Unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

/** Resolves when the other side has what was written, so that the process may end. */
function writer(stream: Writable): (text: string) => Promise<void> {
  const write = stream.write.bind(stream);
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error) => (error ? reject(error) : resolve()));
    });
}
