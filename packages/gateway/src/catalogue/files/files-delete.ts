import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import type { EntryState } from '../../call/journal.ts';
import { refuse } from '../../call/refusal.ts';
import { changeContext, ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { openEntryFolder, OpenFolder, pinPath } from '../../paths/open-path.ts';
import { openTarget, pinEntry } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { isWithin } from '@sallyport/sandbox';
import { changedMeanwhile, checkShown } from '../../call/check-shown.ts';
import { defineFileTool } from './define-file-tool.ts';
import { missingFile } from './missing-file.ts';
import { readState, TreeDigest } from './tree/entry-state.ts';
import { EntryIdentities, identify, identifyEntry, identifyFolder } from './tree/identify-entries.ts';
import { moveToTrash } from './tree/move-to-trash.ts';
import type { Inspect } from './tree/move-to-trash.ts';
import { FolderWalk } from './tree/walk-folder.ts';
import * as schema from '../../registry/schemas/schema.ts';

const wholeTree = { access: 'write', recursive: true, includeHidden: true } as const;

const inputSchema = schema.object({
  path: schema.path('The file or folder to delete.'),
  recursive: schema.flag(
    'Whether to delete a folder with everything in it. Without it only empty folders are deleted.',
  ),
});
type DeleteArguments = schema.ValueOf<typeof inputSchema>;

export const filesDelete = defineFileTool({
  name: 'files.delete',
  aliases: ['delete_file'],
  description: 'Delete a file or a folder. It goes to the trash of the gate. Deleting a link never deletes its target.',
  risk: 'critical',
  confirmation: 'always',
  mutates: true,
  requiresApproval: true,
  timeoutMs: 10_000,
  examples: [{ path: 'old.txt' }, { path: 'build', recursive: true }],
  undo: 'What was deleted is in the trash of the gate.',
  inputSchema,
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    trashed_as: schema.string('Its name in the trash.'),
    files: schema.count('How many files and links were deleted, folders not counted.'),
  }),
  subject: (args) => args.path,
  claim: (args, session) => {
    const { path } = parsePath(args.path, session.workingDirectory);
    if (isWithin(path, session.workingDirectory)) {
      const message = 'The working directory and the folders around it cannot be deleted.';
      throw new ToolRefused(refuse('UNSAFE_PATH', 'working-directory', message));
    }
    return { paths: [{ path, access: 'write' }] };
  },
  preview: async (args, context) => {
    using target = openTarget(parsePath(args.path, context.workingDirectory), context);
    const { files, listed, basis } = await takeStock(args, target, context);
    return {
      summary: `Delete ${makeVisibleLine(args.path)} (${files === 1 ? '1 file' : `${files} files`})`,
      detail: listed.map((path) => `${makeVisibleLine(path)}\n`).join(''),
      undoable: true,
      basis,
    };
  },
  run: async (args, context) => {
    using target = openTarget(parsePath(args.path, context.workingDirectory), context);
    const { files, stats, basis, tree, state } = await takeStock(args, target, context);
    checkShown(basis, args.path, context);
    const inspect: Inspect = async ({ path }) => {
      if (tree !== undefined && (await identifyTree(path, context)) !== tree) {
        throw changedMeanwhile(args.path, context);
      }
    };
    const before = state ?? (await readState(target.folder, target.name, context));
    const trashedAs = await moveToTrash(target, stats, inspect, before, context);
    return { path: args.path, trashed_as: trashedAs, files };
  },
  summarize: (_, output) => `${spellCount(output.files, 'file')} moved to the trash`,
});

interface Stock {
  readonly stats: BigIntStats;
  readonly files: number;
  readonly listed: readonly string[];
  readonly basis: string;
  /** Over everything in a folder. Absent: it is not a folder. */
  readonly tree?: string;
  /** Of a folder with entries. */
  readonly state?: EntryState;
}

/** Size and time are shown, so that a consent to delete one version does not delete the next. */
function describeFile(path: string, { size, mtimeNs }: BigIntStats): string {
  const changedAt = new Date(Number(mtimeNs / 1_000_000n)).toISOString();
  return `${path} (${size} bytes, changed ${changedAt})`;
}

/** What would be deleted. A folder goes as a whole or not at all, so one entry that must stay keeps all of it. */
async function takeStock(args: DeleteArguments, target: Target, context: ToolContext): Promise<Stock> {
  using pin = pinEntry(target.folder, target.name);
  if (pin === undefined) throw await missingFile(target.named, context);
  const stats = pin.statExactly();
  if (stats.isFile() || stats.isSymbolicLink()) {
    return { stats, files: 1, listed: [describeFile(args.path, stats)], basis: identify(stats) };
  }
  if (!stats.isDirectory()) throw new ToolFailure('NOT_A_FILE', `${args.path} is a device, pipe or socket.`);
  using folder = openEntryFolder(target.folder, target.name, 'write', context);
  const identities = new EntryIdentities();
  const digest = new TreeDigest();
  const walk = new FolderWalk(context, wholeTree);
  const listed: string[] = [];
  let files = 0;
  for await (const { folder: parent, name, kind, relativePath } of walk.entries(folder)) {
    if (!args.recursive) throw new ToolFailure('NOT_A_FILE', `${args.path} is a folder with entries; set recursive.`);
    identities.add(relativePath, identifyEntry(parent, name));
    digest.add(relativePath, parent, name);
    if (kind === 'folder') continue;
    files++;
    listed.push(join(args.path, relativePath));
  }
  if (walk.omitted > 0) {
    const message = `${args.path} holds ${spellCount(walk.omitted, 'entry', 'entries')} that must not be deleted.`;
    throw new ToolRefused(refuse('RULE_DENIES', 'folder-content', message));
  }
  if (walk.cut) throw new ToolFailure('TOO_LARGE', `${args.path} holds too much; delete it in parts.`);
  const tree = identities.digest();
  const state = digest.entries === 0 ? {} : { state: digest.state() };
  return { stats, files, listed, basis: `${identifyFolder(folder)} ${tree}`, tree, ...state };
}

/** As `takeStock` computes it, of a folder that is already ours: the rules were asked about all of it before. */
async function identifyTree(path: string, context: ToolContext): Promise<string> {
  using folder = new OpenFolder(pinPath(path, { followLinks: 'not-last', expect: 'folder' }));
  const walk = new FolderWalk(changeContext(context, { paths: { judge: () => undefined } }), wholeTree);
  const identities = new EntryIdentities();
  for await (const { folder: parent, name, relativePath } of walk.entries(folder)) {
    identities.add(relativePath, identifyEntry(parent, name));
  }
  return identities.digest();
}
