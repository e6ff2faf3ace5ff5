import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultSettings } from '../call/organisation.ts';
import type { Organisation, Permission, PermissionLevel } from '../call/organisation.ts';
import { checkMember } from './check-member.ts';

function organisationOf(more: Partial<Organisation> = {}): Organisation {
  return {
    settings: defaultSettings,
    teams: [{ name: 'web' }],
    members: [{ kind: 'agent', name: 'ada', team: 'web', role: 'worker', addedAtMs: 0 }],
    permissions: [],
    ...more,
  };
}

const subjects: Record<PermissionLevel, string> = { organisation: '', team: 'web', agent: 'ada' };

function say(level: PermissionLevel, effect: Permission['effect'], tools = 'files.write'): Permission {
  return { level, subject: subjects[level], tools, effect, by: 'olga', atMs: 0 };
}

function answer(permissions: readonly Permission[], agent = 'ada', tool = 'files.write'): string {
  const check = checkMember(organisationOf({ permissions }), agent, tool);
  if (!check.allowed) return check.because;
  return check.membership.toolGranted === true ? 'granted' : 'by role';
}

test('where nothing was said the role decides; a grant adds to it, at every level', () => {
  assert.equal(answer([]), 'by role');
  for (const level of ['organisation', 'team', 'agent'] as const) {
    assert.equal(answer([say(level, 'granted')]), 'granted', level);
    assert.equal(answer([say(level, 'revoked')]), 'revoked', level);
  }
});

test('an agent has nothing that its team or the organisation has not', () => {
  assert.equal(answer([say('organisation', 'revoked'), say('agent', 'granted')]), 'revoked');
  assert.equal(answer([say('team', 'revoked'), say('agent', 'granted')]), 'revoked');
  assert.equal(answer([say('organisation', 'granted'), say('team', 'revoked')]), 'revoked');
  assert.equal(answer([say('organisation', 'granted'), say('agent', 'revoked')]), 'revoked');
});

test('what is said holds for whom and what it names, and for nobody and nothing else', () => {
  const forAda = [say('agent', 'granted', 'files.*')];
  assert.equal(answer(forAda, 'ada', 'files.delete'), 'granted');
  assert.equal(answer(forAda, 'ada', 'shell.run'), 'by role');
  assert.equal(answer(forAda, 'bob', 'files.delete'), 'by role');
  assert.equal(answer([say('team', 'granted')], 'bob'), 'by role');
  assert.equal(answer([say('organisation', 'granted')], 'bob'), 'granted');
});

test('the rules know the role and the team', () => {
  const check = checkMember(organisationOf(), 'ada', 'files.read');
  assert.deepEqual(check, { allowed: true, membership: { roles: ['worker'], teams: ['web'] } });
  assert.deepEqual(checkMember(organisationOf(), 'bob', 'files.read'), { allowed: true, membership: {} });
});

test('in a team only members call', () => {
  const team = organisationOf({ settings: { ...defaultSettings, profile: 'team' } });
  assert.deepEqual(checkMember(team, 'bob', 'files.read'), { allowed: false, because: 'not-a-member' });
  assert.equal(checkMember(team, 'ada', 'files.read').allowed, true);
});

test('saying that something is revoked never gives anybody more', () => {
  const levels = fc.constantFrom<PermissionLevel>('organisation', 'team', 'agent');
  const tools = fc.constantFrom('files.write', 'files.*', '*', 'shell.run');
  const effects = fc.constantFrom<Permission['effect']>('granted', 'revoked');
  const permission = fc.tuple(levels, effects, tools).map((parts) => say(...parts));
  const rank = ['revoked', 'by role', 'granted'];
  fc.assert(
    fc.property(fc.array(permission, { maxLength: 6 }), levels, tools, (said, level, tool) => {
      const before = answer(said);
      const after = answer([...said, say(level, 'revoked', tool)]);
      assert.ok(rank.indexOf(after) <= rank.indexOf(before), `${before} became ${after}`);
    }),
  );
});
