import assert from 'node:assert/strict';
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { howMuch } from '../harness/how-much.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { openTypedClient } from '../protocol/typed-client.ts';
import { requirement } from '../requirement.ts';
import { collectPut, ContentClient } from './content-client.ts';

const mebibyte = 1024 * 1024;
/** Twice what the daemon may grow by, so that a file held in memory is noticed. */
const readMebibytes = howMuch({ usually: 256, long: 1024 });

/** The most memory the daemon has held since the last time this was asked. */
function takePeakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** A file of so many bytes that no two megabytes of are the same, and that takes little of the disk. */
function makeLargeFile(path: string, bytes: number): void {
  const fd = openSync(path, 'w');
  ftruncateSync(fd, bytes);
  for (let at = 0; at < bytes; at += mebibyte) writeSync(fd, Buffer.from(`${at}`), 0, undefined, at);
  closeSync(fd);
}

test(`100 MB are written and ${readMebibytes} MB are read while the daemon grows by less than 128 MB`, async (context) => {
  requirement('WIRE-7');
  const daemon = await TestDaemon.start(liftLimits(newPlace()));
  context.after(() => daemon.remove());
  const pid = daemon.process.pid ?? 0;
  const token = await daemon.newAgent('mover');
  const content = new ContentClient(context, daemon.address, token);
  const typed = openTypedClient(Number(new URL(daemon.address).port));
  context.after(() => typed.close());
  const sourceFile = join(daemon.place.workspace, 'source.bin');
  makeLargeFile(sourceFile, readMebibytes * mebibyte);
  // What loading and the first use take is not what a transfer takes.
  await content.put(Buffer.alloc(4 * mebibyte));
  await daemon.call('files.read', { path: 'source.bin', limit: 10 }, { token });
  takePeakBytes(pid);
  const before = takePeakBytes(pid);

  const upload = content.openPut();
  const stored = collectPut(upload);
  upload.write({ header: {} });
  const chunk = Buffer.alloc(mebibyte / 2, 'x');
  for (let n = 0; n < 200; n++) if (!upload.write({ chunk })) await once(upload, 'drain');
  upload.write({ end: {} });
  upload.end();
  const { hash } = await stored;
  const written = await daemon.call('files.write', { path: 'copy.bin', content_hash: hash }, { token });
  assert.ok(written.success, JSON.stringify(written));
  assert.equal(statSync(join(daemon.place.workspace, 'copy.bin')).size, 100 * mebibyte);
  const afterWriting = takePeakBytes(pid);

  const read = await typed.execute({ request_id: 'r', session_token: token, file_read: { path: 'source.bin' } });
  assert.equal(read.success?.result_hash.length, 32, JSON.stringify(read));
  let received = 0;
  for await (const step of content.openGet({ hash: read.success?.result_hash }) as AsyncIterable<{ chunk?: Buffer }>) {
    received += step.chunk?.length ?? 0;
  }
  assert.equal(received, readMebibytes * mebibyte);
  const afterReading = takePeakBytes(pid);
  const grown = Math.max(afterWriting, afterReading) - before;
  context.diagnostic(
    `written +${(afterWriting - before) / mebibyte} MB, read +${(afterReading - before) / mebibyte} MB`,
  );
  assert.ok(grown < 128 * mebibyte, `the daemon grew by ${Math.round(grown / mebibyte)} MB`);
});
