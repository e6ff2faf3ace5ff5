import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@sallyport/contract';
import { unprivilegedUser } from '../../../packages/sandbox/src/launch/choose-user.ts';
import { everything, findPort, startEverything } from './everything-server.ts';
import { openWorld, textOf } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const packages = join(import.meta.dirname, '../../../node_modules');
const filesystem = join(packages, '@modelcontextprotocol/server-filesystem/dist/index.js');

test('server-everything works behind the gate, in the sandbox', async (context) => {
  const world = await openWorld(context, {
    everything: { command: ['node', everything], paths: { read: [packages] } },
  });
  await world.settle('everything', 'accept');
  assert.ok(world.installed.all.length > 8, `only ${world.installed.all.length} tools`);
  assert.deepEqual(world.installed.skipped, []);
  assert.match(textOf(await world.call('everything.echo', { message: 'hello' })), /hello/);
  assert.match(textOf(await world.call('everything.get-sum', { a: 2, b: 40 })), /42/);
  const structured = await world.call('everything.get-structured-content', { location: 'New York' });
  assert.equal(typeof (structured as { temperature: number }).temperature, 'number');
  const image = (await world.call('everything.get-tiny-image')) as { content: readonly { type: string }[] };
  assert.ok(image.content.some(({ type }) => type === 'image'));
  const steps: Json[] = [];
  const onProgress = (progress: unknown): void => void steps.push(progress as Json);
  await world.call('everything.trigger-long-running-operation', { duration: 1, steps: 4 }, { onProgress });
  assert.equal(steps.length, 4);
});

test('server-filesystem changes what its file names, and sees nothing else', async (context) => {
  const shared = realpathSync(mkdtempSync(join(tmpdir(), 'shared-')));
  context.after(() => rmSync(shared, { recursive: true }));
  chmodSync(shared, 0o755);
  if (process.getuid?.() === 0) chownSync(shared, unprivilegedUser.uid, unprivilegedUser.gid);
  const world = await openWorld(context, {
    fs: { command: ['node', filesystem, shared], paths: { read: [packages], write: [shared] } },
  });
  await world.settle('fs', 'accept');
  await world.call('fs.write_file', { path: join(shared, 'note.txt'), content: 'from behind the gate' });
  assert.equal(readFileSync(join(shared, 'note.txt'), 'utf8'), 'from behind the gate');
  writeFileSync(join(shared, 'other.txt'), 'from outside', { mode: 0o644 });
  const read = await world.call('fs.read_text_file', { path: join(shared, 'other.txt') });
  assert.equal((read as { content: string }).content, 'from outside');
  await assert.rejects(world.call('fs.read_text_file', { path: '/etc/passwd' }), /Access denied/);
});

test('server-everything works over HTTP, and is back after it was killed', async (context) => {
  requirement('WIRE-6');
  const port = await findPort();
  let child = await startEverything(context, port);
  const world = await openWorld(context, { web: { url: `http://127.0.0.1:${port}/mcp` } });
  await world.settle('web', 'accept');
  assert.match(textOf(await world.call('web.echo', { message: 'over HTTP' })), /over HTTP/);
  const slow = world.call('web.trigger-long-running-operation', { duration: 30, steps: 3 });
  slow.catch(() => undefined);
  await world.call('web.echo', { message: 'beside it' });
  child.kill('SIGKILL');
  await assert.rejects(slow, { code: 'UPSTREAM_UNAVAILABLE' });
  child = await startEverything(context, port);
  while (world.upstreams.find('web')?.state !== 'connected') await sleep(50);
  assert.match(textOf(await world.call('web.echo', { message: 'again' })), /again/);
});
