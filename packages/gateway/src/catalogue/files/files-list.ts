import { spellCount } from '@sallyport/contract';
import { lstatSync } from 'node:fs';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkShown } from '../../call/check-shown.ts';
import { defineFileTool } from './define-file-tool.ts';
import { identifyFolder } from './tree/identify-entries.ts';
import { looksInto } from './tree/judge-first.ts';
import { kindOf } from './tree/read-entries.ts';
import type { EntryKind } from './tree/read-entries.ts';
import { FolderWalk } from './tree/walk-folder.ts';
import type { WalkedEntry } from './tree/walk-folder.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface ListedEntry {
  readonly [key: string]: string | number;
  readonly path: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly modified: string;
}

export const filesList = defineFileTool({
  name: 'files.list',
  aliases: ['list_directory', 'files.list_dir'],
  description:
    'List the entries of a folder, sorted by name, with kind, size and time of the last change. Links are listed and not followed.',
  risk: 'low',
  timeoutMs: 10_000,
  examples: [{ path: '.' }, { path: '.', recursive: true, max_entries: 200 }],
  inputSchema: schema.object({
    path: schema.path('The folder to list.', { default: '.' }),
    recursive: schema.flag('Whether to list the folders inside it as well.'),
    max_entries: schema.integer('The most entries to return.', { minimum: 1, maximum: 10_000, default: 1000 }),
    include_hidden: schema.flag('Whether to list entries whose name starts with a dot.'),
  }),
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    entries: schema.array(
      'The entries; a folder comes before its contents.',
      schema.object({
        path: schema.string('The path from the listed folder.'),
        kind: schema.choice('What the entry is.', ['file', 'folder', 'link', 'other']),
        size: schema.count('Size in bytes; 0 for anything but files.'),
        modified: schema.string('When it was last changed (ISO 8601, UTC).'),
      }),
    ),
    hidden: schema.count('How many entries were left out because their name starts with a dot.'),
    omitted: schema.count('How many entries the rules keep back.'),
    truncated: schema.boolean('Whether there are more entries than were returned.'),
  }),
  subject: (args) => args.path,
  claim: (args, session) => ({
    paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'read' }],
  }),
  preview: (args, context) => looksInto(args.path, `List ${args.path}`, context),
  run: async (args, context) => {
    using folder = openFolder(parsePath(args.path, context.workingDirectory), context);
    checkShown(identifyFolder(folder), args.path, context);
    const walk = new FolderWalk(context, {
      access: 'read',
      recursive: args.recursive,
      includeHidden: args.include_hidden,
    });
    const entries: ListedEntry[] = [];
    let truncated = false;
    for await (const found of walk.entries(folder)) {
      truncated = entries.length === args.max_entries;
      if (truncated) break;
      const entry = describeEntry(found);
      if (entry === undefined) walk.omitted++;
      else entries.push(entry);
    }
    return {
      path: args.path,
      entries,
      hidden: walk.hidden,
      omitted: walk.omitted,
      truncated: truncated || walk.cut,
    };
  },
  summarize: (_, output) =>
    `${spellCount(output.entries.length, 'entry', 'entries')} listed, ${output.omitted} omitted`,
});

/** Absent: it was removed since the folder was read, or its name is not UTF-8 and so cannot be asked for. */
function describeEntry({ folder, name, relativePath }: WalkedEntry): ListedEntry | undefined {
  const stats = lstatSync(folder.entry(name), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const kind = kindOf(stats);
  return { path: relativePath, kind, size: kind === 'file' ? stats.size : 0, modified: stats.mtime.toISOString() };
}
