import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isJsonObject, parseJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { redactEnd } from '../../call/redacted.ts';
import { maxShownChars } from '../files/tree/search-tree.ts';
import { runReadOnly } from './run-read-only.ts';

export interface CodeQuery {
  readonly query: string;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
  /** A glob. Absent: all files. */
  readonly files?: string;
  readonly contextLines: number;
  readonly maxResults: number;
  readonly includeHidden: boolean;
}

export interface CodeMatch {
  readonly [key: string]: string | number | string[];
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface FoundCode {
  readonly matches: readonly CodeMatch[];
  readonly omitted: number;
  readonly truncated: boolean;
}

const ripgrep = '/usr/bin/rg';
const maxOutputBytes = 16 * 1024 * 1024;
const timeoutMs = 20_000;

export function hasRipgrep(): boolean {
  return existsSync(ripgrep);
}

/** `folder`: absolute, without links. Throws ToolFailure OUTPUT_LIMIT when there is far too much. */
export async function searchWithRipgrep(folder: string, query: CodeQuery, context: ToolContext): Promise<FoundCode> {
  const { output, hidden } = await runReadOnly(
    { argv: commandFor(query), folders: [folder], workingDirectory: folder, outputBytes: maxOutputBytes, timeoutMs },
    context,
  );
  const { how, stdout, stderr } = output;
  // 1: nothing was found. 2 with matches: some files could not be read.
  if (how.kind !== 'exited' || (how.code > 1 && stdout.totalBytes === 0)) {
    const said = redactEnd(stderr.bytes.toString('utf8'), 300, context.redact).trim();
    throw new ToolFailure('EXECUTION_ERROR', `The search failed. ${said}`);
  }
  const found = readMatches(stdout.bytes.toString('utf8').split('\n'));
  const allowed = found.filter(({ path }) => context.paths.judge(join(folder, path), 'read') === undefined);
  return {
    matches: allowed.slice(0, query.maxResults),
    omitted: hidden + new Set(found.map(({ path }) => path)).size - new Set(allowed.map(({ path }) => path)).size,
    truncated: allowed.length > query.maxResults,
  };
}

function commandFor(query: CodeQuery): readonly [string, ...string[]] {
  const { regex, caseSensitive, files, contextLines, maxResults, includeHidden } = query;
  return [
    ripgrep,
    ...['--json', '--no-config', '--no-require-git', '--sort=path', '--max-filesize=4M'],
    `--max-count=${maxResults + 1}`,
    `--context=${contextLines}`,
    ...(regex ? [] : ['--fixed-strings']),
    ...(caseSensitive ? ['--case-sensitive'] : ['--ignore-case']),
    ...(includeHidden ? ['--hidden'] : []),
    ...(files === undefined ? [] : [`--glob=${files}`]),
    ...['-e', query.query, '--', '.'],
  ];
}

function readMatches(lines: readonly string[]): readonly CodeMatch[] {
  const found: CodeMatch[] = [];
  let before: string[] = [];
  for (const line of lines) {
    const message = parseJsonObject(line);
    const data = message?.['data'];
    if (message === undefined || !isJsonObject(data)) continue;
    if (message['type'] === 'begin') before = [];
    if (message['type'] === 'context') {
      const last = found.at(-1);
      const number = Number(data['line_number']);
      const after = last?.['after'] as string[] | undefined;
      // A line between two matches belongs to the one before it as long as it follows it.
      if (
        last !== undefined &&
        after !== undefined &&
        last.path === pathOf(data) &&
        number === last.line + after.length + 1
      ) {
        after.push(textOf(data));
      } else before.push(textOf(data));
    }
    if (message['type'] === 'match') {
      found.push(readMatch(data, before));
      before = [];
    }
  }
  return found.map(({ before: above, after, ...match }) => {
    const hasContext = (above as string[]).length + (after as string[]).length > 0;
    return { ...match, ...(hasContext ? { before: above as string[], after: after as string[] } : {}) };
  });
}

function readMatch(data: JsonObject, before: string[]): CodeMatch {
  const [first] = (data['submatches'] ?? []) as readonly JsonObject[];
  return {
    path: pathOf(data),
    line: Number(data['line_number']),
    ...(first === undefined ? {} : { column: Number(first['start']) + 1 }),
    text: textOf(data),
    before,
    after: [],
  };
}

function pathOf(data: JsonObject): string {
  return posix.normalize(readField(data['path']));
}

function textOf(data: JsonObject): string {
  return readField(data['lines'])
    .replace(/\r?\n$/, '')
    .slice(0, maxShownChars)
    .toWellFormed();
}

/** What is not valid UTF-8 comes in base64. */
function readField(value: Json | undefined): string {
  if (!isJsonObject(value)) return '';
  const { text, bytes } = value;
  if (typeof text === 'string') return text;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString('utf8') : '';
}
