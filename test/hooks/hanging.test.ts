import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runHook } from './hook-program.ts';

let daemon: TestDaemon;
let environment: Readonly<Record<string, string>>;

before(async () => {
  daemon = await TestDaemon.start(newPlace());
  const { home, workspace } = daemon.place;
  const token = await daemon.newAgent('claude-code');
  environment = { SALLYPORT_HOME: home };
  mkdirSync(join(home, 'clients'), { recursive: true });
  const session = { root: workspace, sessionId: 'x', token };
  writeFileSync(join(home, 'clients/claude-code.json'), JSON.stringify({ sessions: [session] }));
});
after(async () => {
  daemon.process.kill('SIGCONT');
  await daemon.remove();
});

const bash = (command: string) => ({
  ...{ session_id: 's', transcript_path: '/dev/null', cwd: daemon.place.workspace, permission_mode: 'default' },
  ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command }, tool_use_id: `use-${command}` },
});

test('the hook waits for a person longer than for a gate that hangs, and blocks when the gate hangs', async () => {
  const asked = runHook('claude-code', bash('npm install'), environment);
  const desk = new ApprovalDesk(daemon);
  let task: string | undefined;
  while (task === undefined) {
    await sleep(100);
    task = (await desk.pending())[0]?.id;
  }
  // Longer than the hook waits for a sign of life.
  await sleep(25_000);
  await desk.approve(task);
  const { exitCode, stdout } = await asked;
  assert.equal(exitCode, 0);
  assert.match(stdout, /"permissionDecision":"allow"/);

  daemon.process.kill('SIGSTOP');
  const hung = await runHook('claude-code', bash('ls'), environment);
  assert.equal(hung.exitCode, 2);
  assert.equal(hung.stdout, '');
  assert.match(hung.stderr, /Sallyport blocks this: the gate hangs/);

  daemon.process.kill('SIGCONT');
  // A use of its own: the gate may have decided about the one before, and then it is under way.
  const again = await runHook('claude-code', { ...bash('ls'), tool_use_id: 'use-again' }, environment);
  assert.match(again.stdout, /"permissionDecision":"allow"/, again.stderr);
});
