import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { hashBytes } from '../content-hash.ts';
import { never, noise, openStore } from '../content.test-kit.ts';
import { Transfers } from '../transfers.ts';
import type { DownloadRange, DownloadStream, UploadStream } from '../transfers.ts';
import type { Session } from '../../call/session.ts';
import type { ToolContext, ToolFailure, ToolUsage } from '../../call/tool.ts';
import { endsWith, TestWorkspace } from '../../catalogue/files/test-workspace.ts';
import { contentTools } from './index.ts';

async function openTools(context: TestContext) {
  const workspace = new TestWorkspace();
  context.after(() => workspace[Symbol.dispose]());
  const { store, index } = await openStore(context);
  const uploads = new Transfers<UploadStream>();
  const downloads = new Transfers<DownloadStream>();
  const tools = new Map(contentTools({ store, index, uploads, downloads }).map((tool) => [tool.definition.name, tool]));
  const ada = workspace.session;
  const bob: Session = { ...ada, id: 'bob', agent: 'bob' };
  const operator: Session = { ...ada, id: 'olga', agent: 'olga', principal: 'operator' };
  const usage: ToolUsage[] = [];
  const countUsage = (more: ToolUsage): void => void usage.push(more);
  const call = (name: string, args: JsonObject, more: Partial<ToolContext> = {}): Promise<JsonObject> => {
    const tool = tools.get(name) ?? assert.fail(name);
    return workspace.call(tool, args, { countUsage, ...more });
  };
  return { store, index, uploads, downloads, tools, ada, bob, operator, usage, call };
}

test('text and bytes that fit into a call are stored and read back, a piece at a time', async (context) => {
  const { call, usage } = await openTools(context);
  assert.deepEqual(await call('content.put', { content: 'grün' }), { hash: hashBytes(Buffer.from('grün')), size: 5 });
  const bytes = noise(1_000_000);
  const hash = hashBytes(bytes);
  await call('content.put', { content: bytes.toString('base64'), encoding: 'base64', hash, size: bytes.length });
  assert.deepEqual(usage, [{ bytesWritten: 5 }, { bytesWritten: 1_000_000 }]);

  const pieces: Buffer[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const piece: JsonObject = await call('content.get', { hash, offset });
    assert.ok(JSON.stringify(piece).length < 1_000_000, 'an answer that would itself become content');
    assert.equal(piece['size'], bytes.length);
    pieces.push(Buffer.from(piece['content'] as string, 'base64'));
    offset = piece['next_offset'] as number | undefined;
  }
  assert.equal(pieces.length, 2);
  assert.ok(Buffer.concat(pieces).equals(bytes));
  const middle = await call('content.get', { hash, offset: 500_000, limit: 3 });
  assert.deepEqual(
    { ...middle },
    {
      ...{ hash, size: 1_000_000, offset: 500_000, length: 3, next_offset: 500_003 },
      content: bytes.subarray(500_000, 500_003).toString('base64'),
    },
  );
});

test('content of others and content that does not exist answer exactly alike', async (context) => {
  const { call, bob, operator } = await openTools(context);
  const { hash } = (await call('content.put', { content: 'secret' })) as { hash: string };
  const missing = hashBytes(Buffer.from('missing'));
  const answerOf = (name: string, asked: string): Promise<string> =>
    call(name, { hash: asked }, { session: bob }).then(JSON.stringify, (error: unknown) => {
      const { name: kind, code, message } = error as ToolFailure;
      return `${kind} ${code} ${message}`.replaceAll(asked, '#');
    });
  for (const name of ['content.get', 'content.stat']) {
    assert.match(await answerOf(name, hash), /^ToolFailure NOT_FOUND/);
    assert.equal(await answerOf(name, hash), await answerOf(name, missing));
    assert.equal((await call(name, { hash }, { session: operator }))['size'], 6, 'operators use everything');
    await assert.rejects(call(name, { hash: missing }, { session: operator }), endsWith('NOT_FOUND'));
  }
});

test('an upload is taken by its own session only', async (context) => {
  const { call, uploads, bob, ada } = await openTools(context);
  const heard: number[] = [];
  const upload: UploadStream = { chunks: [noise(10), noise(20)], onReceived: (bytes) => void heard.push(bytes) };
  const { id } = uploads.register(ada.id, upload);
  await assert.rejects(call('content.put', { upload_id: id }, { session: bob }), endsWith('NOT_FOUND'));
  await assert.rejects(call('content.put', { upload_id: 'made-up' }), endsWith('NOT_FOUND'));
  assert.equal((await call('content.put', { upload_id: id }))['size'], 30);
  assert.deepEqual(heard, [10, 30]);
  await assert.rejects(call('content.put', { upload_id: id }), endsWith('NOT_FOUND'));
});

test('an upload that breaks off says where to go on, and so does stat', async (context) => {
  const { call, uploads, ada, bob, usage } = await openTools(context);
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  const first = uploads.register(ada.id, { chunks: [bytes.subarray(0, 600)], onReceived: () => undefined });
  const begun = call('content.put', { upload_id: first.id, hash, size: 1000 });
  await assert.rejects(begun, endsWith('CANCELLED', /600 bytes of it are kept/));
  assert.deepEqual(usage, [{ bytesWritten: 600 }]);
  assert.deepEqual(await call('content.stat', { hash }), { hash, stored: false, received: 600 });
  await assert.rejects(call('content.stat', { hash }, { session: bob }), endsWith('NOT_FOUND'));
  await assert.rejects(call('content.get', { hash }), endsWith('NOT_FOUND'));
  const rest = uploads.register(ada.id, { chunks: [bytes.subarray(600)], onReceived: () => undefined });
  await call('content.put', { upload_id: rest.id, hash, size: 1000, offset: 600 });
  assert.deepEqual(await call('content.stat', { hash }), { hash, stored: true, size: 1000 });
  const again = uploads.register(ada.id, { chunks: [bytes.subarray(0, 5)], onReceived: () => undefined });
  await assert.rejects(call('content.put', { upload_id: again.id, hash, size: 1000 }), endsWith('CANCELLED'));
  assert.deepEqual(await call('content.stat', { hash }), { hash, stored: true, size: 1000 }, 'what is stored counts');
});

test('a download gets the range it was told of, and nothing of content it may not use', async (context) => {
  const { call, downloads, ada, bob, usage } = await openTools(context);
  const bytes = noise(600_000);
  const { hash } = (await call('content.put', { content: bytes.toString('base64'), encoding: 'base64' })) as {
    hash: string;
  };
  const open = (sessionId: string) => {
    const ranges: DownloadRange[] = [];
    const chunks: Buffer[] = [];
    const { id } = downloads.register(sessionId, {
      begin: async (range) => void ranges.push(range),
      write: async (chunk) => void chunks.push(Buffer.from(chunk)),
    });
    return { id, ranges, chunks };
  };
  usage.length = 0;
  const mine = open(ada.id);
  const output = await call('content.get', { hash, offset: 100, limit: 500_000, download_id: mine.id });
  assert.deepEqual(output, { hash, size: 600_000, offset: 100, length: 500_000, next_offset: 500_100 });
  assert.deepEqual(mine.ranges, [{ sizeBytes: 600_000, offset: 100, lengthBytes: 500_000 }]);
  assert.ok(Buffer.concat(mine.chunks).equals(bytes.subarray(100, 500_100)));
  assert.equal(
    usage.reduce((sum, { bytesRead = 0 }) => sum + bytesRead, 0),
    500_000,
  );

  const theirs = open(bob.id);
  await assert.rejects(
    call('content.get', { hash, download_id: theirs.id }),
    endsWith('NOT_FOUND', /no such download/),
  );
  const tried = call('content.get', { hash, download_id: theirs.id }, { session: bob });
  await assert.rejects(tried, endsWith('NOT_FOUND', /no content/));
  assert.deepEqual([theirs.ranges, theirs.chunks], [[], []]);
});

test('arguments that do not fit together are refused before anything runs', async (context) => {
  requirement('EXEC-7');
  const { tools, ada } = await openTools(context);
  const claim = (args: JsonObject) => tools.get('content.put')?.claim({ encoding: 'utf-8', offset: 0, ...args }, ada);
  assert.throws(() => claim({}), endsWith('INVALID_ARGUMENTS', /content or upload_id must be given/));
  assert.throws(() => claim({ content: '', upload_id: 'x' }), endsWith('INVALID_ARGUMENTS', /not both/));
  assert.throws(() => claim({ content: 'a?==', encoding: 'base64' }), endsWith('INVALID_ARGUMENTS', /base64/));
  assert.throws(() => claim({ content: 'ü'.repeat(600_000) }), endsWith('INVALID_ARGUMENTS', /more than 1 MB/));
  assert.throws(() => claim({ upload_id: 'x', offset: 5 }), endsWith('INVALID_ARGUMENTS', /declared hash/));
  assert.deepEqual(claim({ upload_id: 'x', offset: 5, hash: '00'.repeat(32) }), { paths: [] });

  const { SchemaCheck } = await import('../../registry/schemas/check-schema.ts');
  for (const name of ['content.get', 'content.stat']) {
    const check = new SchemaCheck(tools.get(name)?.definition.inputSchema ?? {}, 'arguments');
    for (const hash of ['../../etc/passwd', 'AB'.repeat(32), `${'ab'.repeat(32)}\n`, `${'ab'.repeat(31)}/.`, '', 5]) {
      assert.notDeepEqual(check.check({ hash }), [], `${name} takes ${JSON.stringify(hash)}`);
    }
  }
});

test('reading is of low risk, storing of medium; only operators verify and collect', async (context) => {
  const { tools, call, store, operator } = await openTools(context);
  const about = Array.from(tools.values(), ({ definition: { name, risk, mutates, audience } }) =>
    [name, risk, mutates ? 'mutates' : 'reads', audience].join(' '),
  );
  assert.deepEqual(about, [
    'content.put medium mutates everyone',
    'content.get low reads everyone',
    'content.stat low reads everyone',
    'content.verify low reads operator',
    'content.gc medium mutates operator',
  ]);
  await store.put({ sessionId: 'ada', source: [noise(10)], signal: never });
  assert.deepEqual(await call('content.verify', {}, { session: operator }), {
    ...{ checked: 1, checkedBytes: '10', corruptedCount: 0, corrupted: [], missingCount: 0, missing: [] },
  });
  const collected = await call('content.gc', { older_than_hours: 1 }, { session: operator });
  assert.deepEqual(collected, { removed: 0, freedBytes: '0', kept: 1 });
});
