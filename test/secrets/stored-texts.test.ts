import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const held = 'Zq7-vTx93kLmPw2RbNd8';
/** Set as a secret after texts with it were stored. */
const late = 'hG5-late-rYx84QwVbn31';

let daemon: TestDaemon;
let agent: string;

before(async () => {
  daemon = await TestDaemon.start(newPlace(), { DEPLOY_PASSWORD: held });
  agent = await daemon.newAgent('planner');
});
after(() => daemon.remove());

function piecesIn(value: string, text: string): string[] {
  const pieces = Array.from({ length: value.length - 7 }, (_, at) => value.slice(at, at + 8));
  return pieces.filter((piece) => text.includes(piece)).slice(0, 1);
}

const asText = async (answer: Promise<unknown>): Promise<string> => JSON.stringify(await answer);

test('the answer to a plan that the gates would stop repeats no secret', async () => {
  requirement('AUD-4');
  const calls = [
    { tool: 'files.read', arguments: { path: `/etc/${held}` }, reason: `because of ${held}` },
    { tool: held, arguments: { [held]: held }, reason: `because of ${held}` },
    { tool: 'files.read', arguments: { path: held, [held]: 1 }, reason: `because of ${held}` },
    { tool: 'files.list', arguments: { path: '.' }, reason: `because of ${held}` },
  ];
  const summary = `go to ${held}`;
  const planned = calls.map(({ tool, arguments: args, reason }) => ({ tool, inputJson: JSON.stringify(args), reason }));
  const answers = [
    await asText(daemon.call('plans.propose', { summary, calls }, { token: agent })),
    await asText(daemon.call('plans.propose', { summary, calls })),
    await asText(daemon.post('sallyport.v1.PlanService/ProposePlan', { summary, calls: planned }, agent)),
  ];
  for (const answer of answers) {
    assert.match(answer, /refused/);
    assert.match(answer, /NO_RULE_ALLOWS/);
    assert.deepEqual(piecesIn(held, answer), [], answer);
  }
});

interface Approvals {
  readonly approvals: readonly { readonly id: string }[];
}

const outputOf = ({ success }: { readonly success?: { readonly outputJson: string } }): unknown =>
  JSON.parse(success?.outputJson ?? '{}');

async function readStored(planId: string): Promise<Record<string, string>> {
  const { approvals } = outputOf(await daemon.call('approvals.list', { status: 'pending' })) as Approvals;
  const service = 'sallyport.v1.ApprovalService';
  const [{ id } = { id: '' }] = approvals;
  return {
    'approvals list': JSON.stringify(approvals),
    'approvals show': JSON.stringify(await daemon.call('approvals.show', { task_id: id })),
    'approvals of the console': await asText(daemon.post(`${service}/GetApproval`, { id })),
    'a card in the terminal': runSallyport(daemon.place, ['approvals', 'show', id]).stdout,
    'the plan for its agent': await asText(daemon.call('plans.show', { plan_id: planId }, { token: agent })),
    'the plan for a person': await asText(daemon.call('plans.show', { plan_id: planId })),
    'list of plans': await asText(daemon.call('plans.list', {}, { token: agent })),
    records: JSON.stringify(await daemon.records(0)),
    'audit tail': runSallyport(daemon.place, ['audit', 'tail', '-n', '100', '--json']).stdout,
  };
}

test('what was stored before a secret was set is shown without it afterwards, and the log still verifies', async () => {
  requirement('AUD-4');
  writeFileSync(join(daemon.place.workspace, `${late}.md`), 'x');
  const call = { tool: 'files.delete', arguments: { path: `${late}.md` }, reason: `it is ${late}` };
  const asked = await daemon.call(call.tool, call.arguments, { token: agent });
  assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(asked));
  const proposed = await daemon.call('plans.propose', { summary: `about ${late}`, calls: [call] }, { token: agent });
  const { plan } = outputOf(proposed) as { plan: { id: string } };
  assert.notEqual(plan.id, '', JSON.stringify(proposed));
  // It is only a name until somebody says that it is a secret.
  for (const [where, text] of Object.entries(await readStored(plan.id))) {
    assert.equal(piecesIn(late, text).length, 1, where);
  }
  assert.ok((await daemon.call('secrets.set', { name: 'late', value: late })).success);
  for (const [where, text] of Object.entries(await readStored(plan.id))) {
    assert.deepEqual(piecesIn(late, text), [], where);
    assert.match(text, /\[redacted\]/, where);
  }
  const { status, stdout, stderr } = runSallyport(daemon.place, ['audit', 'verify']);
  assert.equal(status, 0, stdout + stderr);
});
