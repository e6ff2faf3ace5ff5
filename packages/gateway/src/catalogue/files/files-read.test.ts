import assert from 'node:assert/strict';
import { chmodSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { filesRead } from './files-read.ts';
import { endsWith, obeysModes, TestWorkspace } from './test-workspace.ts';

if (obeysModes()) {
  test('a text file is read whole', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    workspace.put('a.txt', 'grün\n');
    assert.deepEqual(await workspace.call(filesRead, { path: 'a.txt' }), {
      path: 'a.txt',
      content: 'grün\n',
      encoding: 'utf-8',
      size: 6,
      offset: 0,
      bytes: 6,
      truncated: false,
    });
  });

  test('an absolute path, doubled slashes and dots name the same file', async () => {
    using workspace = new TestWorkspace();
    workspace.put('sub/a.txt', 'x');
    for (const path of [workspace.at('sub/a.txt'), './sub//a.txt', 'sub/./a.txt', 'sub/a.txt/']) {
      assert.equal((await workspace.call(filesRead, { path }))['content'], 'x');
    }
  });

  test('an empty file is empty text', async () => {
    using workspace = new TestWorkspace();
    workspace.put('a.txt');
    const { content, bytes, truncated } = await workspace.call(filesRead, { path: 'a.txt' });
    assert.deepEqual({ content, bytes, truncated }, { content: '', bytes: 0, truncated: false });
  });

  test('offset and limit choose a part, and truncated says whether more follows', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    workspace.put('a.txt', '0123456789');
    const middle = await workspace.call(filesRead, { path: 'a.txt', offset: 2, limit: 3 });
    assert.equal(middle['content'], '234');
    assert.equal(middle['truncated'], true);
    const end = await workspace.call(filesRead, { path: 'a.txt', offset: 8, limit: 5 });
    assert.equal(end['content'], '89');
    assert.equal(end['truncated'], false);
    const beyond = await workspace.call(filesRead, { path: 'a.txt', offset: 99 });
    assert.deepEqual([beyond['content'], beyond['offset'], beyond['truncated']], ['', 10, false]);
  });

  test('reading on from the end of each part gives the whole text, wherever the cuts fall', async () => {
    using workspace = new TestWorkspace();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, limit) => {
          workspace.put('a.txt', text);
          let read = '';
          for (let offset = 0; ;) {
            const part = await workspace.call(filesRead, { path: 'a.txt', offset, limit });
            assert.equal(part['offset'], offset);
            read += part['content'] as string;
            offset += Number(part['bytes']);
            if (part['truncated'] === false) break;
            assert.ok(Number(part['bytes']) > 0);
          }
          assert.equal(read, text);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('an offset inside a character starts at the next one and says so', async () => {
    using workspace = new TestWorkspace();
    workspace.put('a.txt', 'a€b');
    const part = await workspace.call(filesRead, { path: 'a.txt', offset: 2 });
    assert.deepEqual([part['content'], part['offset'], part['bytes']], ['b', 4, 1]);
  });

  test('content that is not UTF-8 is refused as text and returned as base64', async () => {
    using workspace = new TestWorkspace();
    const bytes = Buffer.from([0x41, 0xff, 0x00, 0x80]);
    workspace.put('a.bin', bytes);
    await assert.rejects(workspace.call(filesRead, { path: 'a.bin' }), endsWith('NOT_TEXT', /base64/));
    const answer = await workspace.call(filesRead, { path: 'a.bin', encoding: 'base64' });
    assert.equal(answer['content'], bytes.toString('base64'));
    const part = await workspace.call(filesRead, { path: 'a.bin', encoding: 'base64', offset: 1, limit: 2 });
    assert.deepEqual(
      [part['content'], part['bytes'], part['truncated']],
      [bytes.subarray(1, 3).toString('base64'), 2, true],
    );
  });

  test('a character that the file itself leaves unfinished is not text', async () => {
    using workspace = new TestWorkspace();
    workspace.put('a.txt', Buffer.from('a€').subarray(0, 3));
    await assert.rejects(workspace.call(filesRead, { path: 'a.txt' }), endsWith('NOT_TEXT'));
  });

  test('a large file comes back whole', async () => {
    using workspace = new TestWorkspace();
    const content = 'ä'.repeat(700_000);
    workspace.put('large.txt', content);
    assert.equal((await workspace.call(filesRead, { path: 'large.txt' }))['content'], content);
  });

  test('more than max_size_mb is too large, and a part of it is not', async () => {
    requirement('CAT-1');
    using workspace = new TestWorkspace();
    truncateSync(workspace.put('sparse.bin'), 50 * 1024 ** 3);
    const path = 'sparse.bin';
    await assert.rejects(workspace.call(filesRead, { path }), endsWith('TOO_LARGE', /offset and limit/));
    await assert.rejects(workspace.call(filesRead, { path, limit: 1024 ** 3 }), endsWith('TOO_LARGE'));
    assert.equal((await workspace.call(filesRead, { path, offset: 49 * 1024 ** 3, limit: 4 }))['content'], '\0\0\0\0');
  });

  test('a claim of one gigabyte on a small file allocates no gigabyte', async () => {
    using workspace = new TestWorkspace();
    workspace.put('a.txt', 'small');
    const before = process.memoryUsage().arrayBuffers;
    let during = Infinity;
    // Reported while what was read is still in memory.
    const countUsage = () => void (during = process.memoryUsage().arrayBuffers);
    const answer = await workspace.call(filesRead, { path: 'a.txt', limit: 1024 ** 3 }, { countUsage });
    assert.equal(answer['content'], 'small');
    assert.ok(during - before < 64 * 1024 ** 2);
  });

  test('a missing file suggests near names, but only such as may be read', async () => {
    using workspace = new TestWorkspace();
    workspace.put('src/config.json');
    workspace.put('src/forbidden-config.json');
    workspace.put('src/confog.json\n');
    await assert.rejects(workspace.call(filesRead, { path: 'src/confg.json' }), (error: Error) => {
      endsWith('NOT_FOUND', /Nearest: src\/config\.json\.$/)(error);
      return true;
    });
  });

  test('what the caller did not name is in no message', async () => {
    using workspace = new TestWorkspace();
    workspace.put('file');
    for (const path of ['missing', 'file/below', 'missing/below']) {
      await assert.rejects(workspace.call(filesRead, { path }), (error: Error) => {
        assert.doesNotMatch(error.message, /\/tmp|\/proc|ENO/);
        return true;
      });
    }
  });

  test('a folder is not a file, and the answer says what to use', async () => {
    using workspace = new TestWorkspace();
    workspace.put('sub/a.txt');
    await assert.rejects(workspace.call(filesRead, { path: 'sub' }), endsWith('NOT_A_FILE', /files\.list/));
  });

  test('a file that is closed to the gate is permission denied', async () => {
    using workspace = new TestWorkspace();
    chmodSync(workspace.put('closed.txt', 'x'), 0);
    await assert.rejects(workspace.call(filesRead, { path: 'closed.txt' }), endsWith('EXECUTION_ERROR', /file mode/));
  });
}

test('a cancelled call stops reading a large file', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'x'.repeat(2_000_000));
  const signal = AbortSignal.abort();
  await assert.rejects(workspace.call(filesRead, { path: 'a.txt' }, { signal }), endsWith('CANCELLED'));
});

test('a file that grows while it is read is read up to the size it had', async () => {
  using workspace = new TestWorkspace();
  const path = workspace.put('a.txt', 'x'.repeat(2_000_000));
  const reading = workspace.call(filesRead, { path: 'a.txt' });
  writeFileSync(path, 'y'.repeat(1000), { flag: 'a' });
  const { bytes, size, truncated } = await reading;
  assert.deepEqual([bytes, size, truncated], [2_000_000, 2_000_000, false]);
});

test('what is larger than the caller wants in the answer is stored as it is, and named by its hash', async () => {
  using workspace = new TestWorkspace();
  const bytes = Buffer.alloc(3_000_001, 'é');
  workspace.put('large.bin', bytes);
  const args = { path: 'large.bin', encoding: 'base64', store_above_bytes: 1024 };
  const whole = await workspace.call(filesRead, args);
  const { content, content_hash: hash, bytes: length, truncated } = whole;
  assert.deepEqual([content, length, truncated], [undefined, bytes.length, false]);
  assert.ok(workspace.kept.get(String(hash))?.equals(bytes));

  const part = await workspace.call(filesRead, { ...args, offset: 5, limit: 2_000_000 });
  assert.deepEqual([part['offset'], part['bytes'], part['truncated']], [5, 2_000_000, true]);
  assert.ok(workspace.kept.get(String(part['content_hash']))?.equals(bytes.subarray(5, 2_000_005)));

  const small = await workspace.call(filesRead, { ...args, limit: 1024 });
  assert.equal(Buffer.from(String(small['content']), 'base64').length, 1024);
  assert.equal(small['content_hash'], undefined);
  await assert.rejects(workspace.call(filesRead, { ...args, max_size_mb: 1 }), endsWith('TOO_LARGE'));
});
