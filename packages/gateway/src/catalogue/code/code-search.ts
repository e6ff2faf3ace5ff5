import { spellCount } from '@sallyport/contract';
import { checkShown } from '../../call/check-shown.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool } from '../define-tool.ts';
import { compileExpression, compileGlob, compileLiteral } from '../files/compile-pattern.ts';
import { objectSchema, pathSchema } from '../files/define-file-tool.ts';
import { failureFrom } from '../files/failure-from.ts';
import { identifyFolder } from '../files/tree/identify-entries.ts';
import { looksInto } from '../files/tree/judge-first.ts';
import { maxShownChars, TreeSearch } from '../files/tree/search-tree.ts';
import { hasRipgrep, searchWithRipgrep } from './search-with-ripgrep.ts';
import type { CodeQuery, FoundCode } from './search-with-ripgrep.ts';

interface SearchArguments {
  readonly query: string;
  readonly path: string;
  readonly regex: boolean;
  readonly case_sensitive: boolean;
  readonly files?: string;
  readonly context_lines: number;
  readonly max_results: number;
  readonly include_hidden: boolean;
}

/** `findRipgrep` is for tests. */
export function codeSearch(findRipgrep: () => boolean = hasRipgrep): AnyTool {
  return defineTool({
    name: 'code.search',
    aliases: ['search_code'],
    description:
      'Search source code for a text or a regular expression and get the lines with their files and numbers. With ripgrep on the machine it is fast, shows lines around a match, and leaves out what .gitignore names; otherwise the gate searches by itself.',
    examples: [{ query: 'TODO' }, { query: 'function \\w+Error', regex: true, files: '*.ts' }],
    tags: ['code'],
    risk: 'low',
    scopes: ['paths'],
    timeoutMs: 30_000,
    pathArguments: ['path'],
    inputSchema: objectSchema(
      {
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'What a line must contain.' },
        path: pathSchema('The folder to search.', { default: '.' }),
        regex: {
          type: 'boolean',
          default: false,
          description: 'Whether query is a regular expression (RE2 syntax: no backreferences, no lookaround).',
        },
        case_sensitive: { type: 'boolean', default: true, description: 'Whether upper and lower case differ.' },
        files: {
          type: 'string',
          pattern: '^[^!\\0-\\x1f][^\\0-\\x1f]{0,199}$',
          description: 'Only files whose name or path fits this glob, such as *.ts or src/**/*.{js,ts}.',
        },
        context_lines: {
          type: 'integer',
          minimum: 0,
          maximum: 5,
          default: 0,
          description: 'How many lines to show before and after a match. Needs ripgrep.',
        },
        max_results: { type: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'The most matches.' },
        include_hidden: {
          type: 'boolean',
          default: false,
          description: 'Whether to look into files and folders whose name starts with a dot.',
        },
      },
      { optional: ['files'] },
    ),
    outputSchema: objectSchema({
      engine: { type: 'string', enum: ['ripgrep', 'built-in'], description: 'What searched.' },
      matches: {
        type: 'array',
        description: 'The lines found, in the order of their paths.',
        items: objectSchema(
          {
            path: { type: 'string', description: 'The path from the searched folder.' },
            line: { type: 'integer', minimum: 1, description: 'The number of the line.' },
            column: { type: 'integer', minimum: 1, description: 'The first byte of the match. Absent: not known.' },
            text: { type: 'string', description: `The line, or its first ${maxShownChars} characters.` },
            before: { type: 'array', items: { type: 'string' }, description: 'The lines before it.' },
            after: { type: 'array', items: { type: 'string' }, description: 'The lines after it.' },
          },
          { optional: ['column', 'before', 'after'] },
        ),
      },
      omitted: { type: 'integer', minimum: 0, description: 'How many files and folders the rules keep back.' },
      truncated: { type: 'boolean', description: 'Whether there are, or may be, more matches.' },
    }),
    claim: (args: SearchArguments, session) => {
      compile(args);
      return { paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'read' }] };
    },
    preview: (args, context) => looksInto(args.path, `Search ${args.path} for ${JSON.stringify(args.query)}`, context),
    run: async (args, context) => {
      try {
        return await search(args, context, findRipgrep());
      } catch (error) {
        throw failureFrom(error, args.path);
      }
    },
    summarize: (_, output) => `${spellCount(output.matches.length, 'match', 'matches')}, ${output.omitted} omitted`,
  });
}

async function search(args: SearchArguments, context: ToolContext, withRipgrep: boolean) {
  using folder = openFolder(parsePath(args.path, context.workingDirectory), context);
  checkShown(identifyFolder(folder), args.path, context);
  const query: CodeQuery = {
    query: args.query,
    regex: args.regex,
    caseSensitive: args.case_sensitive,
    ...(args.files === undefined ? {} : { files: args.files }),
    contextLines: args.context_lines,
    maxResults: args.max_results,
    includeHidden: args.include_hidden,
  };
  if (withRipgrep) {
    try {
      const { matches, ...rest } = await searchWithRipgrep(folder.realPath, query, context);
      return { engine: 'ripgrep', matches: [...matches], ...rest };
    } catch (error) {
      // There is more than anybody reads, and the gate stops at the first results; or it can run no program here.
      const isTooMuch = error instanceof ToolFailure && error.code === 'OUTPUT_LIMIT';
      const isUnable = error instanceof ToolRefused && error.refusal.code === 'SANDBOX_UNAVAILABLE';
      if (!isTooMuch && !isUnable) throw error;
    }
  }
  const { matches, ...rest } = await searchTree(compile(args), folder, context);
  return { engine: 'built-in', matches: [...matches], ...rest };
}

async function searchTree(
  query: ConstructorParameters<typeof TreeSearch>[0],
  folder: Parameters<TreeSearch['run']>[0],
  context: ToolContext,
): Promise<FoundCode> {
  const tree = new TreeSearch(query, context);
  await tree.run(folder);
  return {
    matches: tree.matches.map(({ path, line, text }) => ({ path, line: Number(line), text: String(text) })),
    omitted: tree.omitted,
    truncated: tree.stoppedBy !== 'end',
  };
}

/** Throws ToolRefused for a pattern that is not valid, with every engine. */
function compile(args: SearchArguments): ConstructorParameters<typeof TreeSearch>[0] {
  const options = { caseSensitive: args.case_sensitive };
  const { files = '**' } = args;
  const matchesName = compileGlob(files, { caseSensitive: true });
  return {
    matchesFile: (entry) => matchesName(files.includes('/') ? entry.relativePath : entry.name),
    matchesLine: (args.regex ? compileExpression : compileLiteral)(args.query, options),
    includeHidden: args.include_hidden,
    maxResults: args.max_results,
  };
}
