import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from '@sallyport/sdk/client';
import { TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { isAsleep, newPipelinePlace, outcomeOf, stepsOf, until, untilReady } from './pipeline-place.ts';
import type { Output } from './pipeline-place.ts';

/** Durations that nothing else on the machine sleeps. */
const asleep = { cancelled: '86311.25', timedOut: '86312.25', killed: '86313.25', locked: '86314.25' };

const pipelines = `
  - name: sleep.long
    description: Sleeps, then reads.
    parameters: [{ name: seconds, type: string }]
    timeout_ms: 120000
    steps:
      - { id: begin, tool: files.list }
      - { id: sleep, tool: shell.run, arguments: { argv: [sleep, '\${input.seconds}'], timeout_ms: 100000 } }
      - { id: read, tool: files.read, arguments: { path: a.txt } }
  - name: sleep.outer
    description: Sleeps in a pipeline in a pipeline.
    parameters: [{ name: seconds, type: string }]
    timeout_ms: 120000
    steps: [{ id: inner, tool: sleep.long, arguments: { seconds: '\${input.seconds}' } }]
  - name: read.twice
    description: Reads in a pipeline and by itself.
    steps:
      - { id: inner, tool: read.once }
      - { id: read, tool: files.read, arguments: { path: a.txt } }
    output: '\${steps.inner.content}\${steps.read.content}'
  - name: read.once
    description: Reads.
    steps: [{ id: read, tool: files.read, arguments: { path: a.txt } }]
`;

async function open(t: TestContext, place: Place): Promise<TestDaemon> {
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  writeFileSync(join(place.workspace, 'a.txt'), 'hello');
  await untilReady(daemon, 'sleep.long');
  return daemon;
}

async function newSession(daemon: TestDaemon, agent: string): Promise<{ token: string; sessionId: string }> {
  const { success } = await daemon.call('sessions.create', { agent });
  return JSON.parse(success?.outputJson ?? '{}') as { token: string; sessionId: string };
}

/** How the call and its step ended, once they have. */
async function endingsOf(daemon: TestDaemon, tool: string, step: string): Promise<readonly [string, string]> {
  const intent = (await daemon.records()).findLast(
    ({ kind, payload }) => kind === 'intent' && payload['tool'] === tool,
  );
  const callId = intent?.callId ?? '';
  await until(`the end of ${tool}`, async () => (await outcomeOf(daemon, callId)) !== undefined);
  const own = await outcomeOf(daemon, callId);
  const ofStep = (await stepsOf(daemon, callId)).find(
    ({ kind, payload }) => kind !== 'intent' && payload['step'] === step,
  );
  const codeOf = (payload: Output = {}) => (payload['error'] as { code: string } | undefined)?.code ?? 'none';
  return [codeOf(own?.payload), codeOf(ofStep?.payload)];
}

test('a pipeline that ends early ends what runs for it', async (t) => {
  requirement('DEF-9');
  const daemon = await open(t, newPipelinePlace(pipelines));
  const token = await daemon.newAgent('ada');
  const client = createClient({ address: daemon.address, token });
  t.after(() => client.close());

  await t.test('when its caller cancels, however deep the step is', async () => {
    const cancel = new AbortController();
    const seconds = asleep.cancelled;
    const running = client.callTool('sleep.outer', { seconds }, { signal: cancel.signal }).catch(() => 'gone');
    await until('the step runs', () => isAsleep(seconds));
    cancel.abort();
    assert.equal(await running, 'gone');
    await until('no process is left', () => !isAsleep(seconds));
    assert.deepEqual(await endingsOf(daemon, 'sleep.outer', 'inner'), ['CANCELLED', 'CANCELLED']);
    assert.deepEqual(await endingsOf(daemon, 'sleep.long', 'sleep'), ['CANCELLED', 'CANCELLED']);
  });

  await t.test('when its time is up', async () => {
    const seconds = asleep.timedOut;
    const { error } = await daemon.call('sleep.long', { seconds }, { token, timeoutMs: 1500 });
    assert.equal(error?.code, 'TIMEOUT');
    assert.match(error.message, /longer than 1500 ms\. It was at step 2 of 3, sleep \(shell\.run, call /);
    await until('no process is left', () => !isAsleep(seconds));
    assert.deepEqual(await endingsOf(daemon, 'sleep.long', 'sleep'), ['TIMEOUT', 'TIMEOUT']);
  });

  await t.test('when its session ends', async () => {
    const { token: leaving, sessionId: session } = await newSession(daemon, 'leaving');
    const running = daemon.call('sleep.long', { seconds: '1.5' }, { token: leaving });
    await until('the step runs', () => isAsleep('1.5'));
    await daemon.call('sessions.end', { session_id: session });
    const { error } = await running;
    assert.match(error?.message ?? '', /operator ended the session.* It was at step 2 of 3, sleep/);
  });

  await t.test('when LOCKDOWN begins', async () => {
    const seconds = asleep.locked;
    const running = daemon.call('sleep.long', { seconds }, { token });
    await until('the step runs', () => isAsleep(seconds));
    const locked = await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
    assert.ok(locked.success, JSON.stringify(locked));
    const { error } = await running;
    assert.match(error?.message ?? '', /LOCKDOWN began/);
    await until('no process is left', () => !isAsleep(seconds));
  });
});

test('pipelines that wait for places for their steps do not lock each other out', async (t) => {
  requirement('DEF-9');
  const limits = `max_running: 2\nmax_running_per_session: 2\nrepeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }`;
  const daemon = await open(t, newPipelinePlace(pipelines, { limits }));
  const tokens = [await daemon.newAgent('ada'), await daemon.newAgent('ben')];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => daemon.call('read.twice', {}, { token: tokens[at % 2] ?? '' })),
  );
  for (const { success, error } of answers) assert.equal(success?.outputJson, '"hellohello"', error?.message ?? '');
});

test('what a kill cuts off is unknown: the pipeline and the step that ran, and no more', async (t) => {
  requirement('DEF-9');
  const place = newPipelinePlace(pipelines);
  let daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  await untilReady(daemon, 'sleep.long');
  const token = await daemon.newAgent('ada');
  const lost = daemon.call('sleep.long', { seconds: asleep.killed }, { token }).catch(() => 'lost');
  await until('the step runs', () => isAsleep(asleep.killed));
  await daemon.kill('SIGKILL');
  assert.equal(await lost, 'lost');
  await until('no process is left', () => !isAsleep(asleep.killed));
  daemon = await TestDaemon.start(place);
  const whole = (await daemon.records()).find(({ payload }) => payload['tool'] === 'sleep.long' && payload['decision']);
  assert.equal((await outcomeOf(daemon, whole?.callId ?? ''))?.result, 'unknown');
  const intents = (await stepsOf(daemon, whole?.callId ?? '')).filter(({ kind }) => kind === 'intent');
  const results = await Promise.all(intents.map(async ({ callId }) => (await outcomeOf(daemon, callId))?.result));
  assert.deepEqual(
    intents.map(({ payload }, at) => [payload['step'], results[at]]),
    [
      ['begin', 'ok'],
      ['sleep', 'unknown'],
    ],
  );
});
