import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { noise } from '../../packages/gateway/src/content/content.test-kit.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { requirement } from '../requirement.ts';
import { collectGet, collectPut, ContentClient, hashOf } from './content-client.ts';

let daemon: TestDaemon;
let token: string;
before(async () => {
  daemon = await TestDaemon.start(liftLimits(newPlace()));
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const folder = (...names: string[]): string => join(daemon.place.home, 'content', ...names);
const pathOf = (hash: Buffer): string => {
  const name = hash.toString('hex');
  return folder(name.slice(0, 2), name.slice(2));
};
const leftovers = (): string[] => [...readdirSync(folder('staging')), ...readdirSync(folder('partial'))];

/** The state is reached a moment after the answer or the disconnect. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('content goes in over one stream and comes out over another, and both calls are on record', async (context) => {
  requirement('PIPE-5');
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(3_000_000);
  const put = await client.put(bytes, { hash: hashOf(bytes), size: bytes.length, request_id: 'put-1' });
  assert.deepEqual([put.hash, put.size], [hashOf(bytes).toString('hex'), bytes.length]);
  assert.equal(put.call.request_id, 'put-1');
  assert.equal(put.call.usage?.bytes_written, bytes.length);
  assert.ok(put.progress.length > 0 && put.progress.every((received, n) => received > (put.progress[n - 1] ?? 0)));

  const got = await client.get(hashOf(bytes));
  assert.ok(got.bytes.equals(bytes));
  assert.deepEqual(got.header, { size: bytes.length, offset: 0, length: bytes.length });
  assert.equal(got.call.usage?.bytes_read, bytes.length);
  const range = await client.get(hashOf(bytes), { offset: 1_000_001, limit: 777 });
  assert.ok(range.bytes.equals(bytes.subarray(1_000_001, 1_000_778)));
  assert.deepEqual(await client.stat(hashOf(bytes)).then(({ stored, size }) => [stored, size]), [true, bytes.length]);

  const records = await daemon.records();
  for (const { call_id: callId } of [put.call, got.call]) {
    const kinds = records.filter((record) => record.callId === callId).map(({ kind, result }) => `${kind} ${result}`);
    assert.deepEqual(kinds, ['intent none', 'outcome ok']);
  }
  assert.deepEqual(leftovers(), []);
});

test('without a declared hash the outcome tells it; nothing is a content, too', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  for (const bytes of [Buffer.alloc(0), Buffer.from('x')]) {
    const put = await client.put(bytes);
    assert.equal(put.hash, hashOf(bytes).toString('hex'));
    assert.ok((await client.get(hashOf(bytes))).bytes.equals(bytes));
  }
});

test('who may not use content cannot tell it from content that does not exist', async (context) => {
  const mine = new ContentClient(context, daemon.address, token);
  const other = new ContentClient(context, daemon.address, await daemon.newAgent('bob'));
  const bytes = noise(5000, 2);
  await mine.put(bytes);
  const secret = hashOf(bytes);
  const missing = hashOf(Buffer.from('nobody put this'));
  const blur = (text: string): string => text.replaceAll(/[0-9a-f]{64}/g, '#');
  for (const ask of [(hash: Buffer) => other.get(hash), (hash: Buffer) => other.stat(hash)]) {
    const [forbidden, absent] = [(await ask(secret)).call, (await ask(missing)).call];
    assert.equal(forbidden.error?.code, 'NOT_FOUND');
    assert.equal(blur(JSON.stringify(forbidden.error)), blur(JSON.stringify(absent.error)));
  }
  const operator = new ContentClient(context, daemon.operatorSocket, daemon.operatorToken);
  assert.ok((await operator.get(secret)).bytes.equals(bytes), 'operators read everything');
  await other.put(bytes);
  assert.ok((await other.get(secret)).bytes.equals(bytes), 'anyone who has the bytes may use them');
});

test('a caller without a credential, or with a dead one, gets neither in nor out', async (context) => {
  const dead = new ContentClient(context, daemon.address, 'sp_made_up');
  await assert.rejects(dead.put(noise(10)), { code: status.UNAUTHENTICATED });
  await assert.rejects(dead.get(hashOf(Buffer.alloc(0))), { code: status.UNAUTHENTICATED });
  await assert.rejects(dead.stat(hashOf(Buffer.alloc(0))), { code: status.UNAUTHENTICATED });
});

test('a session whose lease does not name the tools is refused before a byte is kept', async (context) => {
  const narrow = new ContentClient(context, daemon.address, await daemon.newAgent('eve', { tools: ['content.get'] }));
  const put = await narrow.put(noise(200_000, 3));
  assert.equal(put.call.denied?.rationale_code, 'OUTSIDE_LEASE');
  assert.equal(put.hash, '');
  assert.ok(!existsSync(pathOf(hashOf(noise(200_000, 3)))));
});

test('an upload that breaks off is continued where Stat says', async (context) => {
  requirement('PIPE-7');
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(2_000_000, 4);
  const header = { hash: hashOf(bytes), size: bytes.length };
  const stream = client.openPut();
  stream.on('error', () => undefined);
  stream.write({ header });
  for (let at = 0; at < 1_500_000; at += 500_000) stream.write({ chunk: bytes.subarray(at, at + 500_000) });
  await once(stream, 'data');
  stream.cancel();
  await until(async () => (await client.stat(header.hash)).received > 0);
  const { stored, received } = await client.stat(header.hash);
  assert.ok(!stored && received >= 1_000_000 && received <= 1_500_000, String(received));
  assert.equal((await client.get(header.hash)).call.error?.code, 'NOT_FOUND', 'nothing half can be read');

  const put = await client.put(bytes.subarray(received), { ...header, offset: received });
  assert.deepEqual([put.hash, put.size], [header.hash.toString('hex'), bytes.length]);
  assert.equal(put.call.usage?.bytes_written, bytes.length - received);
  assert.ok((await client.get(header.hash)).bytes.equals(bytes));
  assert.deepEqual(leftovers(), []);
});

test('a stream that closes without its end is broken off, even when it looks whole', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  const stream = client.openPut();
  stream.write({ header: {} });
  stream.write({ chunk: noise(1000, 5) });
  stream.end();
  const { call } = await collectPut(stream);
  assert.equal(call.error?.code, 'CANCELLED');
  assert.ok(!existsSync(pathOf(hashOf(noise(1000, 5)))));
  assert.deepEqual(leftovers(), []);
});

test('bytes other than the declared ones are refused', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(1000, 6);
  const wrong = await client.put(bytes, { hash: hashOf(Buffer.from('other')) });
  assert.equal(wrong.call.error?.code, 'CONTENT_MISMATCH');
  assert.equal((await client.put(bytes, { size: 999 })).call.error?.code, 'CONTENT_MISMATCH');
  assert.deepEqual(leftovers(), []);
});

test('what is no upload is said to be none', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  const send = (...steps: object[]) => {
    const stream = client.openPut();
    for (const step of steps) stream.write(step);
    stream.end();
    return collectPut(stream);
  };
  await assert.rejects(send({ chunk: noise(10) }), { code: status.INVALID_ARGUMENT });
  await assert.rejects(send(), { code: status.INVALID_ARGUMENT });
  await assert.rejects(send({ header: { hash: noise(31) } }), { code: status.INVALID_ARGUMENT });
  await assert.rejects(client.get(noise(33)), { code: status.INVALID_ARGUMENT });
  assert.equal((await send({ header: {} }, { header: {} })).call.error?.code, 'INVALID_ARGUMENTS');
  const huge = await send({ header: {} }, { chunk: noise(1024 * 1024 + 1) });
  assert.match(huge.call.error?.message ?? '', /at most 1 MiB/);
  const gap = await client.put(noise(10), { hash: hashOf(noise(20)), offset: 10 });
  assert.match(gap.call.error?.message ?? '', /0 bytes have arrived/);
  const late = await client.get(hashOf(Buffer.alloc(0)), { offset: 1 });
  assert.match(late.call.error?.message ?? '', /beyond the end/);
});

test('the deadline of the caller ends an upload that does not come', async (context) => {
  requirement('PIPE-7');
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(1000, 7);
  const stream = client.openPut(150);
  stream.write({ header: { hash: hashOf(bytes) } });
  stream.write({ chunk: bytes.subarray(0, 500) });
  // The gate has the same deadline, and its answer may come before the client has looked at its own clock.
  const ended = await collectPut(stream).catch((error: unknown) => error as { code: number });
  if ('call' in ended) assert.notEqual(ended.call.error, undefined);
  else assert.equal(ended.code, status.DEADLINE_EXCEEDED);
  await until(async () => (await client.stat(hashOf(bytes))).received === 500);
});

test('a caller who reads nothing holds nothing up, and leaving ends the call', async (context) => {
  requirement('PIPE-7');
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(4_000_000, 8);
  for (let n = 0; n < 4; n++) await client.put(bytes.subarray(n));
  const streams = [0, 1, 2, 3].map((n) => client.openGet({ hash: hashOf(bytes.subarray(n)) }).pause());
  const [first] = streams;
  assert.ok((await client.get(hashOf(bytes))).bytes.equals(bytes), 'others go on');
  for (const stream of streams.slice(1)) stream.on('error', () => undefined).cancel();
  assert.ok(first !== undefined && (await collectGet(first)).bytes.equals(bytes), 'the caller that waited gets it all');
  await until(async () => !(await daemon.status())['callsInFlight']);
});

test('a damaged byte is found before it is sent', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(1_000_000, 9);
  await client.put(bytes);
  assert.ok((await client.get(hashOf(bytes))).bytes.equals(bytes));
  const descriptor = openSync(pathOf(hashOf(bytes)), 'r+');
  writeSync(descriptor, Buffer.from([bytes[700_000] === 0 ? 1 : 0]), 0, 1, 700_000);
  closeSync(descriptor);
  const got = await client.get(hashOf(bytes));
  assert.equal(got.call.error?.code, 'CONTENT_CORRUPTED');
  assert.ok(got.bytes.length <= 700_000 && got.bytes.equals(bytes.subarray(0, got.bytes.length)));
  const verified = await daemon.call('content.verify', {});
  const output = JSON.parse(verified.success?.outputJson ?? '{}') as { corrupted: string[] };
  assert.deepEqual(output.corrupted, [hashOf(bytes).toString('hex')]);
  await client.put(bytes);
  assert.ok((await client.get(hashOf(bytes))).bytes.equals(bytes));
});

test('twenty uploads of the same content at once become one file', async (context) => {
  const client = new ContentClient(context, daemon.address, token);
  const bytes = noise(500_000, 10);
  const header = { hash: hashOf(bytes), size: bytes.length };
  const puts = await Promise.all(Array.from({ length: 20 }, () => client.put(bytes, header)));
  for (const { call, hash } of puts) assert.equal(hash, header.hash.toString('hex'), JSON.stringify(call));
  assert.deepEqual(
    leftovers().filter((name) => name.endsWith(header.hash.toString('hex'))),
    [],
  );
  assert.deepEqual(readdirSync(folder('staging')), []);
});

test('a daemon that stops tells the sender, and a new one goes on with the upload', async (context) => {
  requirement('NFR-2');
  const own = await TestDaemon.start();
  context.after(() => own.remove());
  const agent = await own.newAgent('ada');
  const bytes = noise(1_500_000, 11);
  const header = { hash: hashOf(bytes), size: bytes.length };
  const stream = new ContentClient(context, own.address, agent).openPut();
  const answer = collectPut(stream);
  stream.write({ header });
  for (let at = 0; at < 1_200_000; at += 400_000) stream.write({ chunk: bytes.subarray(at, at + 400_000) });
  await once(stream, 'data');
  await own.kill('SIGTERM');
  assert.equal((await answer).call.error?.code, 'CANCELLED');
  const next = await TestDaemon.start(own.place);
  context.after(() => next.remove());
  const client = new ContentClient(context, next.address, agent);
  const { received } = await client.stat(header.hash);
  assert.ok(received > 0);
  const put = await client.put(bytes.subarray(received), { ...header, offset: received });
  assert.equal(put.hash, header.hash.toString('hex'));
});
