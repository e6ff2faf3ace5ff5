import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { LoopMemory } from '../governance/loop-memory.ts';
import type { LoopChecked } from '../model/call.ts';
import type { Refusal } from '../model/refusal.ts';
import { breakLoop } from './break-loop.ts';
import {
  allow,
  argumentsOf,
  assertPassed,
  assertRefused,
  judgedAs,
  nowMs,
  sessionOf,
  toolOf,
} from './facts.test-kit.ts';

/** An agent that calls, one minute after the other; each call that passes gets `result`. */
function openLoop() {
  const memory = new LoopMemory();
  const stage = breakLoop(memory);
  let minute = 0;
  return {
    wait: (minutes: number) => void (minute += minutes),
    call: ({ result = 'same', agent = 'ada', path = 'a', tool = 'notes.read' } = {}): LoopChecked | Refusal => {
      const atMs = nowMs + minute++ * 60_000;
      const checked = argumentsOf({ path });
      const facts = { ...checked, ...judgedAs(allow), session: sessionOf({ agent }), tool: toolOf({ name: tool }) };
      const answer = stage.run(facts, { nowMs: () => atMs }) as LoopChecked | Refusal;
      if ('warnings' in answer) memory.noteResult(agent, tool, checked.arguments.sha256, result, atMs);
      return answer;
    },
  };
}

test('the third same call is warned about and the fifth is refused', () => {
  requirement('PIPE-8');
  const { call } = openLoop();
  assert.deepEqual(assertPassed(call()).warnings, []);
  assert.deepEqual(assertPassed(call()).warnings, []);
  for (const attempt of [3, 4]) {
    const { warnings } = assertPassed(call());
    assert.deepEqual(warnings, [`This is call ${attempt} with the same arguments and the same result.`]);
  }
  for (const again of [5, 6]) {
    const refusal = assertRefused(call(), {
      code: 'CALL_REPEATED',
      rule: 'loop-gate',
      remedy: 'Use the result you have, change the arguments, or wait until something has changed.',
    });
    assert.equal(refusal.message, 'notes.read gave the same result for the same arguments 4 times.', String(again));
  }
});

test('another result starts the count anew', () => {
  requirement('PIPE-8');
  const { call } = openLoop();
  for (let times = 0; times < 4; times++) assertPassed(call());
  assert.ok('code' in call());
  const { call: other } = openLoop();
  for (let times = 0; times < 3; times++) assertPassed(other());
  assertPassed(other({ result: 'new' }));
  assert.deepEqual(assertPassed(other({ result: 'new' })).warnings, []);
});

test('other agents, other arguments and other tools are counted apart', () => {
  const { call } = openLoop();
  for (let times = 0; times < 4; times++) assertPassed(call());
  for (const other of [{ agent: 'bob' }, { path: 'b' }, { tool: 'notes.list' }]) {
    assert.deepEqual(assertPassed(call(other)).warnings, []);
  }
  assert.ok('code' in call());
});

test('what lies further back than the window is forgotten', () => {
  const { call, wait } = openLoop();
  for (let times = 0; times < 4; times++) assertPassed(call());
  assert.ok('code' in call());
  wait(10);
  assert.deepEqual(assertPassed(call()).warnings, []);
});
