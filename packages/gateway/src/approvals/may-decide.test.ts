import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operator, sessionOf } from '../stages/facts.test-kit.ts';
import { mayDecide } from './may-decide.ts';
import type { Offices } from './may-decide.ts';

const agent = sessionOf({ id: 'of-the-agent' });
const reviewer = sessionOf({ id: 'of-the-reviewer', agent: 'rev' });
const endedReviewer = sessionOf({ id: reviewer.id, agent: 'rev', status: 'ended' });
const atConsole = { ...operator, id: 'of-the-console' };
const everyone: Offices = {
  isSenior: () => true,
  isDirector: () => true,
  isSeniorAgent: () => true,
  rulesHashFor: () => 'of-now',
  findSession: (id) => [agent, reviewer, atConsole].find((session) => session.id === id),
};
const about = { sessionId: agent.id, agent: agent.agent, approverRole: 'senior' } as const;

test('a person decides about the call of an agent, and an agent about none unless a rule names it', () => {
  assert.equal(mayDecide(everyone)(operator, about), undefined);
  assert.match(mayDecide(everyone)(agent, about) ?? '', /Only people/);
  assert.match(mayDecide(everyone)(sessionOf({ id: 'another' }), about) ?? '', /Only people/);
  assert.match(mayDecide(everyone)(reviewer, about) ?? '', /Only people/);
});

test('an agent that a rule names decides about agents below it, and all of it must hold', () => {
  const named = { ...about, risk: 'high', approvers: ['rev'], rulesHash: 'of-now' } as const;
  const may = mayDecide(everyone);
  const whenFound = (found: typeof reviewer | undefined) =>
    mayDecide({ ...everyone, findSession: (id) => (id === reviewer.id ? found : agent) });
  assert.equal(may(reviewer, named), undefined);
  for (const [what, refused, because] of [
    ['another agent is named', may(reviewer, { ...named, approvers: ['lea'] }), /Only people/],
    ['a person has the name', may({ ...operator, agent: 'rev' }, { ...named, approverRole: 'director' }), undefined],
    ['critical', may(reviewer, { ...named, risk: 'critical' }), /critical/],
    ['risk is not known', may(reviewer, { ...about, approvers: ['rev'], rulesHash: 'of-now' }), /critical/],
    ['for the director', may(reviewer, { ...named, approverRole: 'director' }), /critical/],
    ['its own call', may(reviewer, { ...named, sessionId: reviewer.id, agent: 'rev' }), /of their own/],
    ['its own call in another session', may(reviewer, { ...named, agent: 'rev' }), /of their own/],
    ['other rules', may(reviewer, { ...named, rulesHash: 'of-then' }), /rules have changed/],
    ['no hash of rules', may(reviewer, { ...about, risk: 'high', approvers: ['rev'] }), /rules have changed/],
    ['not senior', mayDecide({ ...everyone, isSeniorAgent: () => false })(reviewer, named), /for the senior/],
    ['its session ended', whenFound(endedReviewer)(reviewer, named), /has ended/],
    ['its session is gone', whenFound(undefined)(reviewer, named), /has ended/],
  ] as const) {
    if (because === undefined) assert.equal(refused, undefined, what);
    else assert.match(refused ?? '', because, what);
  }
});

test('nobody decides about a call of their own, whichever of their sessions made it', () => {
  for (const sessionId of [operator.id, atConsole.id]) {
    assert.match(mayDecide(everyone)(operator, { ...about, sessionId }) ?? '', /of their own/);
  }
  assert.equal(
    mayDecide(everyone)({ ...operator, agent: 'oskar', id: 'o' }, { ...about, sessionId: atConsole.id }),
    undefined,
  );
});

test('what is for the director is not for a senior, and the other way round', () => {
  const senior = mayDecide({ ...everyone, isDirector: () => false });
  const director = mayDecide({ ...everyone, isSenior: () => false });
  assert.equal(senior(operator, about), undefined);
  assert.match(senior(operator, { ...about, approverRole: 'director' }) ?? '', /for the director/);
  assert.equal(director(operator, { ...about, approverRole: 'director' }), undefined);
  assert.match(director(operator, about) ?? '', /for the senior/);
});
