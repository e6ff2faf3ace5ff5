import { joinWords } from '../../policy/patterns/shell-words.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { PathClaim } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { listCommands, mapCommands } from './command-line.ts';
import type { CommandLine, Redirection, SimpleCommand } from './command-line.ts';
import { maxCommandBytes, parseCommand } from './parse-command.ts';
import { resolveProgram } from './resolve-program.ts';
import type { ResolvedProgram } from './resolve-program.ts';
import { writeScript } from './write-script.ts';

/** What a call of the shell tool would run, with every program and file found. */
export interface ShellCommand {
  /** Each program with its words, as rules see it. */
  readonly commands: readonly string[];
  /** Programs and files that the rules must allow as paths. */
  readonly paths: readonly PathClaim[];
  /** What is started. A single program is started by itself; more of them by `/bin/sh`, from words that are all quoted. */
  readonly argv: readonly [string, ...string[]];
  /** For people. */
  readonly text: string;
}

interface ResolvedCommand extends SimpleCommand {
  readonly program: ResolvedProgram;
}

/** Works out what would run. Throws ToolRefused for what cannot be known. */
export function planCommand(
  { argv, command }: { readonly argv?: readonly string[]; readonly command?: string },
  workingDirectory: string,
): ShellCommand {
  if ((argv === undefined) === (command === undefined)) throw invalid('Give either argv or command.');
  const line = mapCommands(command === undefined ? lineOf(argv ?? []) : parseCommand(command), (each) =>
    resolveCommand(each, workingDirectory),
  );
  const commands = listCommands(line);
  const shown = commands.map(({ program, words }) => joinWords([program.name, ...words.slice(1)]));
  return {
    commands: shown,
    paths: commands.flatMap(claimPaths),
    argv: argvOf(line),
    text: command ?? shown.join(''),
  };
}

function lineOf([program = '', ...rest]: readonly string[]): CommandLine {
  if (program === '') throw invalid('argv names no program.');
  if ([program, ...rest].some((word) => word.includes('\0') || !word.isWellFormed())) {
    throw invalid('argv holds a NUL or half of a surrogate pair.');
  }
  return { pipelines: [{ after: ';', commands: [{ words: [program, ...rest], redirections: [] }] }] };
}

function resolveCommand({ words, redirections }: SimpleCommand, workingDirectory: string): ResolvedCommand {
  const [word, ...rest] = words;
  const program = resolveProgram(word, workingDirectory);
  return {
    program,
    words: [program.path, ...rest],
    redirections: redirections.map((each) =>
      each.kind === 'merge' ? each : { ...each, target: parsePath(each.target, workingDirectory).path },
    ),
  };
}

function claimPaths({ program, redirections }: ResolvedCommand): readonly PathClaim[] {
  const files = redirections.flatMap(claimRedirection);
  return program.isForeign ? [{ path: program.path, access: 'read' }, ...files] : files;
}

/** The sandbox has a /dev/null of its own. */
function claimRedirection(redirection: Redirection): readonly PathClaim[] {
  if (redirection.kind === 'merge' || redirection.target === '/dev/null') return [];
  return [{ path: redirection.target, access: redirection.kind === 'from-file' ? 'read' : 'write' }];
}

function argvOf(line: CommandLine): readonly [string, ...string[]] {
  const [only, ...more] = listCommands(line);
  if (only !== undefined && more.length === 0 && only.redirections.length === 0) return only.words;
  const script = writeScript(line);
  if (Buffer.byteLength(script) > maxCommandBytes * 1.3) throw invalid('The command is too long.');
  return ['/bin/sh', '-c', script];
}

function invalid(message: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'command-syntax', message));
}
