import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';

const toolsYaml = `version: 1
rules:
  - id: sleeping
    effect: allow
    tools: [shell.run]
    commands: ['sleep *']
    approval: waived
    grants: { read: ['$WORKSPACE'] }
  - { id: files, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: operators, effect: allow, tools: ['sessions.*', 'mode.*'], who: [operator], approval: waived }
`;
const limitsYaml = `version: 1
rates: []
repeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }
quarantine: { at: 100000, window_minutes: 10, denied: 1, error: 0, timeout: 0 }
`;

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

async function startDaemon(t: TestContext, modesYaml: string): Promise<TestDaemon> {
  const files = { 'tools.yaml': toolsYaml, 'limits.yaml': limitsYaml, 'modes.yaml': modesYaml };
  const place = ownRules(newPlace(), files);
  // Where the tests run as root, programs run as somebody else.
  chmodSync(place.folder, 0o755);
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  return daemon;
}

/** How many programs sleep this long. The sandbox around each is another process, with more arguments. */
function countPrograms(marker: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      const [program = '', argument, ...more] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return program.endsWith('sleep') && argument === marker && more.length === 1;
    } catch {
      return false;
    }
  }).length;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await holds()) return;
    await pause(25);
  }
  assert.fail(`never: ${what}`);
}

test('each mode has its own number of calls at once, from the very next call on', async (t) => {
  const daemon = await startDaemon(t, 'version: 1\nmodes: { NORMAL: { max_running: 3 }, ALERT: { max_running: 1 } }\n');
  const agent = await daemon.newAgent('ada');
  const runMany = async (times: number, marker: string): Promise<number> => {
    let [most, isOver] = [0, false];
    const answers = Array.from({ length: times }, () =>
      daemon.call('shell.run', { command: `sleep ${marker}` }, { token: agent }),
    );
    const all = Promise.all(answers).finally(() => (isOver = true));
    while (!isOver) {
      most = Math.max(most, countPrograms(marker));
      await pause(5);
    }
    assert.deepEqual(new Set((await all).map(codeOf)), new Set([undefined]));
    return most;
  };
  const inNormal = await runMany(6, '1.51');
  assert.ok(inNormal > 1 && inNormal <= 3, `${inNormal} at once`);
  assert.ok((await daemon.call('mode.set', { mode: 'ALERT', cause: 'a test' })).success);
  assert.equal(await runMany(3, '0.52'), 1);
});

test('one session alone raises an alarm however it behaves, and two end in LOCKDOWN', async (t) => {
  requirement('MODE-2');
  const modesYaml = `version: 1
transitions:
  - { from: NORMAL, to: LOCKDOWN, when: { violations_per_minute: 30 }, hold_seconds: 0 }
  - { from: NORMAL, to: ALERT, when: { violations_per_minute: 30 }, hold_seconds: 0 }
  - { from: ALERT, to: LOCKDOWN, when: { violations_per_minute: 30 }, hold_seconds: 0 }
`;
  const daemon = await startDaemon(t, modesYaml);
  const [one, two] = [await daemon.newAgent('ada'), await daemon.newAgent('bob')];
  const modeNow = async () => (await daemon.status())['mode'];
  const violate = (token: string, times: number) =>
    Promise.all(Array.from({ length: times }, () => daemon.call('files.read', { path: '/etc/passwd' }, { token })));
  await violate(one, 200);
  await until('there is an alarm', async () => (await modeNow()) === 'ALERT');
  await violate(one, 200);
  // It looks once a second.
  await pause(2500);
  assert.equal(await modeNow(), 'ALERT');
  await violate(two, 40);
  await until('the gate is closed', async () => (await modeNow()) === 'LOCKDOWN');
  const { lastChange: last } = JSON.parse((await daemon.call('mode.show', {})).success?.outputJson ?? '{}') as {
    lastChange: { by: string; cause: string };
  };
  assert.equal(last.by, 'sallyport');
  assert.match(last.cause, /^violations_per_minute is \d+, at or above 30$/);
});

test('a write that LOCKDOWN meets is done whole or not at all, and leaves nothing behind', async (t) => {
  const daemon = await startDaemon(t, 'version: 1\n');
  const agent = await daemon.newAgent('ada');
  const before = Buffer.alloc(64 * 1024 * 1024, 'before ');
  const file = join(daemon.place.workspace, 'large.txt');
  for (const attempt of [1, 2, 3]) {
    writeFileSync(file, before);
    const writing = daemon.call('files.write', { path: 'large.txt', content: 'after', append: true }, { token: agent });
    await until('the write has begun', () => readdirSync(daemon.place.workspace).length > 1 || isLonger(file, before));
    assert.ok((await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' })).success);
    const answer = await writing;
    const found = readFileSync(file);
    const isDone = answer.success !== undefined;
    assert.ok(isDone || codeOf(answer) === 'CANCELLED', `attempt ${attempt}: ${JSON.stringify(answer)}`);
    assert.ok(found.equals(isDone ? Buffer.concat([before, Buffer.from('after')]) : before), `attempt ${attempt}`);
    assert.deepEqual(readdirSync(daemon.place.workspace), ['large.txt']);
    for (const mode of ['RECOVERY', 'NORMAL']) await daemon.call('mode.set', { mode, cause: 'a test' });
  }
});

function isLonger(file: string, than: Buffer): boolean {
  return readFileSync(file).length > than.length;
}
