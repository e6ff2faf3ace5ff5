import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { fillIn } from '../redaction/credentials/credential-example.test-kit.ts';
import { credentialPatterns } from '../redaction/credentials/index.ts';
import { Redactor } from '../redaction/redact.ts';
import type { CallEnding } from '../call/stage.ts';
import { refuse } from '../call/refusal.ts';
import { NetworkLog } from '@sallyport/sandbox';
import { ToolFailure } from '../call/tool.ts';
import { callOf, toolOf } from '../stages/facts.test-kit.ts';
import { answerCall } from './answer-call.ts';

const secret = 'hunter2-secret';
const redactor = new Redactor([secret]);

function show(ending: Partial<CallEnding>): string {
  return JSON.stringify(answerCall(ending as CallEnding, redactor, 0));
}

test('no part of a refusal shows a secret, the name of a tool that nobody has included', () => {
  requirement('AUD-4');
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', `no ${secret}`, {
    remedy: `try without ${secret}`,
    violations: [{ field: secret, rule: 'unknown', message: `${secret} is not an argument` }],
  });
  const text = show({ kind: 'refused', call: callOf({ toolName: secret }), refusal, stage: 'check-arguments' });
  assert.ok(!text.includes(secret), text);
  assert.match(text, /try without \[redacted\]/);
  assert.match(text, /INVALID_ARGUMENTS/);
});

test('a rule is not suggested for a path with a secret in it: there it is spelled so that nothing recognises it', () => {
  requirement('AUD-4');
  const { match = [] } = credentialPatterns.find(({ id }) => id === 'password-hash') ?? {};
  const { text, secrets } = fillIn(match[0] ?? '');
  const remedyFor = (claimed: string): string => {
    const resources = { paths: [{ path: claimed, access: 'read' as const }] };
    const remedy = `paths: ["${claimed.replaceAll(/[{}$]/g, '?')}"]`;
    const refusal = refuse('NO_RULE_ALLOWS', 'default-deny', `No rule allows ${claimed}.`, { remedy });
    return show({ kind: 'refused', call: { ...callOf(), tool: toolOf(), resources }, refusal, stage: 'judge-call' });
  };
  for (const each of secrets) assert.ok(!remedyFor(`/etc/${text}`).includes(each), remedyFor(text));
  assert.match(remedyFor('/etc/{a}'), /paths: \[\\"\/etc\/\?a\?/);
});

test('a fault does not show what a tool was called that nobody has', () => {
  requirement('AUD-4');
  const call = callOf({ toolName: secret });
  assert.ok(!show({ kind: 'faulted', call, fault: new Error('bug'), stage: 'resolve-tool' }).includes(secret));
});

test('the message of a failed tool shows no secret and keeps its code and category', () => {
  requirement('AUD-4');
  const failure = new ToolFailure('NOT_FOUND', `There is no ${secret}.`, { category: 'validation_failed' });
  const call = { ...callOf(), tool: toolOf(), warnings: [], execution: { usage: {} }, outcome: { ok: false, failure } };
  const text = show({ kind: 'completed', call } as never);
  assert.ok(!text.includes(secret), text);
  assert.match(text, /NOT_FOUND.*There is no \[redacted\]\..*validation_failed/);
});

test('what a tool returned is handed on as it is', () => {
  const outcome = { ok: true, outputJson: `"${secret}"`, summary: '' };
  const call = { ...callOf(), tool: toolOf(), warnings: [], execution: { usage: {} }, outcome };
  assert.match(show({ kind: 'completed', call } as never), new RegExp(secret));
});

test('hosts that were refused are named in a warning, without a secret in their names', () => {
  const network = new NetworkLog();
  network.add({ outcome: 'refused', target: `${secret}.evil.test:443`, times: 1 });
  for (let at = 0; at < 70; at++) network.add({ outcome: 'refused', target: `h${at}.test:443`, times: 1 });
  const outcome = { ok: true, outputJson: '{}', summary: '' };
  const call = { ...callOf(), tool: toolOf(), warnings: ['first'], execution: { network }, outcome };
  const { warnings } = answerCall({ kind: 'completed', call } as never, redactor, 0);
  assert.equal(warnings.length, 2);
  assert.match(
    warnings[1] ?? '',
    /^Sallyport refused to connect this call to \[redacted\]\.evil\.test:443, .* and 51 more\.$/,
  );
});
