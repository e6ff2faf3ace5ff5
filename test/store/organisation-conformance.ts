import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSettings } from '../../packages/gateway/src/call/organisation.ts';
import type { Member, OrganisationChange, Permission } from '../../packages/gateway/src/call/organisation.ts';
import type { ReopenedStore } from './mode-conformance.ts';

/** What every store must do about the organisation. */
export function testOrganisation({ store, reopen }: ReopenedStore): void {
  const make = (change: OrganisationChange) => store().changeOrganisation(change);
  const ada: Member = {
    kind: 'agent',
    name: 'ada',
    team: 'web',
    role: 'worker',
    senior: 'olga',
    seniorAgent: 'rev',
    systemPrompt: 'Be brief.',
    addedAtMs: 5,
  };
  const granted: Permission = {
    level: 'team',
    subject: 'web',
    tools: 'git.*',
    effect: 'granted',
    by: 'olga',
    atMs: 7,
  };

  test('an organisation begins empty, and keeps what it is told', async () => {
    assert.deepEqual(store().readOrganisation(), {
      settings: defaultSettings,
      teams: [],
      members: [],
      permissions: [],
    });
    await make({ kind: 'put-team', team: { name: 'web', senior: 'otto', seniorAgent: 'rev' } });
    await make({ kind: 'put-member', member: ada });
    await make({ kind: 'put-member', member: { kind: 'person', name: 'ada', addedAtMs: 6 } });
    await make({ kind: 'put-permission', permission: granted });
    const settings = { profile: 'team', organisationName: 'Acme' } as const;
    await make({ kind: 'put-settings', settings });
    const expected = {
      settings,
      teams: [{ name: 'web', senior: 'otto', seniorAgent: 'rev' }],
      members: [ada, { kind: 'person', name: 'ada', addedAtMs: 6 }],
      permissions: [granted],
    };
    assert.deepEqual(store().readOrganisation(), expected);
    await reopen();
    assert.deepEqual(store().readOrganisation(), expected);
    assert.equal(store().readOrganisation(), store().readOrganisation());
  });

  test('what is put again takes the place of what was there', async () => {
    await make({ kind: 'put-team', team: { name: 'web' } });
    await make({ kind: 'put-member', member: { ...ada, role: 'manager' } });
    await make({ kind: 'put-permission', permission: { ...granted, effect: 'revoked' } });
    const { teams, members, permissions } = store().readOrganisation();
    assert.deepEqual(teams, [{ name: 'web' }]);
    assert.equal(members.find(({ kind }) => kind === 'agent')?.role, 'manager');
    assert.deepEqual(permissions, [{ ...granted, effect: 'revoked' }]);
  });

  test('nobody joins a team that is not there', async () => {
    await assert.rejects(make({ kind: 'put-member', member: { ...ada, team: 'nowhere' } }));
    assert.equal(store().readOrganisation().members.length, 2);
  });

  test('with a team goes what was said about it, and its members stay in none', async () => {
    assert.equal(await make({ kind: 'remove-team', name: 'web' }), true);
    assert.equal(await make({ kind: 'remove-team', name: 'web' }), false);
    const { members, permissions } = store().readOrganisation();
    assert.equal(members.find(({ kind }) => kind === 'agent')?.team, undefined);
    assert.deepEqual(permissions, []);
  });

  test('with an agent goes what was said about it, but not a person of the same name', async () => {
    const permission: Permission = { ...granted, level: 'agent', subject: 'ada' };
    await make({ kind: 'put-permission', permission });
    assert.equal(await make({ kind: 'remove-member', of: 'agent', name: 'ada' }), true);
    const { members, permissions } = store().readOrganisation();
    assert.deepEqual([members.map(({ kind }) => kind), permissions], [['person'], []]);
    assert.equal(await make({ kind: 'remove-permission', permission }), false);
    await make({ kind: 'put-permission', permission });
    assert.equal(await make({ kind: 'remove-permission', permission }), true);
    await make({ kind: 'remove-member', of: 'person', name: 'ada' });
    await make({ kind: 'put-settings', settings: defaultSettings });
  });
}
