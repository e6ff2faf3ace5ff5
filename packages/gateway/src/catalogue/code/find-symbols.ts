import { isUtf8 } from 'node:buffer';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { hasCode } from '@sallyport/sandbox';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { openEntryFile, openFile, openFolder } from '../../paths/open-path.ts';
import type { OpenFile } from '../../paths/open-path.ts';
import type { NamedPath } from '../../paths/parse-path.ts';
import { readBytes } from '../files/file-bytes.ts';
import { FolderWalk } from '../files/tree/walk-folder.ts';
import { withDeadline } from '../shell/with-deadline.ts';
import type { FoundSymbol, Grammar, SourceText, SymbolQuestion } from './symbols-thread.ts';

export interface FoundSymbols {
  readonly symbols: readonly FoundSymbol[];
  /** Entries that the rules keep back. */
  readonly omitted: number;
  /** Whether files were left out because there are too many or too large ones. */
  readonly isCut: boolean;
}

const grammarOf: Readonly<Record<string, Grammar>> = {
  ...{ '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'tsx', '.jsx': 'tsx' },
  ...{ '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.py': 'python', '.pyi': 'python' },
};
/** Code of others, which is found by naming its folder. */
const passedOver = new Set(['node_modules', '__pycache__', 'site-packages']);
const maxFileBytes = 1024 * 1024;
const maxAllBytes = 16 * 1024 * 1024;
const mostFiles = 500;
const timeoutMs = 30_000;
const maxHeapMegabytes = 512;

/** Where source code below a folder, or in one file, declares a name. `Class.method` names a member. */
export async function findSymbols(named: NamedPath, symbol: string, context: ToolContext): Promise<FoundSymbols> {
  const parts = symbol.split('.');
  const name = parts.at(-1) ?? symbol;
  const { files, omitted, isCut } = await collectFiles(named, name, context);
  if (files.length === 0) return { symbols: [], omitted, isCut };
  const all = await withDeadline(timeoutMs, context, ({ signal }) => ask({ files, name }, signal));
  const isMeant = ({ containers }: FoundSymbol): boolean =>
    parts.slice(0, -1).every((part, at) => containers.at(at - parts.length + 1) === part);
  return { symbols: all.filter(isMeant), omitted, isCut };
}

interface Collected {
  readonly files: readonly SourceText[];
  readonly omitted: number;
  readonly isCut: boolean;
}

/** The files that hold the name at all; each is judged by the rules, as for the file tools. */
async function collectFiles(named: NamedPath, name: string, context: ToolContext): Promise<Collected> {
  const grammar = grammarOf[extname(named.path)];
  if (grammar !== undefined) {
    using file = openFile(named, context);
    const text = await readText(file, context);
    return {
      files: text?.includes(name) === true ? [{ path: named.given, grammar, text }] : [],
      omitted: 0,
      isCut: text === undefined,
    };
  }
  const files: SourceText[] = [];
  const isPassedOver = (entry: string): boolean => passedOver.has(entry);
  const walk = new FolderWalk(context, { access: 'read', recursive: true, includeHidden: false, isPassedOver });
  let [bytes, isCut] = [0, false];
  using folder = openFolder(named, context);
  for await (const entry of walk.entries(folder)) {
    const language = grammarOf[extname(entry.name)];
    if (entry.kind !== 'file' || language === undefined) continue;
    const text = await readEntry(() => openEntryFile(entry.folder, entry.name, context), walk, context);
    if (text === undefined || !text.includes(name)) continue;
    bytes += text.length;
    if (files.length === mostFiles || bytes > maxAllBytes) {
      isCut = true;
      break;
    }
    files.push({ path: entry.relativePath, grammar: language, text });
  }
  return { files, omitted: walk.omitted, isCut: isCut || walk.cut };
}

/** Undefined: it is kept back, gone, or not to be read. */
async function readEntry(open: () => OpenFile, walk: FolderWalk, context: ToolContext): Promise<string | undefined> {
  try {
    using file = open();
    return await readText(file, context);
  } catch (error) {
    const isKeptBack = error instanceof ToolRefused || hasCode(error, 'EACCES', 'EPERM');
    const isGone = hasCode(error, 'ENOENT') || (error instanceof ToolFailure && error.code === 'NOT_A_FILE');
    if (!isKeptBack && !isGone) throw error;
    if (isKeptBack) walk.omitted++;
    return undefined;
  }
}

async function readText({ fd, stats }: OpenFile, context: ToolContext): Promise<string | undefined> {
  if (stats.size > maxFileBytes) return undefined;
  const bytes = await readBytes(fd, 0, stats.size, context.signal);
  context.countUsage({ bytesRead: bytes.length });
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

async function ask(question: SymbolQuestion, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<readonly FoundSymbol[]>();
  const thread = new Worker(join(import.meta.dirname, `symbols-thread${extname(import.meta.filename)}`), {
    workerData: question,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
  });
  const fail = (cause?: unknown) =>
    reject(new ToolFailure('EXECUTION_ERROR', 'The code could not be read.', { cause }));
  thread.once('message', resolve);
  thread.once('error', fail);
  thread.once('exit', () => fail());
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
