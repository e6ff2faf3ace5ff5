import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noGrants } from '../call/verdict.ts';
import { checkSandbox } from './check-sandbox.ts';
import { assertPassed, allow, assertRefused, clock, judgedAs, toolOf, runStage } from './facts.test-kit.ts';

const missing = { reason: 'bubblewrap is not installed.', remedy: 'Run `apt-get install bubblewrap`.' };
const without = checkSandbox({ explainUnusable: () => missing, explainWatched: () => undefined });
const watched = { reason: 'the daemon may not make control groups.', remedy: 'Run it as a service.' };
const confined = { ...judgedAs(allow), tool: toolOf({ name: 'shell.run', requiresSandbox: true }) };

test('without a sandbox a tool that needs one is refused, with what is missing and the command that installs it', () => {
  const expected = {
    code: 'SANDBOX_UNAVAILABLE',
    rule: 'sandbox',
    remedy: undefined,
    forOperators: missing.remedy,
  } as const;
  const refusal = assertRefused(runStage(without, confined, clock), expected);
  assert.match(refusal.message, /shell\.run .* bubblewrap is not installed/);
});

test('a tool that needs no sandbox runs without one, and one that does where there is one', async () => {
  assertPassed(await runStage(without, { ...confined, tool: toolOf() }, clock));
  assertPassed(
    await runStage(checkSandbox({ explainUnusable: () => undefined, explainWatched: () => watched }), confined, clock),
  );
});

test('only a rule that says so lets a program run unconfined', async () => {
  const open = { ...allow, grants: { ...noGrants, isolation: 'none' } } as const;
  assertPassed(await runStage(without, { ...confined, ...judgedAs(open) }, clock));
  const granted = { ...allow, grants: { ...noGrants, read: ['/'] } } as const;
  assertRefused(runStage(without, { ...confined, ...judgedAs(granted) }, clock), {
    code: 'SANDBOX_UNAVAILABLE',
    rule: 'sandbox',
    remedy: undefined,
    forOperators: missing.remedy,
  });
});

test('a rule can demand that limits are enforced; without it they may be watched', async () => {
  const stage = checkSandbox({ explainUnusable: () => undefined, explainWatched: () => watched });
  for (const isolation of ['sandbox', 'none'] as const) {
    const strict = { ...allow, grants: { ...noGrants, exactLimits: true, isolation } };
    const refusal = assertRefused(runStage(stage, { ...confined, ...judgedAs(strict) }, clock), {
      code: 'LIMIT_UNENFORCEABLE',
      rule: 'sandbox',
      remedy: undefined,
      forOperators: watched.remedy,
    });
    assert.match(refusal.message, /may not make control groups/);
  }
  assertPassed(await runStage(stage, { ...confined, ...judgedAs({ ...allow, grants: noGrants }) }, clock));
});
