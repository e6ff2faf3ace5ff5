import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer, Place } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

// Whatever happens while things are being set aside: in the end nothing of it stands.

const rules = `version: 1
rules:
  - { id: operator, effect: allow, tools: ['*'], who: [operator], approval: waived }
  - { id: write, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: commands, effect: allow, tools: [shell.run], approval: waived, grants: { write: [$WORKSPACE] } }
`;
const folders = 4000;
const script = `mkdir -p d/{1..${folders}}; for n in {1..${folders}}; do echo x >d/$n/.envrc; done; mkdir z; echo x >z/.mcp.json`;

let place: Place;
let daemon: TestDaemon;
let token: string;

beforeEach(async () => {
  place = ownRules(newPlace(), { 'tools.yaml': rules });
  if (process.getuid?.() === 0) chownSync(place.workspace, 65_530, 65_530);
  daemon = await TestDaemon.start(place);
  token = await daemon.newAgent('coder');
});
afterEach(() => daemon.remove());

function start(): Promise<Answer> {
  return daemon.call('shell.run', { argv: ['/bin/bash', '-c', script], timeout_ms: 120_000 }, { token });
}

/** Resolves when some of it was set aside, and not all. */
async function sweeping(): Promise<void> {
  const outermost = join(place.workspace, 'z');
  const isBegun = (): boolean =>
    existsSync(outermost) && readdirSync(outermost).some((name) => name.includes('withheld'));
  while (!isBegun()) await sleep(1);
  assert.notDeepEqual(findLeft(), [], 'it is not over yet');
}

function findLeft(): readonly string[] {
  const found = execFileSync('find', [place.workspace, '-name', '.envrc', '-o', '-name', '.mcp.json'], {
    encoding: 'utf8',
  });
  return found.split('\n').filter(Boolean);
}

async function settled(): Promise<void> {
  for (let tries = 0; findLeft().length > 0 && tries < 300; tries++) await sleep(100);
  assert.deepEqual(findLeft(), []);
}

test('a call that is cancelled while things are being set aside leaves nothing', async () => {
  const running = start();
  await sweeping();
  const list = JSON.parse((await daemon.call('calls.list', {})).success?.outputJson ?? '{}') as {
    readonly calls: readonly { readonly callId: string; readonly tool: string }[];
  };
  const [call] = list.calls.filter(({ tool }) => tool === 'shell.run');
  assert.ok(call, JSON.stringify(list));
  const cancelled = await daemon.call('calls.cancel', { call_id: call.callId });
  assert.ok(cancelled.success, JSON.stringify(cancelled));
  await running;
  await settled();
});

test('LOCKDOWN while things are being set aside leaves nothing', async () => {
  const running = start();
  await sweeping();
  const locked = await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
  assert.ok(locked.success, JSON.stringify(locked));
  await running;
  await settled();
});

test('a daemon that is killed then, and comes back in LOCKDOWN, finishes it before it is ready', async () => {
  const running = start().catch(() => undefined);
  await sweeping();
  const locking = daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' }).catch(() => undefined);
  await locking;
  await daemon.kill('SIGKILL');
  await running;
  mkdirSync(join(place.workspace, 'after'));
  daemon = await TestDaemon.start(place);
  assert.deepEqual(findLeft(), []);
  assert.equal((await daemon.status())['mode'], 'LOCKDOWN');
  const { payload } = (await daemon.records()).find((each) => each.payload['event'] === 'set_aside_after_crash') ?? {};
  assert.ok(payload === undefined || Number(payload['count']) > 0);
  assert.deepEqual(readdirSync(join(place.home, 'sweeps')), ['alive']);
});
