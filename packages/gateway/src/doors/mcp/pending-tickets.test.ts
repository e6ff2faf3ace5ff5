import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PendingTickets, ticketKey } from './pending-tickets.ts';

test('a ticket is found by its call and by its task, until it is forgotten', () => {
  const tickets = new PendingTickets();
  const key = ticketKey('session', 'files.delete', '{}');
  tickets.keep(key, { taskId: 't', requestId: 'r' });
  assert.equal(tickets.find(key)?.requestId, 'r');
  assert.equal(tickets.findTask('t')?.requestId, 'r');
  tickets.forget(key);
  assert.equal(tickets.find(key) ?? tickets.findTask('t'), undefined);
});

test('the same call of another session, of another tool or with other arguments is another call', () => {
  const keys = [
    ticketKey('a', 'tool', '{}'),
    ticketKey('b', 'tool', '{}'),
    ticketKey('a', 'other', '{}'),
    ticketKey('a', 'tool', '{"a":1}'),
  ];
  assert.equal(new Set(keys).size, keys.length);
});

test('the oldest tickets make room for new ones', () => {
  const tickets = new PendingTickets();
  for (let at = 0; at < 5000; at++) tickets.keep(`call-${at}`, { taskId: `task-${at}`, requestId: '' });
  assert.equal(tickets.find('call-0') ?? tickets.findTask('task-0'), undefined);
  assert.equal(tickets.find('call-4999')?.taskId, 'task-4999');
});
