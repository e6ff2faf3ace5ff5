import { spellCount } from '@sallyport/contract';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { compileExpression, compileGlob, compileLiteral } from './compile-pattern.ts';
import { checkShown } from '../../call/check-shown.ts';
import { defineFileTool } from './define-file-tool.ts';
import { identifyFolder } from './tree/identify-entries.ts';
import { looksInto } from './tree/judge-first.ts';
import { maxShownChars, stops, TreeSearch } from './tree/search-tree.ts';
import type { Query } from './tree/search-tree.ts';
import * as schema from '../../registry/schemas/schema.ts';

const inputSchema = schema.object(
  {
    path: schema.path('The folder to search.', { default: '.' }),
    name: schema.string(
      'A glob such as *.ts or *.{js,ts}. With a slash it is matched against the path from the searched folder (src/**/*.ts), without one against the name.',
      { minLength: 1, maxLength: 500 },
    ),
    content: schema.string('Text that a line must contain.', { minLength: 1, maxLength: 500 }),
    regex: schema.flag('Whether content is a regular expression (RE2 syntax: no backreferences, no lookaround).'),
    case_sensitive: schema.boolean('Whether upper and lower case differ.', { default: true }),
    max_results: schema.integer('The most matches to return.', { minimum: 1, maximum: 1000, default: 100 }),
    include_hidden: schema.flag('Whether to look into files and folders whose name starts with a dot.'),
  },
  { optional: ['name', 'content'], anyOf: [{ required: ['name'] }, { required: ['content'] }] },
);
type SearchArguments = schema.ValueOf<typeof inputSchema>;

export const filesSearch = defineFileTool({
  name: 'files.search',
  aliases: ['search_files'],
  description:
    'Find files below a folder by name, by content, or by both. Content is matched line by line in UTF-8 text files of up to 4 MB; links are not followed.',
  risk: 'low',
  timeoutMs: 10_000,
  examples: [
    { path: 'src', content: 'TODO' },
    { path: '.', name: '*.{ts,tsx}' },
  ],
  inputSchema,
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    matches: schema.array(
      'The files found, or with content the lines found, in the order of their paths.',
      schema.object(
        {
          path: schema.string('The path from the searched folder.'),
          line: schema.integer('The number of the line.', { minimum: 1 }),
          text: schema.string(`The line, or its first ${maxShownChars} characters.`),
        },
        { optional: ['line', 'text'] },
      ),
    ),
    skipped: schema.count('Files not read: not text, or larger than 4 MB.'),
    omitted: schema.count('How many entries the rules keep back.'),
    truncated: schema.boolean('Whether the search ended before it had seen everything.'),
    stopped_by: schema.choice(
      'Why the search ended: end of the tree, max_results, its time limit, or a tree that is too large.',
      stops,
    ),
  }),
  subject: (args) => args.path,
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
