import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { ToolFailure } from '../../call/tool.ts';
import { SchemaCheck } from '../../registry/schemas/check-schema.ts';
import { filesWrite } from './files-write.ts';
import { endsWith, obeysModes, TestWorkspace } from './test-workspace.ts';

if (obeysModes()) {
  test('a new file is written, and its before-image says that there was none', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    const answer = await workspace.call(filesWrite, { path: 'a.txt', content: 'hällo' });
    const sha256 = hash('sha256', 'hällo');
    assert.deepEqual(answer, { path: 'a.txt', bytes: 6, created: true, sha256 });
    assert.equal(workspace.text('a.txt'), 'hällo');
    const [change, ...others] = workspace.changes;
    assert.deepEqual(others, []);
    assert.deepEqual([change?.path, change?.before], [workspace.at('a.txt'), { kind: 'absent' }]);
    assert.deepEqual(change?.after, { ...change?.after, kind: 'file', sha256, sizeBytes: 6 });
  });

  test('a file is replaced, and what it held is kept before the change can be seen', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    workspace.put('a.txt', 'old');
    let seen = '';
    const journal = async (...changes: typeof workspace.journaled): Promise<void> => {
      workspace.journaled.push(...changes);
      seen = workspace.text('a.txt');
    };
    const answer = await workspace.call(filesWrite, { path: 'a.txt', content: 'new' }, { journal });
    assert.deepEqual([answer['created'], workspace.text('a.txt'), seen], [false, 'new', 'old']);
    const [change] = workspace.journaled;
    assert.deepEqual(workspace.changes, [change]);
    assert.deepEqual(change?.before, { ...change?.before, kind: 'file', sha256: hash('sha256', 'old') });
    assert.deepEqual(change?.after, { ...change?.after, kind: 'file', sha256: hash('sha256', 'new') });
    assert.equal(workspace.keptText(change), 'old');
    assert.ok(change?.kept?.startsWith(workspace.context.callId));
  });

  test('a kept before-image does not change when the former file is changed through an open descriptor', async () => {
    using workspace = new TestWorkspace();
    const fd = openSync(workspace.put('a.txt', 'old'), 'r+');
    await workspace.call(filesWrite, { path: 'a.txt', content: 'new' });
    writeSync(fd, 'bad');
    closeSync(fd);
    assert.equal(workspace.keptText(workspace.changes[0]), 'old');
  });

  test('append adds to the end, and makes a file that is not there', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    const first = await workspace.call(filesWrite, { path: 'log', content: 'one\n', append: true });
    const second = await workspace.call(filesWrite, { path: 'log', content: 'two\n', append: true });
    assert.deepEqual([first['created'], second['created'], second['bytes']], [true, false, 4]);
    assert.equal(workspace.text('log'), 'one\ntwo\n');
    assert.equal(second['sha256'], hash('sha256', 'one\ntwo\n'));
  });

  test('create_only leaves a file that exists as it is', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    await workspace.call(filesWrite, { path: 'a.txt', content: 'first', create_only: true });
    const again = workspace.call(filesWrite, { path: 'a.txt', content: 'second', create_only: true });
    await assert.rejects(again, endsWith('ALREADY_EXISTS'));
    assert.equal(workspace.text('a.txt'), 'first');
  });

  test('of many concurrent create_only calls exactly one succeeds', async () => {
    using workspace = new TestWorkspace();
    const calls = Array.from({ length: 20 }, (_, index) =>
      workspace.call(filesWrite, { path: 'a.txt', content: `${index}`, create_only: true }),
    );
    const winners = (await Promise.allSettled(calls)).flatMap((result, index) =>
      result.status === 'fulfilled' ? [index] : [],
    );
    assert.equal(winners.length, 1);
    assert.equal(workspace.text('a.txt'), `${winners[0]}`);
  });

  test('create_only together with append violates the schema', () => {
    const check = new SchemaCheck(filesWrite.definition.inputSchema, 'arguments');
    const args = { path: 'a', content: '' };
    assert.notDeepEqual(check.check({ ...args, create_only: true, append: true }), []);
    for (const one of [{ create_only: true }, { append: true }, {}])
      assert.deepEqual(check.check({ ...args, ...one }), []);
  });

  test('the mode of a replaced file stays, without setuid bits', async () => {
    using workspace = new TestWorkspace();
    chmodSync(workspace.put('run.sh', 'old'), 0o4755);
    chmodSync(workspace.put('private', 'old'), 0o600);
    await workspace.call(filesWrite, { path: 'run.sh', content: 'new' });
    await workspace.call(filesWrite, { path: 'private', content: 'x', append: true });
    assert.equal(statSync(workspace.at('run.sh')).mode & 0o7777, 0o755);
    assert.equal(statSync(workspace.at('private')).mode & 0o7777, 0o600);
  });

  test('a long text is written whole, also where a piece of it ends within a character', async () => {
    using workspace = new TestWorkspace();
    // The characters take two units each, and begin at an odd place, so that one is cut by any piece of even length.
    const text = `a${'😀'.repeat(600_000)}é`;
    await workspace.call(filesWrite, { path: 'long.txt', content: text });
    assert.equal(workspace.text('long.txt'), text);
    const bytes = Buffer.alloc(1_600_001, 7);
    await workspace.call(filesWrite, { path: 'long.bin', content: bytes.toString('base64'), encoding: 'base64' });
    assert.ok(readFileSync(workspace.at('long.bin')).equals(bytes));
    // A fault far behind the first piece: nothing of it is written.
    const spoilt = `${'A'.repeat(1_000_000)}!AAA`;
    const call = workspace.call(filesWrite, { path: 'spoilt.bin', content: spoilt, encoding: 'base64' });
    await assert.rejects(call, endsWith('INVALID_ARGUMENTS'));
    const early = `AA==${'A'.repeat(1_000_000)}`;
    await assert.rejects(
      workspace.call(filesWrite, { path: 'spoilt.bin', content: early, encoding: 'base64' }),
      endsWith('INVALID_ARGUMENTS'),
    );
    assert.ok(!readdirSync(workspace.at('.')).includes('spoilt.bin'));
  });

  test('base64 content is written as bytes, and anything else than base64 is refused', async () => {
    using workspace = new TestWorkspace();
    await workspace.call(filesWrite, { path: 'a.bin', content: '/wCA', encoding: 'base64' });
    assert.deepEqual(readFileSync(workspace.at('a.bin')), Buffer.from([0xff, 0x00, 0x80]));
    for (const content of ['/wC', 'a-_b', 'a b=', '====']) {
      const call = workspace.call(filesWrite, { path: 'b.bin', content, encoding: 'base64' });
      await assert.rejects(call, endsWith('INVALID_ARGUMENTS'));
    }
  });

  test('missing folders are made only when asked for, and judged one by one', async () => {
    using workspace = new TestWorkspace();
    const args = { path: 'a/b/c.txt', content: 'x' };
    await assert.rejects(workspace.call(filesWrite, args), endsWith('NOT_FOUND', /create_parents/));
    await workspace.call(filesWrite, { ...args, create_parents: true });
    assert.equal(workspace.text('a/b/c.txt'), 'x');
    assert.deepEqual(
      workspace.changes.map(({ path, before }) => [path, before.kind]),
      ['a', 'a/b', 'a/b/c.txt'].map((name) => [workspace.at(name), 'absent']),
    );
  });

  test('what the gate may not write by its mode is not replaced either', async () => {
    using workspace = new TestWorkspace();
    chmodSync(workspace.put('read-only', 'old'), 0o444);
    mkdirSync(workspace.at('closed'), { mode: 0o500 });
    for (const path of ['read-only', 'closed/new']) {
      const call = workspace.call(filesWrite, { path, content: 'new' });
      await assert.rejects(call, (error: ToolFailure) => {
        endsWith('EXECUTION_ERROR', /file mode/)(error);
        assert.equal(error.category, 'permission_denied');
        return true;
      });
    }
    assert.equal(workspace.text('read-only'), 'old');
  });
}

test('a large file is written and appended to whole', async () => {
  using workspace = new TestWorkspace();
  const content = 'large '.repeat(500_000);
  await workspace.call(filesWrite, { path: 'a.txt', content });
  const { sha256 } = await workspace.call(filesWrite, { path: 'a.txt', content, append: true });
  assert.equal(workspace.text('a.txt'), content + content);
  assert.equal(sha256, hash('sha256', content + content));
});

test('after a failure nothing has changed and nothing is left behind', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'old');
  const controller = new AbortController();
  const content = 'x'.repeat(30_000_000);
  const call = workspace.call(filesWrite, { path: 'a.txt', content }, { signal: controller.signal });
  controller.abort(new DOMException('late', 'TimeoutError'));
  await assert.rejects(call, endsWith('TIMEOUT'));
  assert.equal(workspace.text('a.txt'), 'old');
  assert.deepEqual(readdirSync(workspace.path), ['a.txt']);
  assert.deepEqual(workspace.changes, []);
});

test('a full disk is DISK_FULL, and the file is as it was', async () => {
  using workspace = new TestWorkspace();
  const small = workspace.at('small');
  mkdirSync(small);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
  assert.equal(mounted.status, 0, 'this test needs the right to mount');
  try {
    workspace.put('small/a.txt', 'old');
    const call = workspace.call(filesWrite, { path: 'small/a.txt', content: 'x'.repeat(200_000) });
    await assert.rejects(call, endsWith('DISK_FULL'));
    assert.equal(workspace.text('small/a.txt'), 'old');
    assert.deepEqual(readdirSync(small), ['a.txt']);
  } finally {
    spawnSync('umount', [small]);
  }
});

test('a change by another program while a write runs is kept and reported', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'old');
  const countUsage = () => void workspace.put('a.txt', 'theirs');
  const call = workspace.call(filesWrite, { path: 'a.txt', content: 'mine' }, { countUsage });
  await assert.rejects(call, endsWith('FILE_CHANGED'));
  assert.equal(workspace.text('a.txt'), 'theirs');
  assert.deepEqual(readdirSync(workspace.path), ['a.txt']);
});

test('a file that another program makes while a write runs is kept and reported', async () => {
  using workspace = new TestWorkspace();
  const countUsage = () => void workspace.put('a.txt', 'theirs');
  const call = workspace.call(filesWrite, { path: 'a.txt', content: 'mine' }, { countUsage });
  await assert.rejects(call, endsWith('FILE_CHANGED'));
  assert.equal(workspace.text('a.txt'), 'theirs');
});

test('the preview is a diff, and changes nothing', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'one\ntwo\n');
  const effect = await workspace.preview(filesWrite, { path: 'a.txt', content: 'one\n2\n' });
  assert.equal(effect.detail, '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n');
  assert.equal(effect.undoable, true);
  const created = await workspace.preview(filesWrite, { path: 'new/b.txt', content: 'x\n', create_parents: true });
  assert.match(created.summary, /^Create new\/b\.txt/);
  assert.deepEqual(readdirSync(workspace.path), ['a.txt']);
});

test('the preview of bytes that are no text shows sizes and hashes', async () => {
  using workspace = new TestWorkspace();
  const { detail } = await workspace.preview(filesWrite, {
    path: 'a.bin',
    content: '/w==',
    encoding: 'base64',
  });
  assert.match(detail, /before: no file\nafter: 1 byte, SHA-256 [0-9a-f]{64}\n/);
});

test('stored content is written by its hash, whatever its size', async () => {
  using workspace = new TestWorkspace();
  const bytes = Buffer.alloc(2_500_000, 'content ');
  const { hash: stored } = await workspace.content.keep(Readable.from([bytes]));
  const written = await workspace.call(filesWrite, { path: 'a.bin', content_hash: stored });
  assert.deepEqual([written['bytes'], written['created']], [bytes.length, true]);
  assert.ok(readFileSync(workspace.at('a.bin')).equals(bytes));
  await workspace.call(filesWrite, { path: 'a.bin', content_hash: stored, append: true });
  assert.equal(readFileSync(workspace.at('a.bin')).length, 2 * bytes.length);

  const effect = await workspace.preview(filesWrite, { path: 'a.bin', content_hash: stored });
  assert.equal(effect.detail.match(/content /g)?.length, (3 * bytes.length) / 8);

  const large = await workspace.content.keep(
    Readable.from(Array.from({ length: 17 }, () => Buffer.alloc(1024 * 1024))),
  );
  const unshown = await workspace.preview(filesWrite, { path: 'a.bin', content_hash: large.hash });
  assert.equal(unshown.unshown?.bytes, 17 * 1024 * 1024);
});

test('content that the caller may not use leaves the file as it was', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'old');
  const call = workspace.call(filesWrite, { path: 'a.txt', content_hash: '0'.repeat(64) });
  await assert.rejects(call, endsWith('NOT_FOUND'));
  assert.equal(workspace.text('a.txt'), 'old');
});

test('a write has one source: the content itself or its hash', async () => {
  using workspace = new TestWorkspace();
  const zeros = '0'.repeat(64);
  for (const args of [{ path: 'a.txt' }, { path: 'a.txt', content: 'x', content_hash: zeros }]) {
    await assert.rejects(workspace.call(filesWrite, args), endsWith('INVALID_ARGUMENTS', /not both/));
  }
});
