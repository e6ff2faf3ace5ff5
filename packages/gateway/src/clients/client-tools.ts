import { homedir } from 'node:os';
import { makeVisibleLine } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { clientCommandCategory } from '../call/client-run.ts';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool, ToolContext } from '../call/tool.ts';
import { fileTools } from '../catalogue/files/index.ts';
import { isName } from '../catalogue/shell/reading/find-tree.ts';
import { readScript } from '../catalogue/shell/reading/read-script.ts';
import type { Doubt } from '../catalogue/shell/reading/reading.ts';
import { runCommand, shellRun } from '../catalogue/shell/shell-run.ts';
import { describeLimits } from '../programs/run/describe-limits.ts';
import { parsePath } from '../paths/parse-path.ts';
import { checkTrees } from './check-trees.ts';
import { clientEdit, clientTool } from './client-tool.ts';
import { runByClient } from './run-by-client.ts';
import * as schema from '../registry/schemas/schema.ts';

/** The tools that clients run by themselves and that the gate judges, by their canonical names. */
export function clientTools(): readonly AnyTool[] {
  return [
    runByClient(shellRun, commandForm),
    ...fileTools().map((tool) => runByClient(tool, tool.definition.name === 'files.search' ? searchForm : {})),
    clientEdit(),
    clientTool(),
  ];
}

/** Searches of clients look into hidden files too, but not into what git keeps; some pass over what it ignores. */
const searchForm = {
  check: async (args: JsonObject, context: ToolContext): Promise<void> => {
    const { path, name, content } = args as { path: string; name?: string; content?: string };
    if (content === undefined) return;
    const only = name !== undefined && isName(name) ? [name] : [];
    const filter = { only, without: [], withoutFolders: versionFolders, skipsHidden: false, followsLinks: false };
    const folder = parsePath(path, context.workingDirectory).path;
    const skipsIgnored = usingRipgrep.has(context.clientRun?.client ?? '');
    await checkTrees([{ ...filter, path: folder, skipsIgnored }], context);
  },
};
const usingRipgrep = new Set(['claude-code', 'opencode', 'cursor']);
const versionFolders = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];

interface CommandArguments {
  readonly command: string;
  readonly cwd?: string;
  /** As the hook of the client says. Absent: that of the user of the gate. */
  readonly home?: string;
}

const commandForm = {
  category: clientCommandCategory,
  description: 'A command that a coding agent runs in its own shell, outside of the sandbox.',
  inputSchema: schema.object(
    {
      command: schema.string('As the shell gets it.', { minLength: 1, maxLength: 1_048_576 }),
      cwd: schema.path('The folder in which it runs.'),
      home: schema.path('The home folder of the user who runs it.'),
    },
    { optional: ['cwd', 'home'] },
  ),
  claim: ((args, session) => {
    const { cwd, commands, paths, doubts } = read(args, session.workingDirectory);
    return {
      paths: [{ path: cwd, access: 'read' }, ...paths],
      commands,
      ...(doubts.length === 0 ? {} : { unknown: doubts.map(spell) }),
    };
  }) satisfies AnyTool['claim'],
  check: async (args: JsonObject, context: ToolContext): Promise<void> => {
    await checkTrees(read(args, context.workingDirectory).trees, context);
  },
  preview: ((args, context) => {
    const { command, cwd, commands, paths, hosts, doubts } = read(args, context.workingDirectory);
    const lines = [
      ...command.split('\n').map((line, index) => `${index === 0 ? 'command:' : '        '} ${line}`),
      `in: ${cwd}`,
      ...commands.map((each) => `runs: ${each}`),
      ...paths.map(({ path, access }) => `${access === 'read' ? 'reads' : 'changes'}: ${path}`),
      ...hosts.map((host) => `reaches: ${host}`),
      ...doubts.map((doubt) => `not known: ${spell(doubt)}`),
      ...(context.rewrite === true ? describeSandbox(context) : [outside]),
    ];
    return Promise.resolve({
      summary: makeVisibleLine(`Run ${command}`),
      detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join(''),
      undoable: false,
    });
  }) satisfies AnyTool['preview'],
  runInSandbox: (async (args, context) => {
    const { command, cwd } = read(args, context.workingDirectory);
    const { isolation, hosts } = context.grants;
    if (isolation === 'none') throw new ToolRefused(refuse('SANDBOX_UNAVAILABLE', 'rewrite', withoutSandbox));
    const given = {
      argv: ['/bin/bash', '-c', command] as const,
      cwd,
      env: {},
      stdin: '',
      timeout_ms: longestMs,
      hosts,
    };
    return runCommand(given, cwd, context, { reportsStdout: true });
  }) satisfies AnyTool['run'],
};

const longestMs = 3_600_000;
const outside = 'It runs in the shell of the client, outside of the sandbox, and can do whatever the client can.';
const withoutSandbox = 'The command belongs in the sandbox, but a rule turns the sandbox off.';

function describeSandbox({ grants: { read: readable, write, hosts, limits } }: ToolContext): readonly string[] {
  return [
    ...readable.map((path) => `may read: ${path}`),
    ...write.map((path) => `may change: ${path}`),
    ...hosts.map((host) => `may reach: ${host}`),
    `at most: ${describeLimits(limits, longestMs)}`,
    'It runs in the sandbox of the gate, instead of the shell of the client.',
  ];
}

/**
 * What the command does, no matter who runs it. The gate does not know whose shell it is: what a hook says about that home can be
 * wrong, so a command is read with both homes, and what either reading finds is judged.
 */
function read(args: JsonObject, workingDirectory: string) {
  const { command, cwd: given = '.', home } = args as unknown as CommandArguments;
  const cwd = parsePath(given, workingDirectory).path;
  const homes = [...new Set([homedir(), ...(home === undefined ? [] : [parsePath(home, cwd).path])])];
  const readings = homes.map((each) => readScript(command, { cwd, home: each }));
  return {
    ...{ command, cwd },
    commands: distinct(readings.flatMap(({ commands }) => commands)),
    paths: distinct(readings.flatMap(({ paths }) => paths)),
    trees: distinct(readings.flatMap(({ trees }) => trees)),
    hosts: distinct(readings.flatMap(({ hosts }) => hosts)),
    doubts: distinct(readings.flatMap(({ doubts }) => doubts)),
  };
}

function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

const words: Readonly<Record<Doubt['kind'], string>> = {
  program: 'which program runs',
  code: 'what this code does',
  word: 'what this becomes',
  pattern: 'which files this matches',
  option: 'what this option does',
  folder: 'in which folder this is',
  environment: 'what this setting changes',
  syntax: 'what this means',
};

function spell({ kind, text }: Doubt): string {
  return `${words[kind]}: ${text}`;
}
