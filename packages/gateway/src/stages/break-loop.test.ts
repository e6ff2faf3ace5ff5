import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { LoopMemory } from '../policy/judge/loop-memory.ts';
import type { Outcome } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Resources, ToolDefinition } from '../call/tool.ts';
import { breakLoop } from './break-loop.ts';
import { compareResult } from './compare-result.ts';
import { allow, argumentsOf, callOf, judgedAs, nowMs, sessionOf, toolOf, runStage } from './facts.test-kit.ts';

interface Asked extends Partial<ToolDefinition> {
  readonly result?: string;
  readonly failure?: ToolFailure;
  readonly session?: string;
  readonly path?: string;
  readonly reused?: boolean;
  readonly paths?: Resources['paths'];
  readonly principal?: 'operator' | 'agent';
}

/** What came of a call: the stage that refused it, or its warnings. */
type Answered = { readonly refused: Refusal; readonly ran: boolean } | { readonly warnings: readonly string[] };

/** A session that calls, one minute after the other. The limits: warned at 3, delayed from 4, refused at 6, changes at 5. */
function openLoop() {
  const memory = new LoopMemory();
  let minute = 0;
  return {
    wait: (minutes: number) => void (minute += minutes),
    call: async (asked: Asked = {}): Promise<Answered> => {
      const { result = 'same', failure, session = 's-1', path = 'a', reused = false, paths = [], ...more } = asked;
      const { principal = 'agent', ...definition } = more;
      const atMs = nowMs + minute++ * 30_000;
      const context = { nowMs: () => atMs };
      const facts = {
        ...{ ...callOf(), ...argumentsOf({ path }), ...judgedAs(allow), resources: { paths } },
        session: sessionOf({ id: session, principal }),
        tool: toolOf({ mutates: false, ...definition }),
        ...(reused ? { reused: { output: result, callId: 'c' } } : {}),
      };
      const begun = await runStage(breakLoop(memory), facts, context);
      if (isRefusal(begun)) return { refused: begun, ran: false };
      const outcome: Outcome =
        failure === undefined ? { ok: true, outputJson: result, summary: '' } : { ok: false, failure };
      const ended = await runStage(compareResult(memory), { ...facts, warnings: begun.warnings, outcome }, context);
      return isRefusal(ended) ? { refused: ended, ran: true } : { warnings: ended.warnings };
    },
  };
}

type Call = ReturnType<typeof openLoop>['call'];

/** How often it was answered before it was refused; at most 20. */
async function countAnswers(call: Call, asked: Asked = {}): Promise<number> {
  for (let times = 0; times < 20; times++) if ('refused' in (await call(asked))) return times;
  return 20;
}

const change = { mutates: true, name: 'notes.write' } as const;

test('a call that reads is warned about, then slowed down, then refused, each time after it ran', async () => {
  requirement('PIPE-8');
  const { call } = openLoop();
  const warned = [];
  for (let times = 1; times <= 5; times++) {
    const answer = await call();
    assert.ok('warnings' in answer);
    warned.push(answer.warnings.length);
  }
  assert.deepEqual(warned, [0, 0, 1, 1, 1]);
  for (let times = 6; times <= 8; times++) {
    const answer = await call();
    assert.ok('refused' in answer && answer.ran);
    assert.equal(answer.refused.code, 'CALL_REPEATED');
    assert.doesNotMatch(`${answer.refused.message} ${answer.refused.remedy}`, /result you have/);
  }
  assert.deepEqual(await call({ result: 'new' }), { warnings: [] }, 'another result is answered at once');
});

test('a call that changes something is refused at the fifth time, before it runs', async () => {
  requirement('PIPE-8');
  const { call } = openLoop();
  for (let times = 1; times <= 4; times++) {
    const answer = await call(change);
    assert.ok('warnings' in answer);
    assert.equal(answer.warnings.length, times === 4 ? 1 : 0);
  }
  const answer = await call(change);
  assert.ok('refused' in answer && !answer.ran);
  assert.equal(answer.refused.code, 'CALL_REPEATED');
});

test('another result, or any change by the session, starts the count anew', async () => {
  requirement('PIPE-8');
  const { call } = openLoop();
  for (let times = 0; times < 4; times++) await call(change);
  assert.ok('refused' in (await call(change)));
  await call({ ...change, path: 'b' });
  assert.equal(await countAnswers(call, change), 4);
  for (let times = 0; times < 5; times++) await call();
  await call({ ...change, path: 'c' });
  assert.equal(await countAnswers(call), 5);
  // Not what another session changes: that shows in the result.
  await call({ ...change, session: 's-2', path: 'd' });
  assert.ok('refused' in (await call()));
});

test('sessions, arguments and tools are counted apart; people are not counted', async () => {
  const { call } = openLoop();
  assert.equal(await countAnswers(call), 5);
  for (const other of [{ session: 's-2' }, { path: 'b' }, { name: 'notes.list' }]) {
    assert.deepEqual(await call(other), { warnings: [] });
  }
  assert.equal(await countAnswers(call, { principal: 'operator' }), 20);
});

test('what is further back than the window is forgotten', async () => {
  const { call, wait } = openLoop();
  for (let times = 0; times < 4; times++) await call(change);
  assert.ok('refused' in (await call(change)));
  wait(20);
  assert.equal(await countAnswers(call, change), 4);
});

test('the same failure is the same result; a call that was cancelled is no result', async () => {
  const { call } = openLoop();
  const failure = new ToolFailure('NOT_FOUND', 'a is gone');
  assert.equal(await countAnswers(call, { failure }), 5);
  const cancelled = new ToolFailure('CANCELLED', 'Somebody cancelled it.');
  assert.equal(await countAnswers(call, { ...change, failure: cancelled }), 20);
});

test('a command counts as a look unless it names what it writes', async () => {
  const { call } = openLoop();
  const shell = { mutates: true, scopes: ['commands'], name: 'shell.run' } as const;
  assert.equal(await countAnswers(call, { ...shell, paths: [{ path: '/w', access: 'read' }] }), 5);
  const writes = { ...shell, path: 'b', paths: [{ path: '/w/a', access: 'write' }] } as const;
  assert.equal(await countAnswers(call, writes), 4);
});

test('a kept result that is handed out again is no change', async () => {
  const { call } = openLoop();
  assert.deepEqual(await call(change), { warnings: [] });
  assert.equal(await countAnswers(call, { ...change, reused: true }), 5);
  assert.equal(await countAnswers(call, change), 3, 'it ran once before');
});
