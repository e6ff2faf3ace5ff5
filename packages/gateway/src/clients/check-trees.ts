import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { attempt, makeVisibleLine } from '@sallyport/contract';
import type { Refusal } from '../call/refusal.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { ToolContext } from '../call/tool.ts';
import type { TreeReading } from '../catalogue/shell/reading/find-tree.ts';

type CheckContext = Pick<ToolContext, 'paths' | 'signal' | 'workingDirectory'>;

const mostEntries = 200_000;
const mostNamed = 3;
const sliceMs = 5;

/**
 * Looks through folders that a command would read with everything in them, for files that the rules close. Our own tools
 * pass over such files; a program of a client does not. Throws ToolRefused with what would be read, or ToolFailure when
 * there is too much to look through.
 */
export async function checkTrees(trees: readonly TreeReading[], context: CheckContext): Promise<void> {
  for (const tree of trees) {
    const closed = await findClosed(tree, context);
    const [first] = closed;
    if (first === undefined) continue;
    const names = closed.map(({ path }) => makeVisibleLine(relative(context.workingDirectory, path)));
    const { code, rule } = first.refusal;
    throw new ToolRefused(
      refuse(code, rule, `The command would also read ${names.join(', ')}, which the rules close.`, {
        remedy: 'Leave it out, with --exclude, --exclude-dir or --glob, or name the files to search.',
      }),
    );
  }
}

interface Closed {
  readonly path: string;
  readonly refusal: Refusal;
}

/** Files that may bring back what would be passed over. */
const ignoreFiles = ['.gitignore', '.ignore', '.rgignore'];

async function findClosed(tree: TreeReading, context: CheckContext): Promise<readonly Closed[]> {
  const { skipsHidden, skipsIgnored, ...rest } = tree;
  const everything = { ...rest, skipsHidden: false, skipsIgnored: false };
  const ignored = skipsIgnored || skipsHidden ? readIgnored(tree.path) : nothingIgnored;
  if (ignored === undefined) return findClosed(everything, context);
  const reads = readerOf(tree, ignored);
  const found: Closed[] = [];
  for await (const { entry, path, folder } of walk(tree.path, reads, context.signal)) {
    const isRuled = skipsIgnored && folder !== tree.path && (entry.name === '.git' || ignoreFiles.includes(entry.name));
    if (isRuled && (entry.name === '.git' || restores(path))) return findClosed(everything, context);
    if (!reads(entry) || (entry.isSymbolicLink() && !tree.followsLinks)) continue;
    const real = entry.isSymbolicLink() ? followLink(path) : path;
    const refusal =
      context.paths.judge(path, 'read') ?? (real === path ? undefined : context.paths.judge(real, 'read'));
    if (refusal !== undefined) found.push({ path, refusal });
    if (found.length >= mostNamed) break;
  }
  return found;
}

interface Walked {
  readonly entry: Dirent;
  readonly folder: string;
  readonly path: string;
}

/** Every entry of the folders that are read. Links are not followed. Lets other calls have their turn. */
async function* walk(root: string, reads: (entry: Dirent) => boolean, signal: AbortSignal): AsyncGenerator<Walked> {
  const waiting = [root];
  let seen = 0;
  let breathAtMs = performance.now() + sliceMs;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of listFolder(folder)) {
      if ((seen += 1) > mostEntries) {
        throw new ToolFailure(
          'TOO_LARGE',
          'There is too much in the folder to look through first. Name smaller folders.',
        );
      }
      if (performance.now() > breathAtMs) {
        await setImmediate();
        signal.throwIfAborted();
        breathAtMs = performance.now() + sliceMs;
      }
      const path = join(folder, entry.name);
      yield { entry, folder, path };
      if (entry.isDirectory() && reads(entry)) waiting.push(path);
    }
  }
}

function listFolder(folder: string): readonly Dirent[] {
  // A file, or nothing that this user could read.
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether the program would open the entry, or go into it. When in doubt, it would. */
function readerOf({ only, without, withoutFolders, skipsHidden, skipsIgnored }: TreeReading, ignored: Ignored) {
  const { names, folders } = skipsIgnored ? ignored : nothingIgnored;
  const wanted = only.map(compile);
  const unwanted = [...without, ...names].map(compile);
  const closedFolders = [...withoutFolders, ...names, ...folders].map(compile);
  const fits = (patterns: readonly RegExp[], name: string): boolean => patterns.some((each) => each.test(name));
  return (entry: Dirent): boolean => {
    const { name } = entry;
    if (skipsHidden && name.startsWith('.')) return false;
    if (entry.isDirectory()) return !fits(closedFolders, name);
    return !fits(unwanted, name) && (wanted.length === 0 || fits(wanted, name));
  };
}

function compile(name: string): RegExp {
  const source = name
    .replaceAll(/[.+@]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}

interface Ignored {
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

const nothingIgnored: Ignored = { names: [], folders: [] };

/**
 * Names that git ignores everywhere below this folder. Only plain ones count: what is not ignored for sure is looked at.
 * Undefined: a file here or above brings names back.
 */
function readIgnored(root: string): Ignored | undefined {
  const found = { names: [] as string[], folders: [] as string[] };
  let isInside = true;
  for (let folder = root; ; folder = dirname(folder)) {
    if (ignoreFiles.some((name) => (isInside || name !== '.gitignore') && restores(join(folder, name))))
      return undefined;
    for (const line of isInside ? readLines(join(folder, '.gitignore')) : []) {
      const [, name, slash] = /^([\w.*?@+-]+)(\/?)$/.exec(line) ?? [];
      if (name !== undefined) found[slash === '/' ? 'folders' : 'names'].push(name);
    }
    if (existsSync(join(folder, '.git'))) isInside = false;
    if (dirname(folder) === folder) return isInside ? nothingIgnored : found;
  }
}

function restores(file: string): boolean {
  return readLines(file).some((line) => line.startsWith('!'));
}

function readLines(file: string): readonly string[] {
  return (
    attempt(() =>
      readFileSync(file, 'utf8')
        .split(/\r?\n/)
        .map((line) => line.trimEnd()),
    ) ?? []
  );
}
