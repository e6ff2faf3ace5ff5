import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { createToolContexts } from '../execution/tool-context.ts';
import type { Begun, Executed, Execution, ReuseChecked } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { AnyTool, ToolContext } from '../call/tool.ts';
import { RunningCalls } from '../calls/running-calls.ts';
import { executeTool } from './execute-tool.ts';
import {
  allow,
  argumentsOf,
  assertPassed,
  callOf,
  clock,
  judgedAs,
  leaseOf,
  parentOf,
  sessionOf,
  still,
  toolOf,
  contextParts,
  runStage,
} from './facts.test-kit.ts';

const stage = executeTool(createToolContexts(contextParts), { graceMs: 5 });

interface Asked extends ReuseChecked, Pick<Begun, 'underWay'> {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

function factsOf(tool: AnyTool, { signal = still, timeoutMs = 10_000, underWay, ...reuse }: Asked = {}) {
  return {
    ...callOf({ signal, underWay }),
    traceId: parentOf().traceId,
    ...argumentsOf({ path: 'a' }),
    ...judgedAs(allow),
    effectiveTimeoutMs: timeoutMs,
    session: sessionOf(),
    lease: leaseOf(),
    membership: {},
    mode: 'NORMAL' as const,
    intentIndex: 7,
    confirmedAtMs: 0,
    tool,
    ...reuse,
  };
}

async function execute(tool: AnyTool, asked: Asked = {}): Promise<Executed | Refusal> {
  return runStage(stage, factsOf(tool, asked), clock);
}

const running = (run: (context: ToolContext) => Promise<Json>): AnyTool =>
  toolOf({}, { run: (_args, context) => run(context) });

async function failureOf(answer: Promise<Executed | Refusal>): Promise<ToolFailure> {
  const { result } = assertPassed(await answer).execution;
  if (result.ok) assert.fail('the tool succeeded');
  return result.failure;
}

test('a tool runs with exactly the arguments that were judged, and what it did is kept', async () => {
  requirement('PIPE-3');
  const seen: unknown[] = [];
  const tool = toolOf(
    {},
    {
      run: async (args, context) => {
        seen.push(args, context.workingDirectory, context.callId);
        context.noteChange({
          path: '/workspace/a',
          before: { kind: 'absent' },
          after: { kind: 'folder', mode: 0o755 },
        });
        context.countUsage({ bytesRead: 3 });
        return { lines: 1 };
      },
    },
  );
  const facts = factsOf(tool);
  const { execution, activeMs } = assertPassed(await runStage(stage, facts, clock));
  assert.ok(Number.isInteger(activeMs));
  assert.deepEqual(execution, {
    result: { ok: true, output: { lines: 1 } },
    usage: { bytesRead: 3 },
    changes: [{ path: '/workspace/a', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } }],
    warnings: undefined,
    network: undefined,
    hasBegun: true,
  } satisfies Execution);
  assert.equal(seen[0], facts.arguments.value);
  assert.deepEqual(seen.slice(1), ['/workspace', facts.callId]);
});

test('a result that is handed out again runs nothing', async () => {
  const tool = running(() => assert.fail('it ran'));
  const { execution, activeMs } = assertPassed(await execute(tool, { reused: { output: 'first', callId: 'c' } }));
  assert.equal(activeMs, undefined, 'no time is charged');
  assert.deepEqual(execution, { result: { ok: true, output: 'first' }, usage: {}, changes: [], hasBegun: false });
});

test('a failure of the tool is a result, with what was done until then', async () => {
  const tool = running(async ({ countUsage }) => {
    countUsage({ bytesWritten: 5 });
    throw new ToolFailure('DISK_FULL', 'No space.');
  });
  const { execution } = assertPassed(await execute(tool));
  assert.ok(!execution.result.ok && execution.result.failure.code === 'DISK_FULL');
  assert.deepEqual(execution.usage, { bytesWritten: 5 });
});

test('a gate inside the tool refuses, after the intent', async () => {
  const refusal = refuse('UNSAFE_PATH', 'links', 'The path leads through a link.');
  assert.equal(await execute(running(() => Promise.reject(new ToolRefused(refusal)))), refusal);
});

test('a bug in a tool is a fault, whether it throws at once or later', async () => {
  await assert.rejects(execute(running(() => Promise.reject(new TypeError('bug')))), /bug/);
  await assert.rejects(execute(running(() => assert.fail('bug at once'))), /bug at once/);
});

test('a tool that reaches its time limit is told to stop, and the failure says so', async () => {
  const tool = running(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal.throwIfAborted();
    return null;
  });
  const { code, message } = await failureOf(execute(tool, { timeoutMs: 5 }));
  assert.equal(code, 'TIMEOUT');
  assert.equal(message, 'The call took longer than 5 ms.');
});

test('a tool that ignores its time limit is left behind, and the failure warns of its effect', async () => {
  const { code, message } = await failureOf(
    execute(
      running(() => new Promise(() => undefined)),
      { timeoutMs: 5 },
    ),
  );
  assert.equal(code, 'TIMEOUT');
  assert.equal(message, 'The call took longer than 5 ms. It did not stop; its effect may still happen.');
});

test('a caller who goes away cancels the tool; one who has gone already starts nothing', async () => {
  const leaving = new AbortController();
  const tool = running(async ({ signal }) => {
    leaving.abort();
    signal.throwIfAborted();
    return null;
  });
  assert.equal((await failureOf(execute(tool, { signal: leaving.signal }))).code, 'CANCELLED');
  const never = running(() => assert.fail('it ran'));
  assert.equal((await failureOf(execute(never, { signal: AbortSignal.abort() }))).code, 'CANCELLED');
});

test('a context that cannot be made is a fault that leaves no timer behind', async () => {
  const facts = factsOf(toolOf(), { timeoutMs: 3_600_000 });
  const broken = () => assert.fail('no context');
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  await assert.rejects(async () => runStage(executeTool(broken), facts, clock), /no context/);
  assert.equal(timers(), before);
});

test('a passing failure is tried once more, and only where running twice is like running once', async () => {
  requirement('EXEC-8');
  const flaky = (idempotent: boolean, ...endings: readonly (ToolFailure | Json)[]) => {
    let runs = 0;
    const tool = toolOf(
      { idempotent },
      {
        run: () => {
          const ending = endings[runs++] ?? 'again';
          return ending instanceof ToolFailure ? Promise.reject(ending) : Promise.resolve(ending);
        },
      },
    );
    return { tool, runs: () => runs };
  };
  const lost = new ToolFailure('EXECUTOR_LOST', 'The executor ended.');
  const once = flaky(true, lost, { done: true });
  const { execution } = assertPassed(await execute(once.tool));
  assert.deepEqual([execution.result, once.runs()], [{ ok: true, output: { done: true } }, 2]);

  const twice = flaky(true, lost, lost);
  assert.equal((await failureOf(execute(twice.tool))).code, 'EXECUTOR_LOST');
  assert.equal(twice.runs(), 2);

  const mutating = flaky(false, lost);
  assert.equal((await failureOf(execute(mutating.tool))).code, 'EXECUTOR_LOST');
  assert.equal(mutating.runs(), 1);

  const lasting = flaky(true, new ToolFailure('NOT_FOUND', 'Gone.'));
  assert.equal((await failureOf(execute(lasting.tool))).code, 'NOT_FOUND');
  assert.equal(lasting.runs(), 1);
});

test('LOCKDOWN stops a tool that changes something, and the outcome says why', async () => {
  const calls = new RunningCalls(() => 'NORMAL');
  const stoppable = executeTool(createToolContexts(contextParts));
  const tool = toolOf(
    { mutates: true },
    {
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    },
  );
  const underWay = calls.open(callOf(), still);
  const { signal } = underWay.cancellation;
  const executing = runStage(stoppable, factsOf(tool, { signal, underWay }), clock) as Promise<Executed | Refusal>;
  assert.deepEqual(calls.endChanging('olga'), [callOf().callId]);
  const failure = await failureOf(executing);
  assert.equal(failure.code, 'CANCELLED');
  assert.match(failure.message, /LOCKDOWN began \(olga\)/);
  const { endedBy } = assertPassed(await executing).execution;
  assert.deepEqual([endedBy?.how, endedBy?.by], ['lockdown', 'olga']);
  underWay.close();
});

test('the time of a pipeline is charged with its steps', async () => {
  const { activeMs } = assertPassed(await execute(toolOf({ origin: 'pipeline' })));
  assert.equal(activeMs, 0);
});

test('a call that LOCKDOWN stops has failed for that reason, whatever its tool says, unless it was done already', async () => {
  const calls = new RunningCalls(() => 'NORMAL');
  const stoppable = executeTool(createToolContexts(contextParts), { graceMs: 5 });
  const stop = async (run: (context: ToolContext) => Promise<Json>, origin?: 'upstream') => {
    const definition = { mutates: true, ...(origin === undefined ? {} : { origin }) };
    const tool = toolOf(definition, { run: (_args, context) => run(context) });
    const underWay = calls.open(callOf(), still);
    const { signal } = underWay.cancellation;
    const answer = runStage(stoppable, factsOf(tool, { signal, underWay }), clock) as Promise<Executed>;
    calls.endChanging('olga');
    return (await answer.finally(() => underWay.close())).execution.result;
  };
  const untilStopped = ({ signal }: ToolContext): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  const complain = async (context: ToolContext): Promise<Json> => {
    await untilStopped(context);
    throw new ToolFailure('UPSTREAM_UNAVAILABLE', 'It went away.');
  };
  const codeOf = (result: Execution['result']) => (result.ok ? 'done' : result.failure.code);
  assert.equal(codeOf(await stop(complain)), 'CANCELLED');
  assert.equal(codeOf(await stop(complain, 'upstream')), 'EFFECT_UNKNOWN');
  const finish = async (context: ToolContext): Promise<Json> => untilStopped(context).then(() => ({ done: true }));
  assert.equal(codeOf(await stop(finish)), 'done');
});
