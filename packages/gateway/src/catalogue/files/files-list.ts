import { spellCount } from '@sallyport/contract';
import { lstatSync } from 'node:fs';
import { openFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { checkShown } from '../../call/check-shown.ts';
import { defineFileTool, objectSchema, pathSchema } from './define-file-tool.ts';
import { identifyFolder } from './tree/identify-entries.ts';
import { looksInto } from './tree/judge-first.ts';
import { kindOf } from './tree/read-entries.ts';
import type { EntryKind } from './tree/read-entries.ts';
import { FolderWalk } from './tree/walk-folder.ts';
import type { WalkedEntry } from './tree/walk-folder.ts';

interface ListArguments {
  readonly path: string;
  readonly recursive: boolean;
  readonly max_entries: number;
  readonly include_hidden: boolean;
}

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
  confirmation: 'never',
  mutates: false,
  idempotent: true,
  timeoutMs: 10_000,
  examples: [{ path: '.' }, { path: '.', recursive: true, max_entries: 200 }],
  inputSchema: objectSchema({
    path: pathSchema('The folder to list.', { default: '.' }),
    recursive: { type: 'boolean', default: false, description: 'Whether to list the folders inside it as well.' },
    max_entries: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 1000,
      description: 'The most entries to return.',
    },
    include_hidden: {
      type: 'boolean',
      default: false,
      description: 'Whether to list entries whose name starts with a dot.',
    },
  }),
  outputSchema: objectSchema({
    path: { type: 'string', description: 'The path as it was given.' },
    entries: {
      type: 'array',
      description: 'The entries; a folder comes before its contents.',
      items: objectSchema({
        path: { type: 'string', description: 'The path from the listed folder.' },
        kind: { type: 'string', enum: ['file', 'folder', 'link', 'other'], description: 'What the entry is.' },
        size: { type: 'integer', minimum: 0, description: 'Size in bytes; 0 for anything but files.' },
        modified: { type: 'string', description: 'When it was last changed (ISO 8601, UTC).' },
      }),
    },
    hidden: {
      type: 'integer',
      minimum: 0,
      description: 'How many entries were left out because their name starts with a dot.',
    },
    omitted: { type: 'integer', minimum: 0, description: 'How many entries the rules keep back.' },
    truncated: { type: 'boolean', description: 'Whether there are more entries than were returned.' },
  }),
  subject: (args: ListArguments) => args.path,
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
