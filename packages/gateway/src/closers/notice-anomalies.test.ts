import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Code } from '@sallyport/contract';
import type { CallFact } from '../anomalies/call-fact.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { ToolDefinition } from '../call/tool.ts';
import type { Ending } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';
import { callOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { completed, factsOf, failed, faulted, refused } from './ending.test-kit.ts';
import { noticeAnomalies } from './notice-anomalies.ts';

const session = sessionOf();
const administration: ToolDefinition = toolOf({ name: 'secrets.list', audience: 'operator' }).definition;

/** What the detectors are told of an ending. Undefined: nothing. */
function factFrom(ending: Ending<CallFacts>): CallFact | undefined {
  const facts: CallFact[] = [];
  const closer = noticeAnomalies({
    note: (fact) => facts.push(fact),
    findTool: (name) => (name === 'secrets.list' ? administration : undefined),
    findSessionByToken: (sha256) => (sha256 === hash('sha256', 'known') ? session : undefined),
  });
  assert.equal(closer.run(ending, { nowMs: () => 7 }), undefined, 'nobody waits for it');
  return facts[0];
}

const refusedAs = (code: Code, more: Partial<CallFacts> = {}, rule = 'a-rule') =>
  refused(refuse(code, rule, 'No.'), 'a-stage', factsOf(more));

test('a call that went well, one that failed and one that was refused are told apart', () => {
  const ok = factFrom(completed());
  assert.deepEqual([ok?.agent, ok?.result, ok?.failed, ok?.atMs], [session.agent, 'ok', false, 7]);
  const wrong = factFrom(failed(new ToolFailure('NOT_FOUND', 'It is not there.')));
  assert.deepEqual([wrong?.result, wrong?.failed, wrong?.sign], ['NOT_FOUND', true, undefined]);
  const no = factFrom(refusedAs('RULE_DENIES'));
  assert.deepEqual([no?.result, no?.failed, no?.sign], ['RULE_DENIES', true, undefined]);
});

test('what is not the doing of the agent is no failure of it', () => {
  for (const code of ['RATE_LIMITED', 'MODE_FORBIDS', 'SEALED', 'TOO_MANY_CALLS', 'DISK_NEARLY_FULL'] as const) {
    assert.equal(factFrom(refusedAs(code))?.failed, false, code);
  }
  assert.equal(factFrom(failed(new ToolFailure('CANCELLED', 'It was cancelled.')))?.failed, false);
  assert.equal(factFrom(faulted(new Error('ours'), 'a-stage', factsOf()))?.failed, false);
});

test('a call that waits for a person counts when it has ended, and calls of operators never do', () => {
  const approval = { binding: 'b', effect: '' };
  const waiting = refuse('APPROVAL_REQUIRED', 'r', 'Ask.', { approval });
  assert.equal(factFrom(refused(waiting, 'seek-approval', factsOf())), undefined);
  assert.equal(factFrom(completed({ session: { ...session, principal: 'operator' } })), undefined);
});

test('a refused call has the name that was asked for, and that of the tool where there is one', () => {
  const unresolved = (toolName: string) => {
    const { tool: _tool, ...facts } = factsOf({ toolName });
    return factFrom(refused(refuse('UNKNOWN_TOOL', 'registry', 'No.'), 'resolve-tool', facts));
  };
  assert.deepEqual([unresolved('made-up')?.tool, unresolved('made-up')?.sign], ['made-up', undefined]);
  const asked = unresolved('secrets.list');
  assert.deepEqual([asked?.tool, asked?.definition, asked?.sign], ['secrets.list', administration, 'administration']);
});

test('refusals that show an attempt to get more rights are signs of it', () => {
  for (const [code, rule, sign] of [
    ['OUTSIDE_LEASE', 'lease', 'lease'],
    ['PROTECTED_PATH', 'protected', 'protected_path'],
    ['CONFIRM_TOKEN_TRACE', 'token', 'other_token'],
    ['CONFIRM_TOKEN_INVALID', 'token', 'bad_token'],
    ['RULE_DENIES', 'outside-role', 'role'],
    ['RULE_DENIES', 'permission-revoked', 'role'],
    ['MALFORMED_CALL', 'agent-claim', 'other_agent'],
    ['NO_RULE_ALLOWS', 'a-rule', undefined],
    ['APPROVAL_DENIED', 'a-rule', undefined],
  ] as const) {
    assert.equal(factFrom(refusedAs(code, {}, rule))?.sign, sign, `${code} ${rule}`);
  }
  const director = toolOf({ name: 'permissions.grant', audience: 'director' });
  assert.equal(factFrom(refusedAs('RULE_DENIES', { tool: director }))?.sign, 'administration');
  assert.equal(factFrom(completed({ tool: director }))?.sign, undefined);
});

test('who has no valid credential is nobody, and an agent at the door of operators is known', () => {
  const without = (code: Code, credential: string | undefined) =>
    factFrom(refused(refuse(code, 'credential', 'No.'), 'open-session', { ...callOf(), credential }));
  assert.deepEqual(
    [without('UNAUTHENTICATED', 'guess')?.agent, without('UNAUTHENTICATED', 'guess')?.sign],
    ['', 'bad_credential'],
  );
  assert.equal(without('UNAUTHENTICATED', undefined), undefined, 'a call without a credential guesses nothing');
  const knocking = without('WRONG_DOOR', 'known');
  assert.deepEqual([knocking?.agent, knocking?.sign], [session.agent, 'operator_door']);
  assert.equal(without('SESSION_ENDED', 'known'), undefined);
});
