import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContentClient } from '../content/content-client.ts';
import type { PutStream } from '../content/content-client.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { requirement } from '../requirement.ts';

const mebibyte = 1024 * 1024;

test('two agents with 80 slow uploads hold up no call and no upload of a third', async (context) => {
  requirement('NFR-4');
  const daemon = await TestDaemon.start(liftLimits(newPlace()));
  context.after(() => daemon.remove());
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'content');
  const slow: PutStream[] = [];
  for (const agent of ['ada', 'bob']) {
    const client = new ContentClient(context, daemon.address, await daemon.newAgent(agent));
    for (let n = 0; n < 40; n++) {
      const upload = client.openPut();
      upload.on('error', () => undefined);
      upload.on('data', () => undefined);
      upload.write({ header: {} });
      upload.write({ chunk: Buffer.from('a little') });
      slow.push(upload);
    }
  }
  const token = await daemon.newAgent('eve');
  const callsOf = async (kind: string): Promise<string[]> =>
    (await daemon.records())
      .filter((record) => record.kind === kind && record.payload['tool'] === 'content.put')
      .map(({ callId }) => callId);
  // The uploads begin by themselves; wait until as many run as ever will.
  let begun: string[] = [];
  while (begun.length < 48) begun = await callsOf('intent');
  for (let n = 0; n < 5; n++) {
    const answer = await daemon.call('files.read', { path: 'a.txt', offset: n }, { token });
    assert.ok(answer.success, JSON.stringify(answer));
  }
  const ended = await callsOf('outcome');
  assert.deepEqual(
    begun.filter((callId) => ended.includes(callId)),
    [],
    'nobody waited for an upload to end',
  );
  const { call } = await new ContentClient(context, daemon.address, token).put(Buffer.from('whole'));
  assert.ok(call.success, JSON.stringify(call));
  for (const upload of slow) upload.cancel();
});

test('16 writes of 15 MB at once all succeed, and the daemon holds a few of them at a time', async (context) => {
  requirement('NFR-4');
  const daemon = await TestDaemon.start(liftLimits(newPlace()));
  context.after(() => daemon.remove());
  const tokens = [await daemon.newAgent('ada'), await daemon.newAgent('bob')];
  const content = 'abcdefghijklmno\n'.repeat((15 * mebibyte) / 16);
  const writes = Array.from({ length: 16 }, async (_, n) => {
    const token = tokens[n % 2] ?? '';
    return daemon.call('files.write', { path: `${n}.txt`, content: `${n}\n${content}` }, { token });
  });
  for (const answer of await Promise.all(writes)) assert.ok(answer.success, JSON.stringify(answer).slice(0, 500));
  assert.equal(statSync(join(daemon.place.workspace, '15.txt')).size, content.length + 3);
  const status = readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8');
  const peakBytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  assert.ok(peakBytes < 700 * mebibyte, `the daemon held ${Math.round(peakBytes / mebibyte)} MiB`);
});
