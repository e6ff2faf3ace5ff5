import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TerminalSession } from '../cli/terminal-session.ts';
import { ConsoleBrowser } from '../console/console-browser.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { HookClient } from '../hooks/hook-client.ts';
import { ApprovalDesk } from './approval-desk.ts';

let daemon: TestDaemon;
let client: HookClient;
/** Keys are dead for a moment after a card has appeared. */
const settleMs = 700;

before(async () => {
  daemon = await TestDaemon.start();
  client = new HookClient(daemon, await daemon.newAgent('claude-code'));
});
after(() => daemon.remove());
/** A test that failed half-way must not leave its calls to the next one. */
afterEach(async () => {
  const desk = new ApprovalDesk(daemon);
  for (const { id } of await desk.pending()) await desk.decide(id, false);
});

const use = (command: string) => client.use('Bash', { command });
const rulesFile = (): string => join(daemon.place.home, 'governance/tools.yaml');
const rules = (): string => (existsSync(rulesFile()) ? readFileSync(rulesFile(), 'utf8') : '');

/** Whether somebody is asked about it; they say no. */
async function asks(command: string): Promise<boolean> {
  const desk = new ApprovalDesk(daemon);
  const using = use(command);
  for (;;) {
    const first = await Promise.race([desk.pending(), using.then(() => 'over' as const)]);
    if (first === 'over') return false;
    const [task] = first;
    if (task === undefined) continue;
    await desk.decide(task.id, false);
    await using;
    return true;
  }
}

test('at the terminal, always shows the rule, widens it by one step at a time, adds it and approves the call', async (t) => {
  const terminal = new TerminalSession(daemon.place, ['approvals', 'watch'], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  await terminal.waitFor('q leaves');
  const running = use('npm run lint -- --fix');
  await terminal.waitFor('A: always');
  await sleep(settleMs);
  terminal.type('A');
  await terminal.waitFor('Exactly this command');
  await terminal.waitFor('Type always');
  terminal.type('\n');
  await terminal.waitFor('A: always');
  await sleep(settleMs);
  terminal.type('A');
  await terminal.waitFor('Type always');
  terminal.type('w\n');
  await terminal.waitFor('commands: ["npm run *"]');
  await terminal.waitFor('Type always');
  terminal.type('always\n');
  await terminal.waitFor('Approved.');
  await terminal.waitFor('The rule is in force.');
  assert.equal((await running).permissionDecision, 'allow');
  assert.match(rules(), /commands: \["npm run \*"\]/);
  terminal.type('q');
  await terminal.exitCode();
  assert.equal((await use('npm run lint -- --quiet')).permissionDecision, 'allow');
  assert.ok(await asks('npm publish'));
});

test('in the console, always shows the rule in a dialog, and cancelling it changes nothing', async () => {
  const browser = await ConsoleBrowser.open();
  try {
    const visit = await browser.logIn(daemon);
    const running = use('make docs');
    await visit.open('approvals');
    const always = visit.page.getByRole('button', { name: /Always/ });
    const dialog = visit.page.getByRole('dialog', { name: 'Never ask about this again' });
    await visit.canApprove();
    const untouched = rules();
    await always.click();
    await dialog.getByText('Exactly this command').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(rules(), untouched);
    await always.click();
    await dialog.getByText('nothing that was ever denied becomes allowed').waitFor();
    await dialog.getByRole('button', { name: 'Widen it' }).click();
    await dialog.getByText('with any further words, on the same files and in the same folder.').first().waitFor();
    await dialog.getByRole('button', { name: 'Add the rule and approve' }).click();
    assert.equal((await running).permissionDecision, 'allow');
    await visit.page.getByText(/a rule lets such calls through/).waitFor();
    assert.equal((await use('make docs -j4')).permissionDecision, 'allow');
    assert.ok(await asks('make install'));
    assert.deepEqual(visit.complaints, []);
  } finally {
    await browser.close();
  }
});

test('a call of which a part is unknown offers no rule, and says why', async () => {
  const desk = new ApprovalDesk(daemon);
  const running = use('npm exec "$TOOL"');
  let task: string | undefined;
  while (task === undefined) task = (await desk.pending())[0]?.id;
  const { callId } = (await desk.show(task)) as unknown as { callId: string };
  const answer = await daemon.call('policy.draft', { call: callId });
  assert.match(answer.error?.message ?? '', /not known/, JSON.stringify(answer));
  await desk.decide(task, false);
  assert.equal((await running).permissionDecision, 'deny');
});
