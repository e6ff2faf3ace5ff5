import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { FileExchanger } from '../../../../../test/harness/exchange-files.ts';
import { requirement } from '../../../../../test/requirement.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { filesDelete } from './files-delete.ts';
import { filesEdit } from './files-edit.ts';
import { filesMoveGlob } from './files-move-glob.ts';
import { filesWrite } from './files-write.ts';
import { TestWorkspace } from './test-workspace.ts';

const raceMs = 800;
const [shownText, otherText] = ['was shown', 'must stay as it is'];

interface Race {
  readonly name: string;
  readonly tool: AnyTool;
  readonly args: JsonObject;
  readonly inFolder?: true;
  /** What else is there. */
  readonly files?: Readonly<Record<string, string>>;
  /** All that is left of a success, in the workspace and in the trash. */
  readonly leaves: readonly string[];
  readonly trashOn?: string;
}

const deletion = { tool: filesDelete, args: { path: 'at/shown', recursive: true }, leaves: [shownText] };
const races: readonly Race[] = [
  { ...deletion, name: 'a deletion' },
  { ...deletion, name: 'a deletion with the trash on another file system', trashOn: '/dev/shm' },
  { ...deletion, name: 'a deletion of a folder', inFolder: true },
  {
    name: 'a write',
    tool: filesWrite,
    args: { path: 'at/shown', content: 'new' },
    leaves: ['new', shownText],
  },
  {
    name: 'an append',
    tool: filesWrite,
    args: { path: 'at/shown', content: ' and more', append: true },
    leaves: [shownText, `${shownText} and more`],
  },
  {
    name: 'an edit',
    tool: filesEdit,
    args: { path: 'at/shown', old_content: 's', new_content: 'S' },
    files: { 'at/shown': 'see' },
    leaves: ['See', 'see'],
  },
  {
    name: 'a move',
    tool: filesMoveGlob,
    args: { from: 'at', to: 'to', patterns: ['shown'] },
    leaves: [shownText],
  },
  {
    name: 'a move that replaces a file',
    tool: filesMoveGlob,
    args: { from: 'from', to: 'at', patterns: ['shown'], overwrite: true },
    files: { 'from/shown': 'new' },
    leaves: ['new', shownText],
  },
];

for (const { name, tool, args, inFolder, files = {}, leaves, trashOn } of races) {
  test(`${name} touches nothing but what was shown, whatever a program exchanges for it`, async () => {
    requirement('APPR-6');
    const trash = trashOn === undefined ? {} : { trashFolder: mkdtempSync(join(trashOn, 'sallyport-test-')) };
    using workspace = new TestWorkspace(trash);
    const { trashFolder } = workspace.context;
    const racer = new FileExchanger({
      shown: workspace.at('at/shown'),
      other: workspace.at('elsewhere/other'),
      go: join(workspace.outside, 'go'),
      longestWaitMs: 3,
    });
    const counts = { done: 0, refused: 0 };
    try {
      for (const end = Date.now() + raceMs; Date.now() < end;) {
        for (const entry of readdirSync(workspace.path)) rmSync(workspace.at(entry), { recursive: true });
        rmSync(trashFolder, { recursive: true, force: true });
        mkdirSync(trashFolder);
        mkdirSync(workspace.at('to'));
        const file = inFolder === undefined ? '' : '/inner/file';
        workspace.put(`at/shown${file}`, shownText);
        workspace.put(`elsewhere/other${file}`, otherText);
        for (const [path, text] of Object.entries(files)) workspace.put(path, text);
        const before = textsIn(workspace.path);
        // A person sees it as it is.
        const { basis = assert.fail() } = await workspace.preview(tool, args);
        const outcome = await racer.during(() => attempt(workspace, tool, args, basis));
        counts[outcome]++;
        const [after, trashed] = [textsIn(workspace.path), textsIn(trashFolder)];
        const where = `${outcome} ${JSON.stringify({ after, trashed })}`;
        assert.ok(!trashed.includes(otherText), `the other one was taken away: ${where}`);
        const wanted = outcome === 'done' ? [...leaves, otherText].sort() : before;
        assert.deepEqual([...after, ...(outcome === 'done' ? trashed : [])].sort(), wanted, where);
      }
    } finally {
      await racer.end();
      rmSync(trashFolder, { recursive: true, force: true });
    }
    assert.ok(counts.done + counts.refused > 0);
  });
}

/** As if a person had agreed to what has this basis. */
async function attempt(
  workspace: TestWorkspace,
  tool: AnyTool,
  args: JsonObject,
  shownBasis: string,
): Promise<'done' | 'refused'> {
  try {
    const { failed = [] } = (await workspace.call(tool, args, { shownBasis })) as { failed?: readonly unknown[] };
    return failed.length > 0 ? 'refused' : 'done';
  } catch (error) {
    // Gone or another one; and a caller that retries by itself is not told that it may succeed.
    const code = error instanceof ToolRefused ? error.refusal.code : error instanceof ToolFailure ? error.code : error;
    assert.match(String(code), /^(?:APPROVAL_MISMATCH|NOT_FOUND|UNSAFE_PATH|NO_MATCH|MULTIPLE_MATCHES)$/);
    return 'refused';
  }
}

function textsIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).sort();
}
