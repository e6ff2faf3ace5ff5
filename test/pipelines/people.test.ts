import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient } from '@sallyport/sdk/client';
import type { CallProgress } from '@sallyport/sdk/client';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { newPipelinePlace, outcomeOf, pipelineRule, stepsOf, until, untilReady } from './pipeline-place.ts';

const askRule = `
  - id: ask-about-pipelines
    effect: require_approval
    tools: [env.asked]
    origins: [pipeline]
    reason: All of it is to be looked at.
`;

const steps = `
    parameters: [{ name: line, type: string }]
    steps:
      - { id: list, tool: files.list }
      - { id: write, tool: files.write, arguments: { path: .envrc, content: '\${input.line}' } }
      - { id: read, tool: files.read, arguments: { path: .envrc } }
`;
const pipelines = `
  - name: env.write
    description: Writes what a shell would run, which asks.
${steps}
  - name: env.asked
    description: The same, and the whole asks as well.
${steps}
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;

before(async () => {
  daemon = await TestDaemon.start(newPipelinePlace(pipelines, { rules: pipelineRule + askRule }));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  await untilReady(daemon, 'env.write');
});
after(() => daemon.remove());

const call = (line: string, more: object = {}) => daemon.call('env.write', { line }, { token, ...more });
const path = () => join(daemon.place.workspace, '.envrc');

async function nextTask(tool: string): Promise<string> {
  let id = '';
  await until(`a task for ${tool}`, async () => {
    id = (await desk.pending()).find((task) => task.tool === tool)?.id ?? '';
    return id !== '';
  });
  return id;
}

test('a step that asks waits for the person, and the pipeline goes on when they agree', async () => {
  requirement('DEF-9');
  const client = createClient({ address: daemon.address, token });
  const heard: CallProgress[] = [];
  const running = client.callTool('env.write', { line: 'one' }, { onProgress: (each) => void heard.push(each) });
  const task = await nextTask('files.write');
  assert.ok(!existsSync(path()), 'nothing is written before somebody agreed');
  assert.match((await desk.show(task)).effect ?? '', /\+one/);
  await desk.approve(task);
  assert.equal(((await running) as { content: string }).content, 'one');
  client.close();
  assert.deepEqual(
    heard.map((each) => each.kind === 'step' && `${each.done}/${each.total} ${each.message}`),
    [
      '0/3 list (files.list): begins',
      '1/3 write (files.write): begins',
      `1/3 write (files.write): waits for approval ${task}`,
      '2/3 read (files.read): begins',
      '3/3 all steps have ended',
    ],
  );
  const written = (await daemon.records()).find(
    ({ kind, payload }) => kind === 'intent' && payload['step'] === 'write',
  );
  assert.partialDeepStrictEqual(written?.payload['consent'], { task });
});

test('a step that a person denies stops the pipeline with what they said', async () => {
  const running = call('two');
  await desk.decide(await nextTask('files.write'), false, { note: 'Not today.' });
  const { error } = await running;
  assert.match(error?.message ?? '', /step 2 of 3, write .*APPROVAL_DENIED: .*They say: Not today\./);
  assert.equal(readFileSync(path(), 'utf8'), 'one');
});

test('a pipeline waits no longer than it may take, and names the task that nobody decided', async () => {
  const answer = await call('three', { timeoutMs: 700 });
  const task = await nextTask('files.write');
  assert.equal(answer.error?.code, 'TIMEOUT');
  assert.ok(answer.error.message.includes(`, which waited for approval ${task}.`), answer.error.message);
  assert.match(answer.error.message, /It was at step 2 of 3, write/);
  assert.equal((await outcomeOf(daemon, answer.callId))?.result, 'error');
  // What is approved late serves the same step of the next call.
  await desk.approve(task);
  assert.ok((await call('three')).success);
});

test('anyone who goes away while a step waits takes the pipeline along', async () => {
  const client = createClient({ address: daemon.address, token });
  const cancel = new AbortController();
  const running = client.callTool('env.write', { line: 'four' }, { signal: cancel.signal }).catch(() => 'gone');
  const task = await nextTask('files.write');
  cancel.abort();
  assert.equal(await running, 'gone');
  client.close();
  const intents = (await daemon.records()).filter(({ payload }) => payload['tool'] === 'env.write');
  const callId = intents.at(-1)?.callId ?? '';
  await until('the end is on record', async () => (await outcomeOf(daemon, callId)) !== undefined);
  assert.partialDeepStrictEqual((await outcomeOf(daemon, callId))?.payload['error'], { code: 'CANCELLED' });
  await desk.approve(task);
  assert.notEqual(readFileSync(path(), 'utf8'), 'four', 'a decision runs nothing by itself');
});

test('consent to the whole is no consent to its steps', async () => {
  requirement('DEF-9');
  const running = daemon.call('env.asked', { line: 'five' }, { token, waitMs: 60_000 });
  const whole = await nextTask('env.asked');
  const { effect = '', title } = await desk.show(whole);
  assert.match(title, /Run the pipeline env\.asked 1\.0\.0, 3 steps\./);
  assert.match(effect, /^2\. write: files\.write \{"path":"\.envrc","content":"five"\}$/m);
  await desk.approve(whole);
  await desk.approve(await nextTask('files.write'));
  const answer = await running;
  assert.ok(answer.success, JSON.stringify(answer));
  const asked = (await stepsOf(daemon, answer.callId)).filter(({ kind }) => kind === 'refusal');
  assert.deepEqual(
    asked.map(({ payload }) => payload['step']),
    ['write'],
  );
});
