import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { attempt, makeVisibleLine } from '@sallyport/contract';
import { defaultProgramLimits, isWithin, runtimeFolder } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { Effect, PathClaim, Resources, ToolContext } from '../../call/tool.ts';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { joinWords } from '../../policy/patterns/shell-words.ts';
import { describeLimits } from '../../programs/run/describe-limits.ts';
import { failureFrom } from '../files/failure-from.ts';
import { planCommand } from '../shell/shell-command.ts';
import { findProject } from './find-project.ts';
import type { Project } from './find-project.ts';
import { runReadOnly } from './run-read-only.ts';
import type { ReadOnlyRun } from './run-read-only.ts';

/** A command of the project that was found, and where it runs. */
export interface ProjectCommand<Name extends string = string> {
  readonly name: Name;
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
}

const maxReportBytes = 16 * 1024 * 1024;

/**
 * What a call would touch, from its arguments. The files of the project, which name the command, are looked at only in the
 * workspace: elsewhere the rules decide about the folder first, so that nobody learns from an answer what is there.
 */
export function claimProject(given: string, session: Session, find: (project: Project) => ProjectCommand): Resources {
  const { path } = parsePath(given, session.workingDirectory);
  const top = session.workspace ?? session.workingDirectory;
  const folder: PathClaim = { path, access: 'read' };
  if (!isPlainlyWithin(top, path)) return { paths: [folder] };
  const command = findQuietly(() => find(findProject(path, top)));
  if (command === undefined) return { paths: [folder] };
  const { argv } = command;
  const [program, ...rest] = argv;
  // The gate's own Node is part of the sandbox.
  if (isWithin(runtimeFolder, program)) {
    return { paths: [folder], commands: [joinWords([basename(program), ...rest])] };
  }
  const { commands, paths } = planCommand({ argv }, path);
  return { paths: [folder, ...paths], commands };
}

/** What is refused is refused again when the call runs, after the rules have decided about the folder. */
function findQuietly(find: () => ProjectCommand): ProjectCommand | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof ToolRefused) return undefined;
    throw error;
  }
}

/** Without a link on the way. */
function isPlainlyWithin(top: string, path: string): boolean {
  return attempt(() => isWithin(top, path) && realpathSync.native(path) === path) ?? false;
}

/** The same command for a call that runs or is shown, in the folder as the rules judge it when it is open. */
export function findCommand<Command extends ProjectCommand>(
  given: string,
  context: ToolContext,
  find: (project: Project) => Command,
): Command {
  try {
    using folder = openFolder(parsePath(given, context.workingDirectory), context);
    return find(findProject(folder.realPath, context.session.workspace ?? context.workingDirectory));
  } catch (error) {
    throw failureFrom(error, given);
  }
}

export function showCommand({ argv, folder }: ProjectCommand, { grants }: ToolContext, timeoutMs: number): Effect {
  const lines = [
    `runs: ${joinWords(argv)}`,
    `in: ${folder}`,
    ...[...grants.read, ...grants.write].map((path) => `may read: ${path}`),
    `at most: ${describeLimits({ ...defaultProgramLimits, ...grants.limits }, timeoutMs)}`,
    'It can change nothing: its folders are read-only, and it has no network.',
  ];
  return {
    summary: makeVisibleLine(`Run ${joinWords(argv)}`),
    detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join(''),
    undoable: false,
  };
}

/** In the sandbox, as for shell.run, because it runs code of the project; but it can change nothing of it. */
export function runCommand(
  { argv, folder }: ProjectCommand,
  context: ToolContext,
  {
    timeoutMs,
    environment = {},
  }: { readonly timeoutMs: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<ReadOnlyRun> {
  const { grants } = context;
  const folders = [...grants.read, ...grants.write];
  if (!folders.some((path) => isWithin(path, folder))) {
    throw new ToolRefused(
      refuse('NO_RULE_ALLOWS', 'cwd', 'The rules do not let the program see this folder.', {
        forOperators: 'Grant the folder under read in the rule.',
      }),
    );
  }
  const quiet = { CI: '1', NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1', XDG_CACHE_HOME: '/tmp' };
  const program = { argv, folders, workingDirectory: folder, outputBytes: maxReportBytes, timeoutMs };
  return runReadOnly({ ...program, environment: { ...quiet, ...grants.environment, ...environment } }, context);
}

/** For a project without what was asked for. */
export function noneFound(what: string, known: readonly string[]): ToolRefused {
  return new ToolRefused(
    refuse('INVALID_ARGUMENTS', 'project', `The folder has no ${what} that the gate knows: ${known.join(', ')}.`, {
      remedy: `Name the folder of the project in path. If that is the folder, the ${what} of the project is not installed there.`,
    }),
  );
}
