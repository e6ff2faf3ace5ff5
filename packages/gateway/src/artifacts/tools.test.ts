import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { hashBytes } from '../content/content-hash.ts';
import { never, noise, openStore } from '../content/content.test-kit.ts';
import type { Session } from '../call/session.ts';
import { SchemaCheck } from '../registry/schemas/check-schema.ts';
import { endsWith, TestWorkspace } from '../catalogue/files/test-workspace.ts';
import { artifactTools } from './tools.ts';

async function openTools(context: TestContext) {
  const workspace = new TestWorkspace();
  context.after(() => workspace[Symbol.dispose]());
  const { store, index } = await openStore(context);
  const tools = new Map(artifactTools({ store, index }).map((tool) => [tool.definition.name, tool]));
  const ada = workspace.session;
  const bob: Session = { ...ada, id: 'bob', agent: 'bob' };
  const operator: Session = { ...ada, id: 'olga', agent: 'olga', principal: 'operator' };
  const call = (name: string, args: JsonObject, session = ada): Promise<JsonObject> =>
    workspace.call(tools.get(name) ?? assert.fail(name), args, { session });
  const put = (bytes: Buffer, session = ada) => store.put({ sessionId: session.id, source: [bytes], signal: never });
  return { store, index, tools, ada, bob, operator, call, put };
}

const details = { category: 'test_results', metadata: ['format=junit', 'suite='] };

test('content becomes an artifact that its session and operators see', async (context) => {
  const { call, put, ada, bob, operator } = await openTools(context);
  const { hash } = await put(noise(100));
  const published = await call('artifacts.publish', { artifact_id: 'run-1', content_hash: hash, ...details });
  const { publishedAtMs: at, ...rest } = published;
  assert.ok(Math.abs(Number(at) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    ...{ artifactId: 'run-1', contentHash: hash, size: '100', ...details },
    ...{ agent: ada.agent, sessionId: ada.id },
  });
  assert.deepEqual(await call('artifacts.get', { artifact_id: 'run-1' }), published);
  assert.deepEqual(await call('artifacts.get', { artifact_id: 'run-1' }, operator), published);
  assert.deepEqual(await call('artifacts.list', {}), { artifacts: [published], total: 1 });
  assert.deepEqual(await call('artifacts.list', { category: 'other' }), { artifacts: [], total: 0 });
  assert.deepEqual(await call('artifacts.list', {}, bob), { artifacts: [], total: 0 });
  assert.deepEqual(await call('artifacts.list', {}, operator), { artifacts: [published], total: 1 });
  const hidden = call('artifacts.get', { artifact_id: 'run-1' }, bob);
  await assert.rejects(hidden, endsWith('NOT_FOUND', /no artifact "run-1" that this session may see/));
  const missing = call('artifacts.get', { artifact_id: 'run-2' }, bob);
  await assert.rejects(missing, endsWith('NOT_FOUND', /no artifact "run-2" that this session may see/));
});

test('an id is given once, even to the same content by the same session', async (context) => {
  const { call, put, bob } = await openTools(context);
  const [first, second] = [await put(noise(10, 1)), await put(noise(10, 2))];
  const publish = (hash: string, session?: Session) =>
    call('artifacts.publish', { artifact_id: 'a', content_hash: hash, ...details }, session);
  const published = await publish(first.hash);
  await assert.rejects(publish(first.hash), endsWith('ALREADY_EXISTS'));
  await assert.rejects(publish(second.hash), endsWith('ALREADY_EXISTS'));
  await put(noise(10, 1), bob);
  await assert.rejects(publish(first.hash, bob), endsWith('ALREADY_EXISTS'));
  assert.deepEqual(await call('artifacts.get', { artifact_id: 'a' }), published);

  const other = { artifact_id: 'race', content_hash: first.hash, ...details };
  const racing = await Promise.allSettled(Array.from({ length: 10 }, () => call('artifacts.publish', other)));
  assert.equal(racing.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('only stored content that the session may use can be published; what is published is not collected', async (context) => {
  const { call, put, store, bob } = await openTools(context);
  const { hash } = await put(noise(10));
  const publish = (id: string, contentHash: string, session?: Session) =>
    call('artifacts.publish', { artifact_id: id, content_hash: contentHash, ...details }, session);
  const missing = hashBytes(Buffer.from('missing'));
  await assert.rejects(publish('a', missing), endsWith('NOT_FOUND', new RegExp(`no content ${missing} that this`)));
  await assert.rejects(publish('a', hash, bob), endsWith('NOT_FOUND', new RegExp(`no content ${hash} that this`)));
  await publish('a', hash);
  await store.collectGarbage({ olderThanMs: -1000 });
  assert.equal(await store.sizeOf(hash), 10);
});

test('lengths are counted in bytes, and every violation is told', async (context) => {
  const { tools, ada } = await openTools(context);
  const tool = tools.get('artifacts.publish') ?? assert.fail();
  const content_hash = '00'.repeat(32);
  const good = { artifact_id: 'a', content_hash, category: 'c', metadata: ['k=v'] };
  const check = new SchemaCheck(tool.definition.inputSchema, 'arguments');
  assert.deepEqual(check.check(good), []);
  const bad: readonly JsonObject[] = [
    { ...good, artifact_id: '' },
    { ...good, artifact_id: 'a'.repeat(257) },
    { ...good, category: '' },
    { ...good, category: 'c'.repeat(257) },
    { ...good, content_hash: '00'.repeat(31) },
    { ...good, metadata: Array.from({ length: 1001 }, () => 'k=v') },
    { ...good, metadata: ['no equals sign'] },
    { ...good, metadata: ['a=b=c'] },
    { ...good, metadata: [`k=${'v'.repeat(32 * 1024)}`] },
  ];
  for (const args of bad) assert.notDeepEqual(check.check(args), [], JSON.stringify(args).slice(0, 100));

  assert.deepEqual(tool.claim({ ...good, artifact_id: 'ü'.repeat(128) }, ada), { paths: [] });
  const long = {
    ...good,
    artifact_id: 'ü'.repeat(129),
    category: 'ü'.repeat(129),
    metadata: [`k=${'ü'.repeat(16_384)}`],
  };
  assert.throws(
    () => tool.claim(long, ada),
    endsWith('INVALID_ARGUMENTS', /artifact_id has more.*category has more.*metadata\.0 has more/),
  );
});
