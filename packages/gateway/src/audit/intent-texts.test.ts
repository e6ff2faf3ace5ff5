import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import type { Mode } from '../call/session.ts';
import type { Verdict } from '../call/verdict.ts';
import { Redactor } from '../redaction/redact.ts';
import { argumentsOf, callOf, judgedAs, rulesOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { describeCall, encodePayload } from './describe-call.ts';
import { IntentTexts } from './intent-texts.ts';

const sessions = [sessionOf(), sessionOf({ agent: 'other' })];
const tools = [toolOf(), toolOf({ name: 'notes.write', version: '2.0.0' }), toolOf({ secretArguments: ['path'] })];
const workspaces = ['/home/ada/work', '/home/ada/"else"', '/srv/hunter2-secret'].map((folder) => {
  return { ...rulesOf().workspace, folder };
});
const verdicts: readonly Verdict[] = [
  { effect: 'allow', rule: { id: 'read' }, reason: 'Reading is allowed.' },
  { effect: 'allow', rule: { id: 'read' }, reason: 'Because of hunter2-secret.' },
  { effect: 'allow', rule: { id: 'read' }, reason: 'Reading is allowed.', shadow: shadowOf('deny') },
  { effect: 'allow', rule: { id: 'read' }, reason: 'Reading is allowed.', shadow: shadowOf('require_approval') },
  { effect: 'require_approval', rule: { id: 'ask' }, reason: 'Somebody is asked.' },
];
const modes: readonly Mode[] = ['NORMAL', 'ALERT'];

function shadowOf(effect: 'deny' | 'require_approval'): NonNullable<Verdict['shadow']> {
  return { effect, rule: { id: 'tried' } } as NonNullable<Verdict['shadow']>;
}

const pick = <Item>(items: readonly Item[]) => fc.constantFrom(...items);

test('the text of an intent is that of its description, whatever came before it', () => {
  requirement('AUD-1');
  const step = fc.record({
    session: pick(sessions),
    tool: pick(tools),
    toolName: fc.constantFrom('notes.read', 'notes.write', 'note"s', 'hunter2-secret'),
    workspace: pick(workspaces),
    verdict: pick(verdicts),
    mode: pick(modes),
    path: fc.constantFrom('a', 'hunter2-secret', '"\\\u2028', 'x'.repeat(60_000)),
    requestId: fc.constantFrom('r-1', 'hunter2-secret'),
    consent: fc.boolean(),
    learn: fc.constantFrom(undefined, undefined, 'hunter2-secret', '/home/ada/work', 'Reading is allowed.'),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const redactor = new Redactor();
      const texts = new IntentTexts(redactor);
      for (const { learn, consent, session, tool, toolName, workspace, verdict, mode, path, requestId } of steps) {
        if (learn !== undefined) redactor.learn(learn);
        const judged = judgedAs(verdict, { ...rulesOf(), workspace });
        const call = {
          ...{ ...callOf({ toolName, requestId }), traceId: 'f'.repeat(32), session, tool, mode },
          ...{ ...argumentsOf({ path, limit: 7 }), ...judged },
        };
        const by = { by: 'olga', how: 'approved', atMs: 1, binding: 'b' } as const;
        const more = consent ? { consent: by, reusedFrom: 'c-1' } : {};
        assert.equal(texts.encode(call, more), encodePayload(describeCall(call, redactor, more)));
      }
    }),
  );
});

test('what the gate has learned since is in no further text', () => {
  requirement('AUD-4');
  const redactor = new Redactor();
  const texts = new IntentTexts(redactor);
  const judged = judgedAs({ effect: 'allow', rule: { id: 'read' }, reason: 'Because of sesame-opens.' });
  const call = {
    ...callOf(),
    session: sessionOf(),
    tool: toolOf(),
    mode: 'NORMAL',
    ...argumentsOf(),
    ...judged,
  } as const;
  assert.match(texts.encode(call, {}), /sesame-opens/);
  redactor.learn('sesame-opens');
  assert.doesNotMatch(texts.encode(call, {}), /sesame/);
});
