import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSettings } from '../call/organisation.ts';
import type { Member, Organisation, Profile } from '../call/organisation.ts';
import { sessionOf } from '../stages/facts.test-kit.ts';
import { Offices } from './offices.ts';

const person = (name: string) => sessionOf({ principal: 'operator', agent: name });
const agent = (name: string, more: Partial<Member> = {}): Member => ({ kind: 'agent', name, addedAtMs: 0, ...more });
const director = (name: string): Member => ({ kind: 'person', name, role: 'director', addedAtMs: 0 });

interface Setup {
  readonly profile?: Profile;
  readonly members?: readonly Member[];
  readonly active?: readonly string[];
}

function officesOf({ profile = 'team', members = [], active = ['operator', 'sue', 'dora'] }: Setup = {}): Offices {
  const organisation: Organisation = {
    settings: { ...defaultSettings, profile },
    teams: [{ name: 'web', senior: 'sue' }, { name: 'data' }, { name: 'ops', seniorAgent: 'rev' }],
    members,
    permissions: [],
  };
  return new Offices({
    readOrganisation: () => organisation,
    activePeople: () => active,
    owner: 'operator',
    rolesOf: () => [],
  });
}

test('under the profile personal the person who runs the gate decides about every agent', () => {
  const offices = officesOf({ profile: 'personal' });
  assert.ok(offices.isDirector(person('operator')));
  assert.ok(offices.isSenior(person('anyone'), 'ada'));
  assert.equal(offices.routeApproval({ agent: 'ada' }, 'critical'), 'director');
  assert.equal(offices.routeApproval({ agent: 'ada' }, 'high'), 'senior');
  assert.ok(!offices.isDirector(sessionOf({ principal: 'agent', agent: 'operator' })), 'a name makes nobody a person');
});

test("an agent's own senior comes before that of its team", () => {
  const members = [agent('ada', { team: 'web' }), agent('bob', { team: 'web', senior: 'dora' }), agent('eve')];
  const offices = officesOf({ members });
  assert.equal(offices.seniorOf('ada'), 'sue');
  assert.equal(offices.seniorOf('bob'), 'dora');
  assert.equal(offices.seniorOf('eve'), undefined);
  assert.ok(offices.isSenior(person('sue'), 'ada'));
  assert.ok(!offices.isSenior(person('sue'), 'bob'));
  assert.ok(!offices.isDirector(person('sue')));
});

test('the owner is director until one is named, and can still put things right afterwards', () => {
  assert.ok(officesOf().isDirector(person('operator')));
  const offices = officesOf({ members: [director('dora')] });
  assert.ok(offices.isDirector(person('dora')));
  assert.ok(!offices.isDirector(person('operator')));
  assert.ok(offices.mayAdminister(person('operator')));
  assert.ok(!offices.mayAdminister(person('sue')));
});

test('high goes to the senior, critical to a director; where nobody could decide, nobody is asked', () => {
  const members = [agent('ada', { team: 'web' }), director('dora')];
  const routes = (active: readonly string[]) => {
    const offices = officesOf({ members, active });
    return [offices.routeApproval({ agent: 'ada' }, 'high'), offices.routeApproval({ agent: 'ada' }, 'critical')];
  };
  assert.deepEqual(routes(['sue', 'dora']), ['senior', 'director']);
  assert.deepEqual(routes(['sue', 'operator']), ['senior', undefined]);
  assert.deepEqual(routes(['dora']), ['senior', 'director']);
  assert.deepEqual(routes(['operator']), [undefined, undefined]);
});

test('an agent stands above another when the organisation says so, and nobody does in a circle', () => {
  const below = agent('ada', { seniorAgent: 'rev' });
  assert.ok(officesOf({ members: [below, agent('rev')] }).isSeniorAgent('rev', 'ada'));
  for (const [what, members] of [
    ['no member', [below]],
    ['a person of the name', [below, director('rev')]],
    ['nobody said so', [agent('ada'), agent('rev')]],
    ['another is named', [agent('ada', { seniorAgent: 'lea' }), agent('rev'), agent('lea')]],
    ['a person is', [agent('ada', { senior: 'rev' }), agent('rev')]],
    ['each above the other', [below, agent('rev', { seniorAgent: 'ada' })]],
    ['a longer circle', [below, agent('rev', { seniorAgent: 'lea' }), agent('lea', { seniorAgent: 'ada' })]],
  ] as const) {
    assert.ok(!officesOf({ members }).isSeniorAgent('rev', 'ada'), what);
  }
  const itself = officesOf({ members: [agent('rev', { seniorAgent: 'rev' })] });
  assert.ok(!itself.isSeniorAgent('rev', 'rev'));
  const offices = officesOf({ members: [below, agent('rev', { seniorAgent: 'lea' }), agent('lea')] });
  assert.ok(!offices.isSeniorAgent('lea', 'ada'), 'only the next above');
  assert.ok(!offices.isSenior(sessionOf({ principal: 'agent', agent: 'rev' }), 'ada'), 'the office of a person');
});

test('the senior agent of a team stands above its members, unless they have their own', () => {
  const members = [
    agent('ada', { team: 'ops' }),
    agent('bob', { team: 'ops', seniorAgent: 'lea' }),
    agent('rev'),
    agent('lea'),
  ];
  const offices = officesOf({ members });
  assert.equal(offices.seniorAgentOf('ada'), 'rev');
  assert.equal(offices.seniorAgentOf('bob'), 'lea');
  assert.ok(offices.isSeniorAgent('rev', 'ada') && !offices.isSeniorAgent('rev', 'bob'));
});
