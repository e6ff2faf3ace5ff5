import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { ApprovalDesk, outputOf } from './approval-desk.ts';
import type { ApprovalJson } from './approval-desk.ts';

// The rules change while a call waits: what a person approved under the old ones would be worth nothing.

const rulesWith = (effect: string, note: string) => `version: 1
rules:
  - { id: printing, effect: ${effect}, tools: [shell.run], paths: ['$WORKSPACE/**'], reason: '${note}' }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;

before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), { 'tools.yaml': rulesWith('require_approval', 'first') }));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());

async function applyRules(effect: string, note: string): Promise<void> {
  writeFileSync(join(daemon.place.home, 'governance/tools.yaml'), rulesWith(effect, note));
  const asked = await daemon.call('policy.apply', {});
  const confirmBinding = asked.denied?.approval?.binding;
  outputOf(confirmBinding === undefined ? asked : await daemon.call('policy.apply', {}, { confirmBinding }));
}

const print = (word: string, more: object = {}): Promise<Answer> =>
  daemon.call('shell.run', { argv: ['printf', word] }, { token, ...more });

/** The one card that waits, once it is there and fits. */
async function awaitCard(fits: (card: ApprovalJson) => boolean): Promise<ApprovalJson> {
  for (;;) {
    const cards = await desk.pending();
    const card = cards.find(fits);
    if (card !== undefined && cards.length === 1) return card;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a call that waits is asked about anew, on one card, and runs once that is approved', async () => {
  const call = print('waiting', { waitMs: 60_000 });
  const first = await awaitCard(() => true);
  await applyRules('require_approval', 'second');
  const second = await awaitCard(({ id }) => id !== first.id);
  const ended = await desk.show(first.id);
  assert.deepEqual([ended.status, ended.decidedBy], ['denied', 'gate']);
  assert.match(ended.note ?? '', /rules have changed, and the same was asked again/);
  await desk.approve(second.id);
  assert.match((await call).success?.outputJson ?? '', /waiting/);
});

test('the card of a caller that does not wait says so, cannot be approved, and makes room for the new one', async () => {
  const { taskId } = ApprovalDesk.ticketOf(await print('gone'));
  await applyRules('require_approval', 'third');
  const card = (await desk.show(taskId)) as ApprovalJson & { readonly hold?: string };
  assert.match(card.hold ?? '', /^The rules have changed since this was asked/);
  const shown = runSallyport(daemon.place, ['approvals', 'show', taskId]).stdout;
  assert.match(shown, /approvals deny /);
  assert.doesNotMatch(shown, /approvals approve /, 'no command that would be refused');
  const { status, json } = await desk.decide(taskId, true);
  assert.equal(status, 400);
  assert.match(String(json['message']), /The rules have changed since this was asked.*The agent has to ask again\./);
  const again = ApprovalDesk.ticketOf(await print('gone'));
  assert.notEqual(again.taskId, taskId);
  assert.deepEqual(
    (await desk.pending()).map(({ id }) => id),
    [again.taskId],
  );
  await desk.approve(again.taskId);
  outputOf(await print('gone', { approvalTaskId: again.taskId }));
});

test('a call that the new rules forbid does not wait any longer', async () => {
  const call = print('forbidden', { waitMs: 60_000 });
  const card = await awaitCard(() => true);
  await applyRules('deny', 'fourth');
  assert.equal((await call).denied?.rationaleCode, 'RULE_DENIES');
  assert.equal((await desk.decide(card.id, true)).status, 400);
  assert.equal((await desk.decide(card.id, false)).status, 200);
});

test('nobody is asked about a call of a session that has ended', async () => {
  await applyRules('require_approval', 'fifth');
  const session = outputOf(await daemon.call('sessions.create', { agent: 'grace' }));
  const { taskId } = ApprovalDesk.ticketOf(await print('late', { token: String(session['token']) }));
  assert.equal((await desk.pending()).length, 1);
  outputOf(await daemon.call('sessions.end', { session_id: session['sessionId'] }));
  assert.deepEqual(await desk.pending(), []);
  const { status, decidedBy, note } = await desk.show(taskId);
  assert.deepEqual([status, decidedBy, note], ['denied', 'gate', 'The session that asked has ended.']);
  assert.equal((await desk.decide(taskId, true)).status, 409);
});
