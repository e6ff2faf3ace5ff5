import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { attendTo } from '../../programs/run/attend-to.ts';
import { unattended, viewFor } from '../../programs/run/mounts-for.ts';
import type { ProgramView } from '../../programs/run/mounts-for.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import type { ProgramOutput, ProgramRunOptions } from '../../programs/run/run-program.ts';
import type { Withheld } from '../../programs/leavings/set-aside-forbidden.ts';
import { isWithin, defaultProgramLimits } from '@sallyport/sandbox';
import type { Mount, Access } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { PathClaim, ToolContext } from '../../call/tool.ts';
import { inlineBytes } from '../shell/present-output.ts';
import type { Repository } from './find-repository.ts';
import { counterSettings, gitEnvironment } from './git-settings.ts';
import type { Setting } from './git-settings.ts';

/** What git would run or obey for everybody who uses the repository. */
const frozenInGitFolder = ['hooks', 'config', 'config.worktree', 'modules', 'commondir', 'gitdir'];
/** What git is asked about a repository, and what of it a person can be shown. */
export const maxListBytes = 16 * 1024 * 1024;
const maxSettings = 500;

export interface GitSandboxOptions {
  readonly workingDirectory: string;
  readonly access: Access;
  /** Whether git is to make the repository. Absent: it exists. */
  readonly isNew?: boolean;
  /** Whether git sees the files beside the repository. Absent: it does. */
  readonly seesFiles?: boolean;
}

/** A remote as the network sees it. */
export interface Reach {
  readonly hosts: readonly string[];
  readonly protocols: readonly string[];
  /** Folders of repositories on this machine. */
  readonly folders: readonly PathClaim[];
  readonly settings: readonly Setting[];
}

/** Git could not tell what was asked of it. What it said is in the output. */
export class GitFailed extends Error {
  readonly output: ProgramOutput;

  constructor(output: ProgramOutput) {
    super('git ended with an exit code other than 0');
    this.name = 'GitFailed';
    this.output = output;
  }
}

/** Git had more to tell than the gate looks at. */
export class TooMuchToLookAt extends ToolRefused {
  constructor() {
    super(
      refuse('UNSAFE_PATH', 'git-entries', 'It holds too much to check all of it.', {
        remedy: 'Ask for fewer commits or paths.',
      }),
    );
  }
}

/**
 * Runs git on one repository for one call: in the sandbox, seeing the repository and nothing else, without the network,
 * and with everything switched off by which a repository makes git run other programs.
 */
export class GitSandbox {
  readonly repository: Repository;
  readonly #context: ToolContext;
  readonly #options: GitSandboxOptions;
  readonly #view: ProgramView;
  #mounts: readonly Mount[];
  #settings: readonly Setting[] = [];

  private constructor(repository: Repository, context: ToolContext, options: GitSandboxOptions, view: ProgramView) {
    this.repository = repository;
    this.#context = context;
    this.#options = options;
    this.#view = view;
    this.#mounts = view.mounts;
  }

  static async open(repository: Repository, context: ToolContext, options: GitSandboxOptions): Promise<GitSandbox> {
    const view = await viewRepository(repository, context, options.access);
    const sandbox = new GitSandbox(repository, context, options, view);
    await sandbox.#readConfiguration();
    await sandbox.#showTracked();
    return sandbox;
  }

  /** For a repository that does not exist yet: its folder is there, and empty. */
  static forClone(repository: Repository, context: ToolContext): GitSandbox {
    const { top } = repository;
    const mounts: readonly Mount[] = [{ source: top, target: top, access: 'write' }];
    return new GitSandbox(
      repository,
      context,
      { workingDirectory: top, access: 'write', isNew: true },
      { ...unattended, mounts },
    );
  }

  /** For what is in the folders of the repository alone: references, objects, what is staged. No file is seen. */
  static async forReferences(repository: Repository, context: ToolContext): Promise<GitSandbox> {
    const { gitFolder, commonFolder } = repository;
    const folders = isWithin(commonFolder, gitFolder) ? [commonFolder] : [commonFolder, gitFolder];
    const closed = [gitFolder, commonFolder].flatMap(listClosed);
    const mounts = folders.map((path): Mount => {
      const frozen = [...new Set(closed.filter((each) => isWithin(path, each)))];
      return { source: path, target: path, access: 'write', ...(frozen.length === 0 ? {} : { frozen }) };
    });
    const options = { workingDirectory: gitFolder, access: 'write', seesFiles: false } as const;
    const sandbox = new GitSandbox(repository, context, options, { ...unattended, mounts });
    await sandbox.#readConfiguration();
    return sandbox;
  }

  /** Runs something that changes the repository, and sets aside what git must not leave behind. */
  async attend<Value>(change: () => Promise<Value>): Promise<{ readonly value: Value; readonly withheld: Withheld }> {
    return attendTo(this.#view, this.#context, change);
  }

  /** How git ended, whatever its exit code. */
  run(
    args: readonly string[],
    more: { readonly stdin?: string | Buffer; readonly reach?: Reach } = {},
  ): Promise<ProgramOutput> {
    return this.#run(args, { ...more, inlineBytes });
  }

  /** The parts of its output between NULs, or between line ends. Throws GitFailed. */
  async list(args: readonly string[], { separator = '\0', stdin = '' } = {}): Promise<readonly string[]> {
    return (await this.text(args, { stdin })).split(separator).filter(Boolean);
  }

  /** All of its output. Throws GitFailed, and TooMuchToLookAt. */
  async text(args: readonly string[], { stdin = '' } = {}): Promise<string> {
    return (await this.bytes(args, { stdin })).toString('utf8');
  }

  /** The same as it is. */
  async bytes(args: readonly string[], { stdin = '' } = {}): Promise<Buffer> {
    const output = await this.#look(args, stdin);
    if (output.how.kind !== 'exited' || output.how.code !== 0) throw new GitFailed(output);
    if (output.stdout.truncated) throw new TooMuchToLookAt();
    return output.stdout.bytes;
  }

  /** Git is ended when it has said more than is looked at. */
  async #look(args: readonly string[], stdin: string): Promise<ProgramOutput> {
    const granted = this.#context.grants.limits.outputBytes ?? defaultProgramLimits.outputBytes;
    const outputBytes = Math.min(granted, maxListBytes + 1);
    try {
      return await this.#run(args, { stdin, inlineBytes: maxListBytes, isLooking: true, outputBytes });
    } catch (error) {
      const isTooMuch = error instanceof ToolFailure && error.code === 'OUTPUT_LIMIT' && granted > maxListBytes;
      throw isTooMuch ? new TooMuchToLookAt() : error;
    }
  }

  #run(
    args: readonly string[],
    {
      stdin = '',
      reach,
      outputBytes,
      ...options
    }: { stdin?: string | Buffer; reach?: Reach; outputBytes?: number } & ProgramRunOptions,
  ): Promise<ProgramOutput> {
    const { grants } = this.#context;
    const { top, gitFolder } = this.repository;
    const { seesFiles = true } = this.#options;
    const settings = [...this.#settings, ...(reach?.settings ?? [])];
    const program = {
      argv: ['/usr/bin/git', '--no-pager', ...args] as const,
      environment: {
        ...gitEnvironment(settings, { protocols: reach?.protocols ?? [] }),
        ...identityOf(this.#context),
        // Named, so that git does not go looking, and the repository cannot name other files as its own.
        ...(this.#options.isNew === true ? {} : { GIT_DIR: gitFolder, GIT_WORK_TREE: seesFiles ? top : gitFolder }),
        ...(this.#options.access === 'read' ? { GIT_OPTIONAL_LOCKS: '0' } : {}),
      },
      workingDirectory: this.#options.workingDirectory,
      stdin: typeof stdin === 'string' ? Buffer.from(stdin) : stdin,
      mounts: grants.isolation === 'none' ? [] : mountWith(this.#mounts, reach?.folders ?? []),
      hosts: reach?.hosts ?? [],
      limits: { ...defaultProgramLimits, ...grants.limits, ...(outputBytes === undefined ? {} : { outputBytes }) },
      isolation: grants.isolation,
    };
    return runProgram(program, this.#context, options);
  }

  /** Finds what the repository configured under names of its choice, and answers each with a setting of ours. */
  async #readConfiguration(): Promise<void> {
    const keys = await this.list(['config', '--list', '--name-only', '-z']);
    const settings = counterSettings(keys);
    if (settings.length > maxSettings) {
      throw new ToolRefused(refuse('UNSAFE_PATH', 'git-config', 'The configuration of the repository is too long.'));
    }
    const { agent } = this.#context.session;
    const identity: readonly Setting[] = keys.includes('user.name')
      ? []
      : [
          ['user.name', agent],
          ['user.email', `${agent.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-')}@sallyport.invalid`],
        ];
    this.#settings = [...settings, ...identity];
  }

  /**
   * A tracked file that git does not see would be one that somebody deleted. So these are shown and frozen: git is all
   * that runs here, and the rules are asked about each file before it shows or changes one.
   */
  async #showTracked(): Promise<void> {
    const hidden = this.#mounts.flatMap((mount) => mount.hidden ?? []);
    const { top } = this.repository;
    const inTop = hidden.filter((path) => isWithin(top, path));
    if (inTop.length === 0) return;
    const pathspecs = inTop.map((path) => `:(top,literal)${relative(top, path)}`);
    const tracked = (await this.list(['ls-files', '-z', '--full-name', '--', ...pathspecs])).map((file) =>
      join(top, file),
    );
    const isTracked = (path: string): boolean => tracked.some((file) => isWithin(path, file));
    this.#mounts = this.#mounts.map(({ hidden: all = [], ...mount }) => {
      const shown = all.filter(isTracked);
      const frozen = [...(mount.frozen ?? []), ...shown];
      return {
        ...mount,
        hidden: all.filter((path) => !shown.includes(path)),
        ...(mount.access === 'write' ? { frozen } : {}),
      };
    });
  }
}

/** Who commits, where the rules say so. */
function identityOf({ grants }: ToolContext): Readonly<Record<string, string>> {
  const names = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];
  return Object.fromEntries(Object.entries(grants.environment).filter(([name]) => names.includes(name)));
}

async function viewRepository(repository: Repository, context: ToolContext, access: Access): Promise<ProgramView> {
  const { top, gitFolder, commonFolder } = repository;
  if (context.grants.isolation === 'none') return unattended;
  const folders = [top, commonFolder, gitFolder].map((path) => ({ path, access }));
  const gitFolders = [gitFolder, commonFolder];
  const view = await viewFor(context, { folders, gitFolders, isForeseen: true });
  const closed = gitFolders.flatMap(listClosed);
  const mounts = view.mounts.map((mount) => {
    const frozen = new Set([...(mount.frozen ?? []), ...closed.filter((path) => isWithin(mount.source, path))]);
    return mount.access === 'write' && frozen.size > 0 ? { ...mount, frozen: [...frozen] } : mount;
  });
  return { ...view, mounts };
}

function listClosed(gitFolder: string): readonly string[] {
  return frozenInGitFolder
    .map((name) => join(gitFolder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

/** Other repositories are closed to git, except the one to which it is to send something. */
function mountWith(mounts: readonly Mount[], remotes: readonly PathClaim[]): readonly Mount[] {
  const receives = (path: string): boolean => remotes.some((each) => each.access === 'write' && each.path === path);
  return [
    ...mounts.map((mount) =>
      mount.frozen === undefined ? mount : { ...mount, frozen: mount.frozen.filter((path) => !receives(path)) },
    ),
    ...remotes.map(({ path, access }) => ({
      source: path,
      target: path,
      access,
      ...(access === 'write' ? { frozen: listClosed(path) } : {}),
    })),
  ];
}
