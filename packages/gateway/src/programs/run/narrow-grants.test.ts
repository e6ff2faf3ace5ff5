import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noGrants } from '../../call/verdict.ts';
import { narrowGrants } from './narrow-grants.ts';

const grants = {
  ...noGrants,
  read: ['/work', '/data/in'],
  write: ['/work/out'],
  hosts: ['api.example.com:8443', 'b.org'],
};

test('a lease that names neither paths nor hosts leaves the grants as they are', () => {
  assert.equal(narrowGrants(grants, {}), grants);
});

test('of granted and leased folders the deeper one remains, and what only one side names is gone', () => {
  const { read, write } = narrowGrants(grants, { paths: ['/work/project', '/data'] });
  assert.deepEqual(read, ['/work/project', '/data/in']);
  assert.deepEqual(write, []);
  assert.deepEqual(narrowGrants(grants, { paths: [] }).read, []);
  assert.deepEqual(narrowGrants(grants, { paths: ['/work', '/work'] }).read, ['/work']);
  assert.deepEqual(narrowGrants(grants, { paths: ['/workshop'] }).write, []);
});

test('a host remains only if the lease names it, whatever its port', () => {
  assert.deepEqual(narrowGrants(grants, { hosts: ['*.example.com'] }).hosts, ['api.example.com:8443']);
  assert.deepEqual(narrowGrants(grants, { hosts: [] }).hosts, []);
});
