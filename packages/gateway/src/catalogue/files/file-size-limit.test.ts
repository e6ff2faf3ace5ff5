import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { noGrants } from '../../call/verdict.ts';
import { filesEdit } from './files-edit.ts';
import { filesRead } from './files-read.ts';
import { filesSearch } from './files-search.ts';
import { filesWrite } from './files-write.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

const limit = 10;
const grants = { ...noGrants, limits: { fileBytes: limit } };
const tooLarge = endsWith('RULE_DENIES', /the rules allow files of 10 bytes here/);

/** The call is refused when it runs, and before that when a person would be asked about it. */
async function assertRefused(workspace: TestWorkspace, tool: AnyTool, args: JsonObject): Promise<void> {
  await assert.rejects(workspace.call(tool, args, { grants }), tooLarge);
  await assert.rejects(workspace.preview(tool, args, { grants }), tooLarge);
}

test('a file above the size that the rules allow is not read, not even a part of it', async () => {
  using workspace = new TestWorkspace();
  workspace.put('small.txt', 'x'.repeat(limit));
  workspace.put('large.txt', 'x'.repeat(limit + 1));
  let bytesRead = 0;
  const countUsage = (usage: { readonly bytesRead?: number }) => void (bytesRead += usage.bytesRead ?? 0);
  assert.equal((await workspace.call(filesRead, { path: 'small.txt' }, { grants }))['bytes'], limit);
  for (const args of [{ path: 'large.txt' }, { path: 'large.txt', limit: 1 }, { path: 'large.txt', offset: 8 }]) {
    await assert.rejects(workspace.call(filesRead, args, { grants, countUsage }), tooLarge);
  }
  await assertRefused(workspace, filesRead, { path: 'large.txt' });
  assert.equal(bytesRead, 0);
});

test('max_size_mb of a read remains, whatever the rules allow', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'x'.repeat(2000));
  const call = workspace.call(filesRead, { path: 'a.txt', max_size_mb: 0.001 });
  await assert.rejects(call, endsWith('TOO_LARGE', /max_size_mb/));
});

test('what would make a file too large is not written: given, stored or appended, and no folder is made for it', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', '12345');
  const { hash: stored } = await workspace.content.keep(Readable.from([Buffer.alloc(limit + 1, 'y')]));
  for (const args of [
    { path: 'a.txt', content: 'x'.repeat(limit + 1) },
    { path: 'new/a.txt', content: 'x'.repeat(limit + 1), create_parents: true },
    { path: 'a.txt', content_hash: stored },
    { path: 'new/a.txt', content_hash: stored, create_parents: true },
    { path: 'a.txt', content: '678901', append: true },
  ]) {
    await assertRefused(workspace, filesWrite, args);
  }
  assert.equal(workspace.text('a.txt'), '12345');
  assert.deepEqual(readdirSync(workspace.path), ['a.txt']);
  assert.deepEqual(workspace.changes, []);
  await workspace.call(filesWrite, { path: 'a.txt', content: '67890', append: true }, { grants });
  assert.equal(workspace.text('a.txt'), '1234567890');
});

test('a file that is too large is not edited, and neither is one that would become so', async () => {
  using workspace = new TestWorkspace();
  workspace.put('large.txt', 'a'.repeat(limit) + 'b');
  workspace.put('a.txt', '12345');
  await assertRefused(workspace, filesEdit, { path: 'large.txt', old_content: 'b', new_content: '' });
  await assertRefused(workspace, filesEdit, { path: 'a.txt', old_content: '5', new_content: '5678901' });
  assert.equal(workspace.text('a.txt'), '12345');
  await workspace.call(filesEdit, { path: 'a.txt', old_content: '5', new_content: '567890' }, { grants });
  assert.equal(workspace.text('a.txt'), '1234567890');
});

test('a search leaves out the text of files that are too large, and counts them', async () => {
  using workspace = new TestWorkspace();
  workspace.put('small.txt', 'needle');
  workspace.put('large.txt', 'needle in hay');
  const found = await workspace.call(filesSearch, { path: '.', content: 'needle' }, { grants });
  assert.deepEqual(
    [(found['matches'] as { path: string }[]).map(({ path }) => path), found['skipped']],
    [['small.txt'], 1],
  );
});
