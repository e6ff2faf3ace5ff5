import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

/** A duration that nothing else on the machine sleeps. */
const asleep = '86399.25';

// No question here: these tests are about what runs.
const rule = `
  - id: without-question
    effect: allow
    tools: [slow, chatty]
    approval: waived
`;

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newToolPlace(rule));
  // Children, one of them on its own, and deaf to everything that can be ignored.
  const tree = `trap '' INT TERM HUP\n(setsid sleep ${asleep} &)\nsleep ${asleep} &\necho started >&2\nsleep ${asleep}`;
  writeProgram(daemon.place, 'slow.sh', shellProgram('slow', tree));
  const words = `for word in one two three; do echo "$word" >&2; sleep 0.3; done\necho '{"done":true}'`;
  writeProgram(daemon.place, 'chatty.sh', shellProgram('chatty', words));
  for (const name of ['slow', 'chatty']) runSallyport(daemon.place, ['tool', 'accept', name, '--yes']);
});
after(() => daemon.remove());

function openTerminal(t: TestContext, ...args: string[]): TerminalSession {
  const terminal = new TerminalSession(daemon.place, ['tool', 'invoke', ...args], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  return terminal;
}

function listSleepers(): readonly string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(`sleep\0${asleep}`);
    } catch {
      return false;
    }
  });
}

async function untilNobodySleeps(): Promise<void> {
  for (let looks = 0; looks < 100 && listSleepers().length > 0; looks++) await setTimeout(50);
  assert.deepEqual(listSleepers(), []);
}

test('what a tool says on standard error is shown while it runs', async (t) => {
  requirement('UI-1');
  const terminal = openTerminal(t, 'chatty');
  await terminal.waitFor('one');
  assert.ok(!terminal.screen.includes('three'), 'it comes as it is said');
  await terminal.waitFor('three');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
  assert.match(terminal.screen, /done +true/);
});

test('a call that says nothing shows how long it has been running', async (t) => {
  requirement('UI-1');
  const terminal = openTerminal(t, 'slow', '--timeout-ms', '2500');
  await terminal.waitFor('slow is running, 1 s (Ctrl-C cancels)');
  assert.equal(await terminal.exitCode(), 4);
  assert.match(terminal.screen, /TIMEOUT/);
  await untilNobodySleeps();
});

test('Ctrl-C cancels the call, and every process of it is gone', async (t) => {
  requirement('UI-1');
  const terminal = openTerminal(t, 'slow');
  await terminal.waitFor('started');
  for (let looks = 0; looks < 100 && listSleepers().length < 3; looks++) await setTimeout(50);
  assert.equal(listSleepers().length, 3, 'the whole tree is there');
  terminal.type('\u0003');
  assert.equal(await terminal.exitCode(), 130, terminal.screen);
  assert.match(terminal.screen, /Cancelled\.\n$/);
  await untilNobodySleeps();
  // The processes are gone a moment before the record is there. The test before this one left a TIMEOUT.
  const codes = async (): Promise<(string | undefined)[]> =>
    (await daemon.records())
      .filter(({ kind, payload }) => kind === 'outcome' && payload['tool'] === 'slow')
      .map(({ payload }) => (payload['error'] as { code: string } | undefined)?.code);
  for (let looks = 0; looks < 200 && (await codes()).length < 2; looks++) await setTimeout(50);
  assert.deepEqual(await codes(), ['TIMEOUT', 'CANCELLED']);
});

test('what a program wrote before it failed is shown once', () => {
  writeProgram(daemon.place, 'chatty.sh', shellProgram('chatty', 'echo "the disk is on fire" >&2; exit 3'));
  runSallyport(daemon.place, ['tool', 'accept', 'chatty', '--yes']);
  const { status, stderr } = runSallyport(daemon.place, ['tool', 'invoke', 'chatty']);
  assert.equal(status, 4);
  assert.equal(stderr.split('the disk is on fire').length - 1, 1, stderr);
  assert.match(stderr, /failed with exit code 3\./);
});

test('an argument that is text stays text, whatever it looks like', () => {
  const run = (...args: string[]) => runSallyport(daemon.place, ['tool', 'invoke', ...args]);
  assert.equal(run('files.write', 'path=number.txt', 'content=123').status, 0);
  assert.match(run('files.read', 'path=number.txt').stdout, /123/);
});
