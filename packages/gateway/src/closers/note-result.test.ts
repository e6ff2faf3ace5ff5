import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { LoopMemory } from '../governance/loop-memory.ts';
import { refuse } from '../model/refusal.ts';
import { ToolFailure } from '../model/tool.ts';
import { argumentsOf, clock, nowMs, sessionOf } from '../stages/facts.test-kit.ts';
import { completed, factsOf, failed, faulted, refused } from './ending.test-kit.ts';
import { noteResult } from './note-result.ts';

const { sha256 } = argumentsOf({ path: 'a' }).arguments;

function openMemory() {
  const memory = new LoopMemory();
  const closer = noteResult(memory);
  return {
    note: (ending: Parameters<typeof closer.run>[0]) => closer.run(ending, clock),
    seen: (agent = 'ada', tool = 'notes.read') => memory.countSame(agent, tool, sha256, nowMs - 1),
  };
}

test('same results add up, another one starts anew', async () => {
  requirement('PIPE-8');
  const { note, seen } = openMemory();
  await note(completed({}, { lines: 1 }));
  await note(completed({}, { lines: 1 }));
  assert.equal(seen(), 2);
  await note(completed({}, { lines: 2 }));
  assert.equal(seen(), 1);
});

test('the same failure is the same result; another message is another one', async () => {
  const { note, seen } = openMemory();
  await note(failed(new ToolFailure('NOT_FOUND', 'a is gone')));
  await note(failed(new ToolFailure('NOT_FOUND', 'a is gone')));
  assert.equal(seen(), 2);
  await note(failed(new ToolFailure('NOT_FOUND', 'b is gone')));
  assert.equal(seen(), 1);
});

test('results are remembered by agent', async () => {
  const { note, seen } = openMemory();
  await note(completed({ session: sessionOf({ agent: 'bob' }) }));
  assert.equal(seen(), 0);
  assert.equal(seen('bob'), 1);
});

test('refusals and faults are no results', async () => {
  const { note, seen } = openMemory();
  await note(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', factsOf()));
  await note(faulted(new Error('bug'), 'execute-tool', factsOf()));
  assert.equal(seen(), 0);
});
