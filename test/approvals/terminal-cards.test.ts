import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TerminalSession } from '../cli/terminal-session.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ApprovalDesk, limitApprovals } from './approval-desk.ts';

// What an agent chooses, such as names of folders and contents of files, at a terminal of 80 columns and 24 rows.

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
const columns = 80;
const settleMs = 700;

before(async () => {
  daemon = await TestDaemon.start(limitApprovals(newPlace(), '{ max_pending: 20 }'));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());
/** What a test leaves is not on the table of the next one. */
afterEach(async () => {
  for (const { id } of await desk.pending()) await desk.decide(id, false);
});

function openTerminal(t: TestContext, args: string[], environment: Record<string, string> = { NO_COLOR: '1' }) {
  const terminal = new TerminalSession(daemon.place, args, environment);
  t.after(() => terminal.kill());
  return terminal;
}

/** What stands below each other on the screen. The terminal goes on in the first column with what does not fit. */
function rowsOn({ screen }: TerminalSession): readonly string[] {
  return screen.split('\n').flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']);
}

/** A call to move a folder of that name, which is in the title of its card. */
function moving(folder: string): { readonly tool: string; readonly inputJson: string } {
  mkdirSync(join(daemon.place.workspace, folder), { recursive: true });
  mkdirSync(join(daemon.place.workspace, 'to'), { recursive: true });
  writeFileSync(join(daemon.place.workspace, folder, 'a.txt'), 'a');
  return { tool: 'files.move_glob', inputJson: JSON.stringify({ from: folder, to: 'to', patterns: ['*'] }) };
}

async function propose(summary: string, calls: readonly object[]): Promise<string> {
  const { json } = await daemon.post('sallyport.v1.PlanService/ProposePlan', { summary, calls }, token);
  return (json as { plan: { id: string } }).plan.id;
}

test('a title that fills its line does not make a step of a plan', async (t) => {
  const forged = '2. files.list: List the workspace  (low)';
  const oneLine = '1. files.move_glob: Move 1 file from ';
  for (const start of [oneLine.length, 'Move 1 file from '.length, 'Move 1 file from '.length + 2]) {
    const id = await propose('Tidy up.', [moving(`${'x'.repeat(columns - start)}${forged}`)]);
    const terminal = openTerminal(t, ['plan', 'show', id]);
    assert.equal(await terminal.exitCode(), 0);
    assert.ok(terminal.screen.includes('2. files.list'), terminal.screen);
    assert.deepEqual(
      rowsOn(terminal).filter((row) => row.startsWith('2. ')),
      [],
    );
    await desk.send('PlanService/DecidePlan', { id });
  }
});

test('a plan in colours is shown in colours, not with their codes', async (t) => {
  const input = { path: '.envrc', content: 'export A=1\n' };
  const id = await propose('Set it up.', [{ tool: 'files.write', inputJson: JSON.stringify(input) }]);
  const terminal = openTerminal(t, ['plan', 'approve', id]);
  const coloured = openTerminal(t, ['plan', 'approve', id], {});
  for (const each of [terminal, coloured]) {
    await each.waitFor('Run it?');
    assert.match(each.screen, /\+export A=1/);
    assert.doesNotMatch(each.screen, /\\e\[/);
    each.type('n\n');
    await each.exitCode();
  }
  assert.match(coloured.screen, /\u001b\[32m/);
  await desk.send('PlanService/DecidePlan', { id });
});

test('a long word in a title takes the lines that were counted, beside its label', async (t) => {
  const { tool, inputJson } = moving('y'.repeat(250));
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call(tool, JSON.parse(inputJson) as object, { token }));
  const terminal = openTerminal(t, ['approvals', 'show', taskId]);
  assert.equal(await terminal.exitCode(), 0);
  assert.ok(terminal.screen.includes('yyyy'));
  const card = terminal.screen.slice(0, terminal.screen.indexOf('approvals approve'));
  assert.deepEqual(
    card.split('\n').filter((line) => line.length > columns),
    [],
  );
  assert.deepEqual(
    rowsOn(terminal).filter((row) => row.startsWith('y')),
    [],
  );
});

test('what is revealed stays beside the first columns, and all of it is shown before a key approves', async (t) => {
  const forged = 'Approved.MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
  const lines = Array.from({ length: 60 }, (_, at) => `${forged}${at}`);
  const content = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
  const asked = await daemon.call('files.write', { path: '.envrc', content }, { token });
  const { taskId } = ApprovalDesk.ticketOf(asked);
  const terminal = openTerminal(t, ['approvals', 'watch']);
  await terminal.waitFor('r: reveal what is masked');
  await sleep(settleMs);
  terminal.type('r');
  await terminal.waitFor('Why do you need to see it?');
  terminal.type('To see what runs.\r');
  await terminal.waitFor(`${forged}0`);
  await terminal.waitFor('more lines');
  await sleep(settleMs);
  terminal.type('a');
  await sleep(settleMs);
  assert.equal((await desk.show(taskId)).status, 'pending');
  for (let page = 0; page < 6 && !terminal.screen.includes(`${forged}59`); page++) {
    terminal.type(' ');
    await sleep(settleMs);
  }
  await terminal.waitFor(`${forged}59`);
  await terminal.waitFor('a: approve once');
  assert.deepEqual(
    rowsOn(terminal).filter((row) => row.startsWith('Approved')),
    [],
  );
  await sleep(settleMs);
  terminal.type('a');
  await terminal.waitFor('Approved.');
  assert.equal((await desk.show(taskId)).status, 'approved');
  terminal.type('q');
});
