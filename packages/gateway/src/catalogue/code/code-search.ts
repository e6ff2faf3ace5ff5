import { spellCount } from '@sallyport/contract';
import { checkShown } from '../../call/check-shown.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool } from '../define-tool.ts';
import { compileExpression, compileGlob, compileLiteral } from '../files/compile-pattern.ts';
import { failureFrom } from '../files/failure-from.ts';
import { identifyFolder } from '../files/tree/identify-entries.ts';
import { looksInto } from '../files/tree/judge-first.ts';
import { maxShownChars, TreeSearch } from '../files/tree/search-tree.ts';
import { hasRipgrep, searchWithRipgrep } from './search-with-ripgrep.ts';
import type { CodeQuery, FoundCode } from './search-with-ripgrep.ts';
import * as schema from '../../registry/schemas/schema.ts';

const inputSchema = schema.object(
  {
    query: schema.string('What a line must contain.', { minLength: 1, maxLength: 500 }),
    path: schema.path('The folder to search.', { default: '.' }),
    regex: schema.flag('Whether query is a regular expression (RE2 syntax: no backreferences, no lookaround).'),
    case_sensitive: schema.boolean('Whether upper and lower case differ.', { default: true }),
    files: schema.string('Only files whose name or path fits this glob, such as *.ts or src/**/*.{js,ts}.', {
      pattern: '^[^!\\0-\\x1f][^\\0-\\x1f]{0,199}$',
    }),
    context_lines: schema.integer('How many lines to show before and after a match. Needs ripgrep.', {
      minimum: 0,
      maximum: 5,
      default: 0,
    }),
    max_results: schema.integer('The most matches.', { minimum: 1, maximum: 1000, default: 100 }),
    include_hidden: schema.flag('Whether to look into files and folders whose name starts with a dot.'),
  },
  { optional: ['files'] },
);
type SearchArguments = schema.ValueOf<typeof inputSchema>;

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
    inputSchema,
    outputSchema: schema.object({
      engine: schema.choice('What searched.', ['ripgrep', 'built-in']),
      matches: schema.array(
        'The lines found, in the order of their paths.',
        schema.object(
          {
            path: schema.string('The path from the searched folder.'),
            line: schema.integer('The number of the line.', { minimum: 1 }),
            column: schema.integer('The first byte of the match. Absent: not known.', { minimum: 1 }),
            text: schema.string(`The line, or its first ${maxShownChars} characters.`),
            before: schema.array('The lines before it.', { type: 'string' }),
            after: schema.array('The lines after it.', { type: 'string' }),
          },
          { optional: ['column', 'before', 'after'] },
        ),
      ),
      omitted: schema.count('How many files and folders the rules keep back.'),
      truncated: schema.boolean('Whether there are, or may be, more matches.'),
    }),
    claim: (args, session) => {
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
