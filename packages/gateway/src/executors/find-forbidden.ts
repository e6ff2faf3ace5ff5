import { lstatSync, opendirSync, readdirSync, realpathSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isWithin } from '../governance/canonical-path.ts';
import { refuse } from '../model/refusal.ts';
import { ToolRefused } from '../model/tool.ts';
import type { Access, PathClaim, ToolContext } from '../model/tool.ts';
import { hasCode } from '../sandbox/has-code.ts';

/** Absolute paths inside folders that a program is about to see. */
export interface Forbidden {
  /** What the rules do not let this call read. */
  readonly hidden: readonly string[];
  /** What they do not let it change. */
  readonly frozen: readonly string[];
  /** The folders in which it can make new entries. */
  readonly open: readonly string[];
}

const maxEntries = 200_000;
/** Each one is a mount of its own in the sandbox. */
const maxFound = 400;
const sliceMs = 5;
const largeFolderBytes = 256 * 1024;

/**
 * Looks through folders for what the rules forbid, without following links. Judging a folder comes before what is in
 * it: one that is forbidden is forbidden whole. Gives other calls their turn and stops at the signal. Throws
 * ToolRefused when there is more than can be looked at, or something that cannot be named.
 */
export async function findForbidden(
  roots: readonly PathClaim[],
  context: Pick<ToolContext, 'paths' | 'signal'>,
  gitFolders: readonly string[],
): Promise<Forbidden> {
  const walk = new ForbiddenWalk(roots, context, gitFolders);
  for (const { path, access } of roots) await walk.visit(path, access);
  return walk;
}

class ForbiddenWalk implements Forbidden {
  readonly hidden: string[] = [];
  readonly frozen: string[] = [];
  readonly open: string[] = [];
  readonly #roots: ReadonlySet<string>;
  readonly #gitFolders: ReadonlySet<string>;
  readonly #context: Pick<ToolContext, 'paths' | 'signal'>;
  readonly #breathe = takeBreaths();
  #seen = 0;

  constructor(
    roots: readonly PathClaim[],
    context: Pick<ToolContext, 'paths' | 'signal'>,
    gitFolders: readonly string[],
  ) {
    this.#roots = new Set(roots.map(({ path }) => path));
    this.#gitFolders = new Set(gitFolders);
    this.#context = context;
  }

  async visit(root: string, access: Access): Promise<void> {
    if (this.#gitFolders.has(root)) return;
    const waiting = [{ folder: root, access }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { folder } = next;
      if (next.access === 'write') this.open.push(folder);
      for (const entry of readEntries(folder)) {
        const pause = this.#count();
        if (pause !== undefined) await pause;
        const path = `${folder}/${entry.name}`;
        // It is looked at for itself, with an access of its own.
        if (this.#roots.has(path)) continue;
        const left = this.#judge(path, entry, next.access);
        if (left !== undefined && entry.isDirectory()) waiting.push({ folder: path, access: left });
      }
    }
  }

  /** What remains of the access below the entry. Undefined: nothing, or there is no need to look there. */
  #judge(path: string, entry: Dirent, access: Access): Access | undefined {
    const { paths } = this.#context;
    if (this.#gitFolders.has(path)) return undefined;
    checkName(path, entry, () => paths.judge(path, access) !== undefined);
    if (paths.judge(path, 'read') !== undefined) {
      this.#note(this.hidden, path, entry);
      return undefined;
    }
    if (access === 'read') return 'read';
    if (entry.name.toLowerCase() !== '.git' && paths.judge(path, 'write') === undefined) return 'write';
    this.#note(this.frozen, path, entry);
    return 'read';
  }

  #note(found: string[], path: string, entry: Dirent): void {
    const named = entry.isSymbolicLink() ? this.#followLink(path) : path;
    if (named !== undefined) found.push(named);
    if (found.length > maxFound) {
      throw cannotHide(`there are more than ${maxFound} files and folders in it that the rules keep back`);
    }
  }

  /** Nothing can be laid over a link, so what it leads to is closed instead. Undefined: the program does not see that. */
  #followLink(path: string): string | undefined {
    let real: string;
    try {
      real = realpathSync.native(path);
    } catch {
      return undefined;
    }
    if ([...this.#roots].some((root) => isWithin(real, root))) {
      throw cannotHide('a link that the rules keep back leads to a whole folder of it');
    }
    return [...this.#roots].some((root) => isWithin(root, real)) ? real : undefined;
  }

  #count(): Promise<void> | undefined {
    if (++this.#seen > maxEntries) throw cannotHide(`it has more than ${maxEntries} files and folders`);
    this.#context.signal.throwIfAborted();
    return this.#breathe();
  }
}

/** For long loops: await what the returned function returns, if anything, and other calls get their turn. */
export function takeBreaths(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  const pause = async (): Promise<void> => {
    await setImmediate();
    sinceMs = performance.now();
  };
  return () => (performance.now() - sinceMs < sliceMs ? undefined : pause());
}

/** Nothing, when the folder is gone, or closed to us and so to the program. A large one is not read at once. */
function* readEntries(folder: string): Generator<Dirent, void, void> {
  try {
    if (lstatSync(folder).size < largeFolderBytes) {
      yield* readdirSync(folder, { withFileTypes: true });
      return;
    }
    using directory = opendirSync(folder, { bufferSize: 128 });
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error;
  }
}

/** A name that is not UTF-8 reaches us changed, and what is called so can neither be entered nor hidden. */
function checkName(path: string, entry: Dirent, isForbidden: () => boolean): void {
  if (!entry.name.includes('\uFFFD') || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (entry.isDirectory() || isForbidden()) throw cannotHide('a name in it is not UTF-8');
}

function cannotHide(why: string): ToolRefused {
  return new ToolRefused(
    refuse('UNSAFE_PATH', 'sandbox-view', `What the rules forbid cannot be hidden from the program: ${why}.`, {
      remedy: 'Let the rules grant smaller folders, or forbid whole folders instead of many files.',
    }),
  );
}
