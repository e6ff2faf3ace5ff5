import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNode, checkPrograms, checkSpace } from './machine-checks.ts';
import { describeAbilities } from './describe-abilities.ts';

const mebibyte = 1024 * 1024;

test('an old Node fails, with what to do', () => {
  assert.equal(checkNode('26.0.0').state, 'ok');
  const old = checkNode('22.19.0');
  assert.equal(old.state, 'fail');
  assert.match(old.remedy ?? '', /newer Node/);
});

test('a disk that is nearly full fails, one that fills up is told', () => {
  const stateAt = (free: number) => checkSpace('/', () => free).state;
  assert.deepEqual(
    [63, 65, 2048].map((free) => stateAt(free * mebibyte)),
    ['fail', 'warn', 'ok'],
  );
});

test('programs of the system that are missing come with the command that installs them', () => {
  assert.deepEqual(
    checkPrograms(() => true),
    [],
  );
  const missing = checkPrograms(() => false);
  assert.deepEqual(
    missing.map(({ name, state }) => [name, state]),
    [
      ['util-linux', 'fail'],
      ['perl', 'warn'],
      ['git', 'warn'],
    ],
  );
  assert.ok(missing.every(({ name, remedy }) => remedy?.includes(name)));
});

test('a sandbox that does not work fails with the reason and the cure', () => {
  const cure = { usable: false, reason: 'bubblewrap is not installed.', remedy: 'apt-get install bubblewrap' } as const;
  const [sandbox, limits] = describeAbilities({ sandbox: cure, limits: 'none' });
  assert.deepEqual([sandbox?.state, sandbox?.remedy], ['fail', 'apt-get install bubblewrap']);
  assert.match(sandbox?.message ?? '', /bubblewrap is not installed/);
  assert.equal(limits?.state, 'warn');
  assert.match(limits?.remedy ?? '', /service install/);
  const working = describeAbilities({ sandbox: { usable: true, version: '0.8.0' }, limits: 'cgroup' });
  assert.deepEqual(
    working.map(({ state }) => state),
    ['ok', 'ok'],
  );
  assert.equal(describeAbilities({ sandbox: { usable: true, version: '0.8.0' }, limits: 'sampled' })[1]?.state, 'warn');
});
