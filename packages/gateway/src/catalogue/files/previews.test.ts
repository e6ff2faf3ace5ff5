import assert from 'node:assert/strict';
import { linkSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import type { AnyTool, PathJudge } from '../../call/tool.ts';
import { filesDelete } from './files-delete.ts';
import { filesEdit } from './files-edit.ts';
import { filesEnsureDir } from './files-ensure-dir.ts';
import { filesList } from './files-list.ts';
import { filesMoveGlob } from './files-move-glob.ts';
import { filesRead } from './files-read.ts';
import { filesSearch } from './files-search.ts';
import { filesWrite } from './files-write.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

/** What the run of each refuses, in a workspace with links that lead out, and with a folder that must not be made. */
const refused: readonly [string, AnyTool, JsonObject][] = [
  ['a folder that must not be made', filesWrite, { path: '.closed/a.txt', content: '', create_parents: true }],
  ['a folder on the way', filesWrite, { path: 'new/.closed/deep/a.txt', content: '', create_parents: true }],
  ['a folder on the way to another', filesEnsureDir, { path: 'new/.closed/deep' }],
  ['a write through a link', filesWrite, { path: 'link/a.txt', content: '' }],
  ['new folders behind a link', filesWrite, { path: 'link/new/a.txt', content: '', create_parents: true }],
  ['an edit of a file with a second name', filesEdit, { path: 'twin.txt', old_content: 'x', new_content: 'y' }],
  ['a deletion of a folder that holds what must stay', filesDelete, { path: 'mixed', recursive: true }],
  ['a move through a link', filesMoveGlob, { from: 'link', patterns: ['*'], to: 'mixed' }],
  ['reading through a link', filesRead, { path: 'link/secret.txt' }],
  ['listing through a link', filesList, { path: 'link' }],
  ['searching through a link', filesSearch, { path: 'link', name: '*' }],
];

for (const [what, tool, args] of refused) {
  test(`nobody is asked about what the tool itself refuses: ${what}`, async () => {
    using workspace = new TestWorkspace();
    symlinkSync(workspace.outside, workspace.at('link'));
    workspace.put('mixed/a.txt');
    workspace.put('mixed/forbidden.txt');
    linkSync(workspace.put('twin.txt', 'x'), join(workspace.outside, 'twin.txt'));
    const before = readdirSync(workspace.path, { recursive: true });
    const paths = closing(workspace.context.paths);
    const inPreview = await codeOf(workspace.preview(tool, args, { paths }));
    assert.deepEqual(readdirSync(workspace.path, { recursive: true }), before);
    const inRun = await codeOf(workspace.call(tool, args, { paths }));
    assert.deepEqual(readdirSync(workspace.path, { recursive: true }), before);
    assert.notEqual(inRun, undefined);
    assert.equal(inPreview, inRun);
  });
}

/** As with the folder of an agent client: what is in it may be changed, but it may not be made or moved itself. */
function closing({ judge }: PathJudge): PathJudge {
  const refusal = refuse('PROTECTED_PATH', 'protected-path', 'No rule opens it.');
  return { judge: (path, access) => (path.endsWith('/.closed') && access === 'write' ? refusal : judge(path, access)) };
}

async function codeOf(attempt: Promise<unknown>): Promise<string | undefined> {
  let found: string | undefined;
  await assert.rejects(attempt, (error: { readonly refusal?: { readonly code: string } }) => {
    found = error.refusal?.code;
    return true;
  });
  return found;
}

test('a preview of reading tells nothing about what there is', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt');
  for (const path of ['a.txt', 'none.txt']) {
    assert.equal((await workspace.preview(filesRead, { path })).summary, `Read ${path}`);
  }
  await assert.rejects(workspace.call(filesRead, { path: 'none.txt' }), endsWith('NOT_FOUND'));
});
