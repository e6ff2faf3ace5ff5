import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { describeLimits } from '../../programs/run/describe-limits.ts';
import { joinWords } from '../../policy/patterns/shell-words.ts';
import { modes, modesOutsideLockdown } from '../../call/session.ts';
import { changeContext } from '../../call/tool.ts';
import type { AnyTool, PathClaim, ToolContext } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { failureFrom } from '../files/failure-from.ts';
import { outputSchema, withheldProperties } from '../shell/present-output.ts';
import type { PresentedOutput } from '../shell/present-output.ts';
import { cloneRepository, cloneTarget, showClone } from './clone-repository.ts';
import { parseGitArguments, refuseArguments } from './git-arguments.ts';
import type { GitArguments } from './git-arguments.ts';
import type { GitOperation } from './git-operation.ts';
import { hideUserinfo, hostOf } from './resolve-remote.ts';
import { runOperation, showOperation } from './run-operation.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface GitToolArguments {
  readonly args: readonly string[];
  readonly cwd?: string;
}

/** An operation of git as a tool of its own, so that rules and leases can tell it from the others. */
export function defineGitTool(operation: GitOperation): AnyTool {
  const { name, description, risk, mutates, timeoutMs } = operation;
  const command = name.toLowerCase();
  const inFolder = (args: JsonObject, context: ToolContext): ToolContext =>
    changeContext(context, { workingDirectory: folderOf(args, context.workingDirectory) });
  return {
    definition: {
      name: `git.${command}`,
      aliases: [`git_${command}`],
      version: '1.0.0',
      description: `${description} Arguments as for git ${command}; an exit code other than 0 is a result.`,
      tags: ['git', mutates ? 'write' : 'read'],
      category: mutates ? 'system_write' : 'read_only',
      inputSchema: schema.object(
        {
          args: schema.array(
            `Options, revisions and paths. Put paths after "--". ${describeOptions(operation)}`,
            { type: 'string', maxLength: 32_768 },
            { maxItems: 1000, default: [] },
          ),
          cwd: schema.path('A folder of the repository.'),
        },
        { optional: ['cwd'] },
      ),
      outputSchema: outputSchema({
        omitted: schema.integer('How many files the rules keep back. Absent: none.', { minimum: 1 }),
        ...(mutates ? withheldProperties : {}),
      }),
      risk,
      confirmation: mutates ? 'if_destructive' : 'never',
      mutates,
      scopes: operation.remote === undefined ? ['paths'] : ['paths', 'network'],
      allowedModes: mutates ? modesOutsideLockdown : modes,
      requiresApproval: false,
      requiresSandbox: true,
      timeoutMs,
      idempotent: !mutates,
      audience: 'everyone',
      pathArguments: ['cwd'],
      examples: [{ args: operation.example }],
      ...(mutates && name !== 'PUSH' && name !== 'CLONE'
        ? { undo: 'The gate keeps what the repository and the files were before.' }
        : {}),
    },
    claim: (args, session) => {
      const folder = folderOf(args, session.workingDirectory);
      const parsed = parse(operation, args);
      const host = operation.remote === undefined ? undefined : hostOf(parsed.before[0] ?? '');
      return {
        paths: claimPaths(operation, parsed, folder),
        ...(host === undefined ? {} : { hosts: [host] }),
        gitOperation: name,
      };
    },
    preview: async (args, context) => {
      const parsed = parse(operation, args);
      const folder = folderOf(args, context.workingDirectory);
      const show = name === 'CLONE' ? showClone : showOperation;
      const shown = await showChanges(() => show(operation, parsed, inFolder(args, context)), folder);
      const { read, write, hosts } = context.grants;
      const lines = [
        `in: ${folder}`,
        ...claimPaths(operation, parsed, folder).map(({ path, access }) => `${access}s: ${path}`),
        ...(operation.remote === undefined ? [] : hosts.map((host) => `may reach: ${host}`)),
        ...[...read, ...write].map((path) => `granted: ${path}`),
        `at most: ${describeLimits(context.grants.limits, timeoutMs)}`,
        ...(shown?.lines ?? []),
      ];
      return {
        summary: makeVisibleLine(`git ${command} ${joinWords(given(args).args)}`.trimEnd()),
        detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join('') + (shown?.patch ?? ''),
        undoable: shown?.undoable ?? false,
        ...(shown?.unshown === undefined ? {} : { unshown: shown.unshown }),
        ...(shown === undefined ? {} : { basis: shown.basis }),
      };
    },
    run: async (args, context) => {
      const parsed = parse(operation, args);
      const run = name === 'CLONE' ? cloneRepository : runOperation;
      const output = await run(operation, parsed, inFolder(args, context));
      return { ...output, stdout: hideUserinfo(output.stdout), stderr: hideUserinfo(output.stderr) };
    },
    summarize: (_, output) => {
      const { exit_code: code, stdout, omitted } = output as PresentedOutput & { readonly omitted?: number };
      return `exit code ${code}, ${spellCount(stdout.length, 'character')} of output, ${spellCount(omitted ?? 0, 'file')} omitted`;
    },
  };
}

async function showChanges<Shown>(show: () => Promise<Shown>, folder: string): Promise<Shown> {
  try {
    return await show();
  } catch (error) {
    throw failureFrom(error, folder);
  }
}

/** The gate passes only arguments that fit the input schema. */
function given(args: JsonObject): GitToolArguments {
  return args as unknown as GitToolArguments;
}

function folderOf(args: JsonObject, workingDirectory: string): string {
  return parsePath(given(args).cwd ?? '.', workingDirectory).path;
}

function parse(operation: GitOperation, args: JsonObject): GitArguments {
  const { name, options, before, maxBefore = Infinity, takesPaths, check } = operation;
  const command = name.toLowerCase();
  const parsed = parseGitArguments(command, given(args).args, options);
  if (parsed.after !== undefined && !takesPaths) throw refuseArguments(`git ${command} takes no paths behind "--".`);
  if (before === 'none' || parsed.before.length > maxBefore) {
    throw refuseArguments(`git ${command} takes fewer names than this.`);
  }
  check?.(parsed);
  return parsed;
}

/** What the arguments themselves name. Files that git finds for them are judged one by one before it runs. */
function claimPaths(operation: GitOperation, parsed: GitArguments, folder: string): readonly PathClaim[] {
  const access = operation.mutates ? 'write' : 'read';
  if (operation.name === 'CLONE') return [{ path: cloneTarget(parsed, folder).path, access: 'write' }];
  const paths = [...(operation.before === 'paths' ? parsed.before : []), ...(parsed.after ?? [])];
  return [
    { path: folder, access },
    ...paths.map((path) => ({ path: parsePath(path, folder).path, access }) as const),
    ...parsed.files.map((path) => ({ path: parsePath(path, folder).path, access: 'read' }) as const),
  ];
}

function describeOptions({ options }: GitOperation): string {
  return `Options: ${[...options.flags, ...Object.keys(options.values ?? {})].join(' ')}.`;
}
