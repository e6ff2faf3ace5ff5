import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { openTypedClient } from '../protocol/typed-client.ts';
import type { Request, Response, TypedClient } from '../protocol/typed-client.ts';
import { ApprovalDesk, listWorkspace } from './approval-desk.ts';
import type { ApprovalJson } from './approval-desk.ts';

const rules = `version: 1
rules:
  - { id: reading, effect: allow, tools: [files.read], paths: ['$WORKSPACE/**'] }
  - { id: writing, effect: require_approval, tools: [files.write], paths: ['$WORKSPACE/**'] }
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
let typed: TypedClient;

before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), { 'tools.yaml': rules }));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  typed = openTypedClient(Number(new URL(daemon.address).port));
});
after(async () => {
  typed.close();
  await daemon.remove();
});

function write(path: string, more: Partial<Request> = {}): Promise<Response> {
  const file = { path, content: Buffer.from(path), create_only: false, append: false };
  return typed.execute({ request_id: path, session_token: token, file_write: file, ...more });
}

/** The card of the call that waits. */
async function awaitCard(path: string): Promise<ApprovalJson & { readonly [field: string]: unknown }> {
  for (;;) {
    const card = (await desk.pending()).find(({ title }) => title.includes(path));
    if (card !== undefined) return card as ApprovalJson & { readonly [field: string]: unknown };
  }
}

test('a typed call is answered once, after the decision', async () => {
  const answer = write('approved.txt');
  const card = await awaitCard('approved.txt');
  assert.deepEqual([card['createdBy'], card['assignedTo']], ['ada', card['assignedTo']]);
  assert.ok(card['assignedTo'], JSON.stringify(card));
  await desk.approve(card.id);
  assert.equal((await answer).result, 'success', JSON.stringify(await answer));
  assert.ok(listWorkspace(daemon).includes('approved.txt'));
  const waiting = (await daemon.records()).find(({ result }) => result === 'pending');
  assert.equal(waiting?.payload['tool'], 'files.write');
  assert.ok(!(await daemon.records()).some(({ result }) => result === 'denied'));
});

test('a typed call that a person decides against names the task, and one that names an approved task runs', async () => {
  const answer = write('denied.txt');
  const { id } = await awaitCard('denied.txt');
  await desk.decide(id, false);
  const { denied } = await answer;
  assert.equal(denied?.rationale_code, 'APPROVAL_DENIED');
  const { approval } = denied as unknown as {
    readonly approval: { readonly task_id: string; readonly status: string };
  };
  assert.deepEqual([approval.task_id, approval.status], [id, 'denied']);

  const asked = await daemon.call('files.write', { path: 'later.txt', content: 'later.txt' }, { token });
  const { taskId } = ApprovalDesk.ticketOf(asked);
  const wrong = await write('other.txt', { approval_task_id: taskId });
  assert.equal(wrong.denied?.rationale_code, 'APPROVAL_MISMATCH');
  await desk.approve(taskId);
  const later = await write('later.txt', { approval_task_id: taskId });
  assert.equal(later.result, 'success', JSON.stringify(later));
  const forged = await write('other.txt', { confirm_token: 'not ours' });
  assert.equal(forged.denied?.rationale_code, 'CONFIRM_TOKEN_INVALID');
});
