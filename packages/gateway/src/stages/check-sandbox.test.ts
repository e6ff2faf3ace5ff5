import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noGrants } from '../call/verdict.ts';
import { checkSandbox } from './check-sandbox.ts';
import { allow, assertRefused, clock, judgedAs, toolOf } from './facts.test-kit.ts';

const missing = { reason: 'bubblewrap is not installed.', remedy: 'Run `apt-get install bubblewrap`.' };
const without = checkSandbox({ explainUnusable: () => missing });
const confined = { ...judgedAs(allow), tool: toolOf({ name: 'shell.run', requiresSandbox: true }) };

test('without a sandbox a tool that needs one is refused, with what is missing and the command that installs it', () => {
  const expected = {
    code: 'SANDBOX_UNAVAILABLE',
    rule: 'sandbox',
    remedy: undefined,
    forOperators: missing.remedy,
  } as const;
  const refusal = assertRefused(without.run(confined, clock), expected);
  assert.match(refusal.message, /shell\.run .* bubblewrap is not installed/);
});

test('a tool that needs no sandbox runs without one, and one that does where there is one', () => {
  assert.deepEqual(without.run({ ...confined, tool: toolOf() }, clock), {});
  assert.deepEqual(checkSandbox({ explainUnusable: () => undefined }).run(confined, clock), {});
});

test('only a rule that says so lets a program run unconfined', () => {
  const open = { ...allow, grants: { ...noGrants, isolation: 'none' } } as const;
  assert.deepEqual(without.run({ ...confined, ...judgedAs(open) }, clock), {});
  const granted = { ...allow, grants: { ...noGrants, read: ['/'] } } as const;
  assertRefused(without.run({ ...confined, ...judgedAs(granted) }, clock), {
    code: 'SANDBOX_UNAVAILABLE',
    rule: 'sandbox',
    remedy: undefined,
    forOperators: missing.remedy,
  });
});
