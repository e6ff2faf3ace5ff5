import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TerminalSession } from '../cli/terminal-session.ts';
import type { Answer } from '../harness/daemon.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, outputOf, postJson } from './approval-desk.ts';

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
const secret = 'kJ83hQx2PzXw9BnRt7';

before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  outputOf(await daemon.call('secrets.set', { name: 'deploy-key', value: secret }));
});
after(() => daemon.remove());

interface Masked {
  readonly number: number;
  readonly mark: string;
  readonly characters: number;
  readonly name?: string;
}

/** A write that the shipped rules ask about, with the secret in it. */
const write = (more: object = {}) =>
  daemon.call('files.write', { path: '.envrc', content: `use ${secret}\nuse ${secret} again\n` }, { token, ...more });

async function ask(): Promise<string> {
  return ApprovalDesk.ticketOf(await write()).taskId;
}

/** As a person does it: the gate says what it would show, and they confirm that. */
async function reveal(input: object, tool = 'approvals.reveal'): Promise<Answer> {
  const asked = await daemon.call(tool, input);
  const confirmBinding = asked.denied?.approval?.binding;
  return confirmBinding === undefined ? asked : daemon.call(tool, input, { confirmBinding });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

test('a secret is masked with its length and name, and anyone who decides can look at it, on record, which holds nothing of it', async () => {
  requirement('APPR-2', 'AUD-4');
  const taskId = await ask();
  const shown = (await desk.show(taskId)) as unknown as { effect: string; masked: readonly Masked[] };
  const mark = '[secret 1: deploy-key, 18 characters]';
  assert.match(shown.effect, new RegExp(`use ${RegExp.escape(mark)}\n\\+use ${RegExp.escape(mark)} again`));
  assert.deepEqual(shown.masked, [{ number: 1, mark, characters: 18, name: 'deploy-key', held: true, rest: false }]);
  assert.ok(!JSON.stringify(shown).includes(secret.slice(0, 6)));

  const input = { task_id: taskId, number: 1, reason: 'Is it ours?' };
  const asked = await daemon.call('approvals.reveal', input);
  assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED');
  assert.match(asked.denied?.approval?.effect ?? '', /Show you secret 1 \(deploy-key, 18 characters\)/);
  const { revealed } = outputOf(await reveal(input)) as { revealed: readonly { value: string }[] };
  assert.deepEqual(
    revealed.map(({ value }) => value),
    [secret],
  );

  const records = (await daemon.records()).filter(({ payload }) => payload['tool'] === 'approvals.reveal');
  const intent = records.find(({ kind }) => kind === 'intent')?.payload;
  assert.deepEqual([intent?.['agent'], intent?.['principal']], ['operator', 'operator']);
  assert.deepEqual(intent?.['arguments'], input);
  const outcome = records.find(({ kind }) => kind === 'outcome')?.payload;
  assert.equal(outcome?.['summary'], `revealed secret 1 (deploy-key, 18 characters) of approval ${taskId}`);
  await desk.decide(taskId, false);
  const late = await reveal({ task_id: taskId, reason: 'Still curious.' });
  assert.match(late.error?.message ?? '', /decided, so its masked text is no longer kept/);
});

test('an agent cannot look, and nobody can without a reason', async () => {
  requirement('APPR-2');
  const taskId = await ask();
  const byAgent = await daemon.call('approvals.reveal', { task_id: taskId, reason: 'To see.' }, { token });
  assert.equal(byAgent.denied?.rationaleCode, 'UNKNOWN_TOOL');
  const without = await daemon.call('approvals.reveal', { task_id: taskId });
  assert.equal(without.denied?.rationaleCode, 'INVALID_ARGUMENTS');
  const other = await reveal({ task_id: taskId, number: 2, reason: 'To see.' });
  assert.match(JSON.stringify(other), /No secret 2 is masked in it/);
  await desk.decide(taskId, false);
});

test('who may not decide may not look', async () => {
  requirement('APPR-2');
  const manage = async (name: string, input: object): Promise<Answer> => reveal(input, name);
  await manage('create_agent', { name: 'ada' });
  await manage('grant_permission', { level: 'agent', subject: 'ada', tools: 'files.write' });
  await manage('system_config_change', { setting: 'profile', value: 'team' });
  const { credential } = outputOf(await daemon.call('people.add', { name: 'mallory' })) as { credential: string };
  const taskId = await ask();
  const body = { name: 'approvals.reveal', inputJson: JSON.stringify({ task_id: taskId, reason: 'To see.' }) };
  const target = { socketPath: daemon.operatorSocket };
  const { json } = await postJson(target, 'sallyport.v1.ToolService/ExecuteTool', body, credential);
  const { denied } = json as unknown as Answer;
  assert.deepEqual([denied?.rationaleCode, denied?.ruleId], ['RULE_DENIES', 'approver']);
  await manage('system_config_change', { setting: 'profile', value: 'personal' });
  await desk.decide(taskId, false);
});

test('after a restart it says that it has forgotten, until the agent asks again', async () => {
  requirement('APPR-2');
  const taskId = await ask();
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(daemon.place);
  desk = new ApprovalDesk(daemon);
  const input = { task_id: taskId, reason: 'Is it ours?' };
  assert.match((await reveal(input)).error?.message ?? '', /in memory only, and has been restarted/);
  assert.equal(ApprovalDesk.ticketOf(await write()).taskId, taskId);
  const { revealed } = outputOf(await reveal(input)) as { revealed: readonly { value: string }[] };
  assert.equal(revealed[0]?.value, secret);
  await desk.decide(taskId, false);
});

test('in a plan each step has its own', async () => {
  requirement('APPR-2');
  const calls = ['harmless', secret].map((content) => ({
    tool: 'files.write',
    inputJson: JSON.stringify({ path: '.envrc', content }),
  }));
  const planner = await daemon.newAgent('bob');
  const proposed = await daemon.post('sallyport.v1.PlanService/ProposePlan', { summary: 'Two.', calls }, planner);
  const { plan } = proposed.json as { plan: { id: string } };
  const { json } = await desk.send('PlanService/GetPlan', { id: plan.id });
  assert.match(JSON.stringify(json), /\[secret 1: deploy-key, 18 characters\]/);
  const [none, one] = [0, 1].map((step) => reveal({ plan_id: plan.id, step, reason: 'To see.' }, 'plans.reveal'));
  assert.match(JSON.stringify(await none), /Nothing is masked in it/);
  assert.deepEqual((outputOf((await one) ?? assert.fail()) as { revealed: unknown }).revealed, [
    { number: 1, name: 'deploy-key', characters: 18, rest: false, value: secret },
  ]);
  await desk.send('PlanService/DecidePlan', { id: plan.id });
  const late = await reveal({ plan_id: plan.id, step: 1, reason: 'To see.' }, 'plans.reveal');
  assert.match(late.error?.message ?? '', /decided/);
});

test('at a terminal it is asked why, what would be shown is said, and a yes shows it', async (t) => {
  requirement('APPR-2');
  const taskId = await ask();
  const shown = runSallyport(daemon.place, ['approvals', 'show', taskId]);
  assert.match(shown.stdout, /\[secret 1: deploy-key, 18 characters\]/);
  assert.match(shown.stdout, new RegExp(`approvals show ${taskId} --reveal`));
  const terminal = new TerminalSession(daemon.place, ['approvals', 'show', taskId, '--reveal'], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  await terminal.waitFor('Why do you need to see it?');
  terminal.type('Is it ours?\n');
  await terminal.waitFor('Show you secret 1 (deploy-key, 18 characters).');
  await terminal.waitFor('[y/N]');
  assert.ok(!terminal.screen.includes(secret));
  terminal.type('y\n');
  await terminal.waitFor(secret);
  assert.equal(await terminal.exitCode(), 0);
  const script = runSallyport(daemon.place, ['approvals', 'show', taskId, '--reveal', '--json']);
  assert.equal(script.status, 1);
  assert.match(script.stderr + script.stdout, /--reason/);
  await desk.decide(taskId, false);
});

test('after all of this no file of the gate holds the secret in the clear', () => {
  requirement('AUD-4');
  const files = filesBelow(daemon.place.home);
  assert.ok(files.some((file) => file.endsWith('sallyport.db')));
  assert.deepEqual(
    files.filter((file) => readFileSync(file).includes(secret)),
    [],
  );
});
