import { makeVisibleLine, spellCount } from '@sallyport/contract';
import { dirname } from 'node:path';
import type { ToolContext } from '../../call/tool.ts';
import { checkOpened } from '../../paths/open-path.ts';
import { openFolderToChange } from '../../paths/open-to-change.ts';
import { parsePath, spellLike } from '../../paths/parse-path.ts';
import type { NamedPath } from '../../paths/parse-path.ts';
import { checkShown } from '../../call/check-shown.ts';
import { checkSignal } from './check-signal.ts';
import { defineFileTool } from './define-file-tool.ts';
import { syncFolder } from './file-bytes.ts';
import { findMissingFolders, journalFolders } from './tree/missing-folders.ts';
import * as schema from '../../registry/schemas/schema.ts';

export const filesEnsureDir = defineFileTool({
  name: 'files.ensure_dir',
  aliases: ['ensure_dir', 'create_directory'],
  description: 'Make sure that a folder exists. Creates it and any missing parent folders.',
  risk: 'medium',
  confirmation: 'if_destructive',
  mutates: true,
  idempotent: true,
  timeoutMs: 10_000,
  examples: [{ path: 'build/reports' }],
  undo: 'The gate remembers which folders it created.',
  inputSchema: schema.object({ path: schema.path('The folder to create, unless it exists.') }),
  outputSchema: schema.object({
    path: schema.string('The path as it was given.'),
    created: schema.array('The folders that were created, outermost first; empty if all existed.', { type: 'string' }),
  }),
  subject: (args) => args.path,
  claim: (args, session) => ({
    paths: [{ path: parsePath(args.path, session.workingDirectory).path, access: 'write' }],
  }),
  preview: (args, context) => {
    const named = parsePath(args.path, context.workingDirectory);
    const missing = spellLast(named, findMissingFolders(named, context).length, context);
    return {
      summary:
        missing.length === 0
          ? `Nothing: ${makeVisibleLine(args.path)} exists`
          : `Make the folder ${makeVisibleLine(args.path)}`,
      detail: missing.map((path) => `${makeVisibleLine(path)}\n`).join(''),
      undoable: true,
      basis: `${missing.length} folders`,
    };
  },
  run: async (args, context) => {
    const named = parsePath(args.path, context.workingDirectory);
    let made = 0;
    // All or none of them is made.
    const missing = findMissingFolders(named, context);
    checkShown(`${missing.length} folders`, args.path, context);
    const noteMade = await journalFolders(missing, context);
    checkSignal(context.signal);
    using folder = openFolderToChange(named, context, (path) => {
      noteMade(path);
      made++;
    });
    checkOpened(folder.realPath, 'write', named, context);
    if (made > 0) await syncFolder(folder);
    return { path: args.path, created: spellLast(named, made, context) };
  },
  summarize: (_, output) => `${spellCount(output.created.length, 'folder')} made`,
});

/** The last folders of a path, outermost first: what is missing is always the end of it. */
function spellLast(named: NamedPath, count: number, context: ToolContext): readonly string[] {
  const paths: string[] = [];
  for (let { path } = named; paths.length < count; path = dirname(path)) {
    paths.unshift(spellLike(named, path, context.workingDirectory));
  }
  return paths;
}
