import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import { NamespaceDoor } from '../../packages/sandbox/src/egress/namespace-door.ts';
import { egressPort } from '../../packages/sandbox/src/egress/open-egress.ts';
import { BlockedSandbox, skip } from './blocked-sandbox.ts';

const holdDoor = `${import.meta.dirname}/hold-door.ts`;

function openDoor(t: TestContext): NamespaceDoor {
  const door = new NamespaceDoor({ port: egressPort });
  t.after(() => door.close());
  return door;
}

async function startSandbox(t: TestContext): Promise<BlockedSandbox> {
  const sandbox = await BlockedSandbox.start(['/bin/true']);
  t.after(() => sandbox.kill());
  return sandbox;
}

function findHelpers(pid: number | undefined): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return children.map(Number).filter((each) => {
    const file = `/proc/${each}/cmdline`;
    return existsSync(file) && readFileSync(file, 'utf8').startsWith('/usr/bin/perl');
  });
}

async function readLine(child: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface(child.stdout as Readable), 'line')) as [string];
  return line;
}

async function untilGone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await sleep(5);
}

test('a socket is opened in no other namespace than the one that was reported', { skip }, async (t) => {
  const door = openDoor(t);
  const { inside } = await startSandbox(t);
  const other = await startSandbox(t);
  const swapped = { pid: inside.pid, networkNamespace: other.inside.networkNamespace };
  await assert.rejects(door.bind(swapped), ProgramNotStarted);
  const socket = await door.bind(inside);
  socket.close();
});

test('the network of the host is never opened', { skip }, async (t) => {
  const ours = { pid: process.pid, networkNamespace: statSync('/proc/self/ns/net').ino };
  await assert.rejects(openDoor(t).bind(ours), /check failed\./);
});

test('a process that is gone is an error that says so', { skip }, async (t) => {
  const door = openDoor(t);
  const sandbox = await BlockedSandbox.start(['/bin/true']);
  await sandbox.kill();
  await untilGone(sandbox.inside.pid);
  await assert.rejects(door.bind(sandbox.inside), { name: 'ProgramNotStarted', message: /open failed with ENOENT/ });
});

test('one helper serves all calls, and leaves no process behind for any', { skip }, async (t) => {
  const door = openDoor(t);
  const before = new Set(findHelpers(process.pid));
  for (let round = 0; round < 5; round++) {
    const sandbox = await startSandbox(t);
    (await door.bind(sandbox.inside)).close();
  }
  const [helper, ...more] = findHelpers(process.pid).filter((pid) => !before.has(pid));
  assert.ok(helper);
  assert.deepEqual(more, []);
  while (readFileSync(`/proc/${helper}/task/${helper}/children`, 'utf8') !== '') await sleep(5);
});

test(
  'a helper that was killed fails the calls that wait for it, and the next call gets a new one',
  { skip },
  async (t) => {
    const door = openDoor(t);
    const { inside } = await startSandbox(t);
    const before = new Set(findHelpers(process.pid));
    (await door.bind(inside)).close();
    const [helper = 0] = findHelpers(process.pid).filter((pid) => !before.has(pid));
    process.kill(helper, 'SIGSTOP');
    const waiting = door.bind(inside);
    process.kill(helper, 'SIGKILL');
    await assert.rejects(waiting, { name: 'ProgramNotStarted', isTransient: true });
    (await door.bind(inside)).close();
  },
);

test('the helper ends when the process that started it is killed', { skip }, async (t) => {
  const { inside } = await startSandbox(t);
  const args = [holdDoor, String(inside.pid), String(inside.networkNamespace)];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(await readLine(holder), 'open');
  const [helper] = findHelpers(holder.pid);
  assert.ok(helper);
  const ended = once(holder, 'exit');
  holder.kill('SIGKILL');
  await ended;
  await untilGone(helper);
});

test('without Perl the call is refused, with the command that installs it', { skip }, async (t) => {
  const { inside } = await startSandbox(t);
  const view = ['--dev-bind', '/', '/', '--tmpfs', '/usr/bin', '--', process.execPath];
  const args = [...view, holdDoor, String(inside.pid), String(inside.networkNamespace)];
  const holder = spawn('/usr/bin/bwrap', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  const { code, remedy } = JSON.parse(await readLine(holder)) as { code: string; remedy: string };
  assert.equal(code, 'SANDBOX_UNAVAILABLE');
  assert.match(remedy, /apt install perl-base/);
  await ended;
});
