import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Lease } from '../daemon/messages.ts';
import { tellLease } from './tell-lease.ts';

const lease = (more: object): Lease => ({ status: 'in force', scope: { tools: ['*'] }, ...more }) as unknown as Lease;

it('says what a lease permits, what it does not, and that it has ended', () => {
  assert.equal(tellLease(lease({})), 'may call every tool that the rules allow');
  const scope = { tools: ['files.*', 'git.diff'], paths: { names: ['/work'] }, hosts: { names: [] } };
  assert.equal(tellLease(lease({ scope })), 'may call files.*, git.diff, in /work, to the hosts none');
  assert.match(tellLease(lease({ expiresAtMs: '1900000000000' })), /allow until 20\d\d-\d\d-\d\d \d\d:\d\d$/);
  assert.equal(tellLease(lease({ status: 'ended' })), 'can call nothing: its lease has ended');
  assert.equal(tellLease(undefined), '');
});
