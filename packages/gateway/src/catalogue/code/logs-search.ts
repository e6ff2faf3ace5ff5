import { spellCount } from '@sallyport/contract';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import { cutText } from '../../call/redacted.ts';
import { hasCode } from '@sallyport/sandbox';
import { openEntryFile, openFolder } from '../../paths/open-path.ts';
import type { OpenFile } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { compileExpression, compileGlob, compileLiteral } from '../files/compile-pattern.ts';
import { failureFrom } from '../files/failure-from.ts';
import { readBytes } from '../files/file-bytes.ts';
import { FolderWalk } from '../files/tree/walk-folder.ts';
import { levels, readLevel } from './log-level.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** How much of the end of each file is looked at, and how many files: looking for secrets takes its time. */
const tailBytes = 256 * 1024;
const mostFiles = 50;
const longestLine = 1000;
const passedOver = new Set(['node_modules', '__pycache__']);

const inputSchema = schema.object(
  {
    path: schema.path('The folder to look in.', { default: '.' }),
    files: schema.string('A glob for the names of log files; with a slash, for their paths.', {
      minLength: 1,
      maxLength: 200,
      default: '*.{log,jsonl,ndjson,out,err}',
    }),
    query: schema.string('What a line must contain.', { minLength: 1, maxLength: 500 }),
    regex: schema.flag('Whether query is a regular expression (RE2 syntax).'),
    level: schema.choice(
      'Only lines of this level or a more serious one. Lines that name no level are left out.',
      levels,
    ),
    max_results: schema.integer('The most lines.', { minimum: 1, maximum: 1000, default: 100 }),
  },
  { optional: ['query', 'level'] },
);
type LogArguments = schema.ValueOf<typeof inputSchema>;

export function logsSearch(): AnyTool {
  return defineTool({
    name: 'logs.search',
    aliases: ['log_search'],
    description:
      'Search the log files of a project from their ends, by text, regular expression or level. Lines are shown without secrets. For the logs of the system, use system.logs.',
    examples: [{ level: 'error' }, { query: 'timeout', files: '*.log' }],
    tags: ['logs'],
    risk: 'low',
    scopes: ['paths'],
    timeoutMs: 30_000,
    pathArguments: ['path'],
    inputSchema,
    outputSchema: schema.object({
      lines: schema.array(
        'The lines found, by file, the last ones of each file.',
        schema.object(
          {
            path: schema.string('The file, from the folder that was searched.'),
            level: schema.choice('Absent: the line names none.', levels),
            text: schema.string(`The line, or its first ${longestLine} characters.`),
          },
          { optional: ['level'] },
        ),
      ),
      files: schema.count('How many log files were searched.'),
      omitted: schema.count('How many files and folders the rules keep back.'),
      truncated: schema.boolean('Whether there are, or may be, more lines.'),
    }),
    claim: (args, session) => {
      compile(args);
      return { paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'read' }] };
    },
    preview: ({ path }) => looksAt(`Search the log files in ${path}`),
    run: async (args, context) => {
      try {
        return await search(args, context);
      } catch (error) {
        throw failureFrom(error, args.path);
      }
    },
    summarize: (_, { lines, files }) => `${spellCount(lines.length, 'line')} of ${spellCount(files, 'file')}`,
  });
}

interface Line {
  readonly [key: string]: string;
  readonly path: string;
  readonly text: string;
}

async function search(args: LogArguments, context: ToolContext) {
  const { matchesFile, matchesLine } = compile(args);
  const isPassedOver = (name: string): boolean => passedOver.has(name);
  const walk = new FolderWalk(context, { access: 'read', recursive: true, includeHidden: false, isPassedOver });
  const lines: Line[] = [];
  let [files, truncated] = [0, false];
  using folder = openFolder(parsePath(args.path, context.workingDirectory), context);
  for await (const entry of walk.entries(folder)) {
    if (entry.kind !== 'file' || !matchesFile(entry.relativePath, entry.name)) continue;
    if (files === mostFiles || lines.length === args.max_results) {
      truncated = true;
      break;
    }
    const end = await readEnd(() => openEntryFile(entry.folder, entry.name, context), walk, context);
    if (end === undefined) continue;
    files++;
    const found = end.lines.flatMap((text) => {
      const level = readLevel(text);
      const isSerious =
        args.level === undefined || (level !== undefined && levels.indexOf(level) >= levels.indexOf(args.level));
      if (!isSerious || !matchesLine(text)) return [];
      return [
        {
          path: entry.relativePath,
          ...(level === undefined ? {} : { level }),
          text: text.slice(0, longestLine).toWellFormed(),
        },
      ];
    });
    const room = args.max_results - lines.length;
    truncated ||= end.isCut || found.length > room;
    lines.push(...found.slice(-room));
  }
  return { lines, files, omitted: walk.omitted, truncated: truncated || walk.cut };
}

async function readEnd(open: () => OpenFile, walk: FolderWalk, context: ToolContext) {
  try {
    using file = open();
    const { size } = file.stats;
    const start = Math.max(size - tailBytes, 0);
    const bytes = await readBytes(file.fd, start, size - start, context.signal);
    context.countUsage({ bytesRead: bytes.length });
    // Before it is split: a key may have many lines.
    const text = cutText(context.redact(bytes.toString('utf8').slice(0, tailBytes)), tailBytes);
    const lines = text.split(/\r?\n/).filter((line) => line !== '');
    return { lines: start === 0 ? lines : lines.slice(1), isCut: start > 0 };
  } catch (error) {
    const isKeptBack = error instanceof ToolRefused || hasCode(error, 'EACCES', 'EPERM');
    const isGone = hasCode(error, 'ENOENT') || (error instanceof ToolFailure && error.code === 'NOT_A_FILE');
    if (!isKeptBack && !isGone) throw error;
    if (isKeptBack) walk.omitted++;
    return undefined;
  }
}

/** Throws ToolRefused for a pattern that is not one. */
function compile({ files, query, regex }: LogArguments) {
  const matchesName = compileGlob(files, { caseSensitive: true });
  const matchesLine =
    query === undefined ? () => true : (regex ? compileExpression : compileLiteral)(query, { caseSensitive: false });
  return { matchesLine, matchesFile: (path: string, name: string) => matchesName(files.includes('/') ? path : name) };
}
