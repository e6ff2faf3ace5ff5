import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operator, sessionOf } from '../stages/facts.test-kit.ts';
import { mayDecide } from './may-decide.ts';
import type { Offices } from './may-decide.ts';

const agent = sessionOf({ id: 'of-the-agent' });
const atConsole = { ...operator, id: 'of-the-console' };
const everyone: Offices = {
  isSenior: () => true,
  isDirector: () => true,
  findSession: (id) => [agent, atConsole].find((session) => session.id === id),
};
const about = { sessionId: agent.id, agent: agent.agent, approverRole: 'senior' } as const;

test('a person decides about the call of an agent, and an agent about none', () => {
  assert.equal(mayDecide(everyone)(operator, about), undefined);
  assert.match(mayDecide(everyone)(agent, about) ?? '', /Only people/);
  assert.match(mayDecide(everyone)(sessionOf({ id: 'another' }), about) ?? '', /Only people/);
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
