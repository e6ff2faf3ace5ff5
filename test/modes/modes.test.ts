import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const sleepRules = `version: 1
rules:
  - id: sleeping
    effect: allow
    tools: [shell.run]
    commands: ['sleep *']
    approval: waived
    grants: { read: ['$WORKSPACE'] }
  - id: sleeping-with-the-network
    effect: allow
    tools: [shell.run]
    commands: ['sleep 27.1828']
    approval: waived
    grants: { hosts: [example.com] }
  - id: writing
    effect: allow
    tools: [files.write]
    paths: ['$WORKSPACE/**']
    approval: waived
  - id: reading-anytime
    effect: allow
    tools: [files.read]
    modes: [NORMAL, ALERT, DEGRADED, LOCKDOWN, RECOVERY]
    paths: ['$WORKSPACE/**']
  - id: listing
    effect: allow
    tools: [files.list]
    paths: ['$WORKSPACE/**']
  - id: operators
    effect: allow
    tools: ['sessions.*', 'mode.*']
    who: [operator]
    approval: waived
`;

const outputOf = (answer: Answer): Record<string, unknown> =>
  JSON.parse(answer.success?.outputJson ?? assert.fail(JSON.stringify(answer))) as Record<string, unknown>;
const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

/** Processes whose command line holds this text. */
function findProcesses(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await pause(50);
  }
  assert.fail(`never: ${what}`);
}

describe('the mode of a running gate', () => {
  let daemon: TestDaemon;
  let agent: string;
  const setMode = (mode: string) => daemon.call('mode.set', { mode, cause: `a test wants ${mode}` });

  before(async () => {
    const place = ownRules(newPlace(), { 'tools.yaml': sleepRules });
    // Where the tests run as root, programs run as somebody else.
    chmodSync(place.folder, 0o755);
    daemon = await TestDaemon.start(place);
    agent = await daemon.newAgent('ada');
  });
  after(() => daemon.remove());

  test('LOCKDOWN stops a running program that changes something, with its processes, and says so in the log', async () => {
    const marker = '31.4159';
    const running = daemon.call('shell.run', { command: `sleep ${marker}` }, { token: agent });
    const begun = until('the program runs', () => findProcesses(marker).length > 0).then(() => undefined);
    assert.equal(JSON.stringify(await Promise.race([begun, running])), undefined, 'it ended before it was stopped');
    outputOf(await setMode('LOCKDOWN'));
    const stopped = await running;
    assert.equal(codeOf(stopped), 'CANCELLED', JSON.stringify(stopped));
    assert.match(stopped.error?.message ?? '', /LOCKDOWN/);
    assert.deepEqual(findProcesses(marker), []);
    const events = (await daemon.records()).filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
    const noted = events.find(({ event }) => event === 'calls_stopped');
    assert.deepEqual(noted?.['calls'], [stopped.callId]);
    const outcome = (await daemon.records()).find(
      ({ kind, callId }) => kind === 'outcome' && callId === stopped.callId,
    );
    assert.equal(outcome?.result, 'error');
  });

  test('LOCKDOWN ends a call that may have had effects elsewhere as unknown, and its dedupe key stays taken', async () => {
    await setMode('RECOVERY');
    await setMode('NORMAL');
    const marker = '27.1828';
    const input = { command: `sleep ${marker}` };
    const running = daemon.call('shell.run', input, { token: agent, dedupeKey: 'once' });
    await until('the program runs', () => findProcesses(marker).length > 0);
    outputOf(await setMode('LOCKDOWN'));
    const stopped = await running;
    assert.equal(codeOf(stopped), 'EFFECT_UNKNOWN', JSON.stringify(stopped));
    assert.deepEqual(findProcesses(marker), []);
    const outcome = (await daemon.records()).find(
      ({ kind, callId }) => kind === 'outcome' && callId === stopped.callId,
    );
    assert.equal(outcome?.result, 'unknown');
    await setMode('RECOVERY');
    await setMode('NORMAL');
    const again = await daemon.call('shell.run', input, { token: agent, dedupeKey: 'once' });
    assert.equal(codeOf(again), 'DEDUPE_UNKNOWN');
    await setMode('LOCKDOWN');
  });

  test('in LOCKDOWN nothing runs but what a rule names for it, and administration', async () => {
    const write = await daemon.call('files.write', { path: 'a.txt', content: 'x' }, { token: agent });
    assert.equal(codeOf(write), 'MODE_FORBIDS');
    const list = await daemon.call('files.list', { path: '.' }, { token: agent });
    assert.equal(codeOf(list), 'MODE_FORBIDS');
    assert.match(list.denied?.remedy ?? '', /^Wait until the mode changes\./);
    const read = await daemon.call('files.read', { path: 'a.txt' }, { token: agent });
    assert.equal(codeOf(read), 'NOT_FOUND');
    outputOf(await daemon.call('sessions.list', {}));
    outputOf(await daemon.call('sessions.create', { agent: 'bob' }));
  });

  test('the ways out of LOCKDOWN are few, and the mode outlives a kill', async () => {
    requirement('MODE-1');
    assert.equal(codeOf(await setMode('NORMAL')), 'MODE_FORBIDS');
    await daemon.kill('SIGKILL');
    daemon = await TestDaemon.start(daemon.place);
    assert.equal((await daemon.status())['mode'], 'LOCKDOWN');
    outputOf(await setMode('RECOVERY'));
    assert.equal(codeOf(await daemon.call('files.list', { path: '.' }, { token: agent })), undefined);
    outputOf(await setMode('NORMAL'));
    const write = await daemon.call('files.write', { path: 'a.txt', content: 'x' }, { token: agent });
    assert.equal(codeOf(write), undefined);
    const { changes } = outputOf(await daemon.call('mode.history', { limit: 2 })) as {
      changes: { from: string; to: string; by: string; cause: string }[];
    };
    assert.deepEqual(
      changes.map(({ from, to, by, cause }) => [from, to, by, cause]),
      [
        ['RECOVERY', 'NORMAL', 'operator', 'a test wants NORMAL'],
        ['LOCKDOWN', 'RECOVERY', 'operator', 'a test wants RECOVERY'],
      ],
    );
  });

  test('an agent can neither see nor change the mode', async () => {
    const answer = await daemon.call('mode.set', { mode: 'ALERT', cause: 'mine' }, { token: agent });
    assert.equal(codeOf(answer), 'UNKNOWN_TOOL');
  });

  test('the command line shows, sets and lists', async () => {
    const run = (...args: string[]) => runSallyport(daemon.place, args);
    const shown = run('mode', 'show', '--json');
    assert.equal((JSON.parse(shown.stdout) as { mode: string }).mode, 'NORMAL');
    const changed = run('mode', 'set', 'alert', '--cause', 'from the command line');
    assert.equal(changed.status, 0, changed.stderr);
    assert.match(run('mode', 'show').stdout, /^ALERT\n(?:.*\n)*.*32 calls/);
    assert.match(run('mode', 'history').stdout, /NORMAL +ALERT +operator +from the command line/);
    const refused = run('mode', 'set', 'RECOVERY', '--cause', 'no such way');
    assert.equal(refused.status, 3);
    assert.match(refused.stderr, /From ALERT it can change to NORMAL or DEGRADED or LOCKDOWN/);
    assert.equal(run('mode', 'set', 'NORMAL', '--cause', 'done').status, 0);
  });
});

test('a disk with too little space enters DEGRADED, where fewer calls a minute run', async () => {
  requirement('MODE-3');
  // More than any disk here has free: what is measured is real, only the threshold is not.
  const modesYaml = `version: 1
modes: { DEGRADED: { max_running: 4, calls_per_minute: 3 } }
transitions:
  - { from: NORMAL, to: DEGRADED, when: { disk_free_mb: 10000000 }, hold_seconds: 0 }
`;
  const daemon = await TestDaemon.start(ownRules(newPlace(), { 'modes.yaml': modesYaml }));
  try {
    await until('the gate is degraded', async () => (await daemon.status())['mode'] === 'DEGRADED');
    const shown = outputOf(await daemon.call('mode.show', {})) as {
      lastChange: { by: string; cause: string };
    };
    assert.equal(shown.lastChange.by, 'sallyport');
    assert.match(shown.lastChange.cause, /^disk_free_mb is \d+, below 10000000$/);
    const agent = await daemon.newAgent('ada');
    // At most two windows of three calls each begin while these run.
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => daemon.call('files.list', { path: '.' }, { token: agent })),
    );
    const limited = answers.filter((answer) => codeOf(answer) === 'RATE_LIMITED');
    assert.ok(limited.length >= 6, JSON.stringify(answers.map(codeOf)));
    assert.ok(answers.length - limited.length >= 3);
    assert.ok(Number(limited[0]?.error?.retryAfterMs) > 0);
    const write = await daemon.call('files.write', { path: 'a.txt', content: 'x' }, { token: agent });
    assert.equal(write.success, undefined, 'what changes something does not run while space runs out');
  } finally {
    await daemon.remove();
  }
});
