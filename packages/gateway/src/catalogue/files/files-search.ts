import { spellCount } from '@sallyport/contract';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { compileExpression, compileGlob, compileLiteral } from './compile-pattern.ts';
import { checkShown } from '../../call/check-shown.ts';
import { defineFileTool, objectSchema, pathSchema } from './define-file-tool.ts';
import { identifyFolder } from './tree/identify-entries.ts';
import { looksInto } from './tree/judge-first.ts';
import { maxShownChars, stops, TreeSearch } from './tree/search-tree.ts';
import type { Query } from './tree/search-tree.ts';

interface SearchArguments {
  readonly path: string;
  readonly name?: string;
  readonly content?: string;
  readonly regex: boolean;
  readonly case_sensitive: boolean;
  readonly max_results: number;
  readonly include_hidden: boolean;
}

export const filesSearch = defineFileTool({
  name: 'files.search',
  aliases: ['search_files'],
  description:
    'Find files below a folder by name, by content, or by both. Content is matched line by line in UTF-8 text files of up to 4 MB; links are not followed.',
  risk: 'low',
  confirmation: 'never',
  mutates: false,
  idempotent: true,
  timeoutMs: 10_000,
  examples: [
    { path: 'src', content: 'TODO' },
    { path: '.', name: '*.{ts,tsx}' },
  ],
  inputSchema: objectSchema(
    {
      path: pathSchema('The folder to search.', { default: '.' }),
      name: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description:
          'A glob such as *.ts or *.{js,ts}. With a slash it is matched against the path from the searched folder (src/**/*.ts), without one against the name.',
      },
      content: { type: 'string', minLength: 1, maxLength: 500, description: 'Text that a line must contain.' },
      regex: {
        type: 'boolean',
        default: false,
        description: 'Whether content is a regular expression (RE2 syntax: no backreferences, no lookaround).',
      },
      case_sensitive: { type: 'boolean', default: true, description: 'Whether upper and lower case differ.' },
      max_results: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: 'The most matches to return.',
      },
      include_hidden: {
        type: 'boolean',
        default: false,
        description: 'Whether to look into files and folders whose name starts with a dot.',
      },
    },
    { optional: ['name', 'content'], anyOf: [{ required: ['name'] }, { required: ['content'] }] },
  ),
  outputSchema: objectSchema({
    path: { type: 'string', description: 'The path as it was given.' },
    matches: {
      type: 'array',
      description: 'The files found, or with content the lines found, in the order of their paths.',
      items: objectSchema(
        {
          path: { type: 'string', description: 'The path from the searched folder.' },
          line: { type: 'integer', minimum: 1, description: 'The number of the line.' },
          text: { type: 'string', description: `The line, or its first ${maxShownChars} characters.` },
        },
        { optional: ['line', 'text'] },
      ),
    },
    skipped: { type: 'integer', minimum: 0, description: 'Files not read: not text, or larger than 4 MB.' },
    omitted: { type: 'integer', minimum: 0, description: 'How many entries the rules keep back.' },
    truncated: { type: 'boolean', description: 'Whether the search ended before it had seen everything.' },
    stopped_by: {
      type: 'string',
      enum: stops,
      description: 'Why the search ended: end of the tree, max_results, its time limit, or a tree that is too large.',
    },
  }),
  subject: (args: SearchArguments) => args.path,
  claim: (args, session) => {
    compileQuery(args);
    return { paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'read' }] };
  },
  preview: (args, context) => looksInto(args.path, `Search ${args.path}`, context),
  run: async (args, context) => {
    const search = new TreeSearch(compileQuery(args), context);
    using folder = openFolder(parsePath(args.path, context.workingDirectory), context);
    checkShown(identifyFolder(folder), args.path, context);
    await search.run(folder);
    return {
      path: args.path,
      matches: search.matches,
      skipped: search.skipped,
      omitted: search.omitted,
      truncated: search.stoppedBy !== 'end',
      stopped_by: search.stoppedBy,
    };
  },
  summarize: (_, output) => `${spellCount(output.matches.length, 'match', 'matches')}, ${output.omitted} omitted`,
});

function compileQuery(args: SearchArguments): Query {
  const options = { caseSensitive: args.case_sensitive };
  const { name = '**', content } = args;
  const matchesName = compileGlob(name, options);
  const compileContent = args.regex ? compileExpression : compileLiteral;
  return {
    matchesFile: (entry) => matchesName(name.includes('/') ? entry.relativePath : entry.name),
    ...(content !== undefined && { matchesLine: compileContent(content, options) }),
    includeHidden: args.include_hidden,
    maxResults: args.max_results,
  };
}
