import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalStatus, ApprovalTask } from '../../call/approval.ts';
import { nameCall, nameRequest, PendingTickets } from './pending-tickets.ts';
import type { TicketStore } from './pending-tickets.ts';

type Kept = Pick<ApprovalTask, 'id' | 'sessionId' | 'requestId' | 'status' | 'decidedAtMs'>;

/** A store of these tasks, given newest first, and how often it was asked for a list. */
function storeOf(...tasks: readonly Kept[]): TicketStore & { readonly lists: () => number } {
  let lists = 0;
  return {
    findApproval: async (id) => tasks.find((task) => task.id === id) as ApprovalTask | undefined,
    listApprovals: async ({ sessionId }) => {
      lists++;
      return tasks.filter((task) => task.sessionId === sessionId) as unknown as readonly ApprovalTask[];
    },
    lists: () => lists,
  };
}

const callName = nameCall('token', 'files.delete', '{}');
const kept = (status: ApprovalStatus, more: Partial<Kept> = {}): Kept => ({
  ...{ id: 't', sessionId: 's', requestId: nameRequest('12345678-9abc', 7, callName), status },
  ...(status === 'pending' ? {} : { decidedAtMs: Date.now() }),
  ...more,
});

test('a ticket is found by its call until it is forgotten', async () => {
  const tickets = new PendingTickets(storeOf());
  tickets.keep('s', callName, { taskId: 't', requestId: 'r' });
  assert.equal((await tickets.find('s', callName))?.requestId, 'r');
  assert.equal(await tickets.find('other', callName), undefined);
  tickets.forget('s', callName);
  assert.equal(await tickets.find('s', callName), undefined);
});

test('what waited before the start is recalled, whether or not somebody has decided since', async () => {
  for (const status of ['pending', 'approved', 'denied'] as const) {
    const tickets = new PendingTickets(storeOf(kept(status)));
    assert.deepEqual(await tickets.find('s', callName), { taskId: 't', requestId: `12345678:${callName}:7` });
    tickets.forget('s', callName);
    assert.equal(await tickets.find('s', callName), undefined, 'once: who was told and asks again begins anew');
  }
});

test('what is over, what was decided long ago and the requests of others are not recalled', async () => {
  const past = Date.now() - 3_700_000;
  for (const task of [
    kept('used'),
    kept('expired'),
    kept('denied', { decidedAtMs: past }),
    kept('approved', { decidedAtMs: past }),
    kept('pending', { sessionId: 'other' }),
    kept('pending', { requestId: 'mine' }),
    kept('pending', { requestId: nameRequest('1', 7) }),
  ]) {
    assert.equal(await new PendingTickets(storeOf(task)).find('s', callName), undefined, JSON.stringify(task));
  }
});

test('of several tasks for the same call the newest counts, and the store is asked once', async () => {
  const store = storeOf(kept('pending', { id: 'new' }), kept('denied', { id: 'old' }));
  const tickets = new PendingTickets(store);
  assert.equal((await tickets.find('s', callName))?.taskId, 'new');
  await tickets.find('s', 'another');
  assert.equal(store.lists(), 1);
});

test('a task that the caller names is found in its own session only', async () => {
  const tickets = new PendingTickets(storeOf(kept('pending', { requestId: 'mine' })));
  assert.deepEqual(await tickets.findTask('s', 't'), { taskId: 't', requestId: 'mine' });
  assert.equal(await tickets.findTask('other', 't'), undefined);
  assert.equal(await tickets.findTask('s', 'none'), undefined);
});

test('the same call with another token, of another tool or with other arguments is another call', async () => {
  const names = [
    nameCall('a', 'tool', '{}'),
    nameCall('b', 'tool', '{}'),
    nameCall('a', 'other', '{}'),
    nameCall('a', 'tool', '{"a":1}'),
  ];
  assert.equal(new Set(names).size, names.length);
});

test('the same id in two requests without a connection is told apart', async () => {
  assert.notEqual(nameRequest(undefined, 1), nameRequest(undefined, 1));
  assert.equal(nameRequest('12345678-9abc', 1), '12345678:1');
});

test('the oldest tickets make room for new ones', async () => {
  const tickets = new PendingTickets(storeOf());
  for (let at = 0; at < 5000; at++) tickets.keep('s', `call-${at}`, { taskId: `task-${at}`, requestId: '' });
  assert.equal(await tickets.find('s', 'call-0'), undefined);
  assert.equal((await tickets.find('s', 'call-4999'))?.taskId, 'task-4999');
});
