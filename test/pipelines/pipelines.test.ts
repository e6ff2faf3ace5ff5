import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { codeOf, newPipelinePlace, outcomeOf, stepsOf, untilReady } from './pipeline-place.ts';
import type { Output } from './pipeline-place.ts';

const pipelines = `
  - name: notes.copy
    description: Copies a note.
    parameters: [{ name: from, type: string }, { name: to, type: string }]
    steps:
      - { id: read, tool: files.read, arguments: { path: '\${input.from}' } }
      - { id: write, tool: write_file, arguments: { path: '\${input.to}', content: '\${input.from}: \${steps.read.content}' } }
    output: { content: '\${steps.read.content}', made: '\${steps.write.created}' }
  - name: notes.copy_twice
    description: Copies a note, and the copy.
    parameters: [{ name: from, type: string }]
    steps:
      - { id: first, tool: notes.copy, arguments: { from: '\${input.from}', to: inner-1.txt } }
      - { id: second, tool: notes.copy@1.0.0, arguments: { from: inner-1.txt, to: inner-2.txt } }
  - name: notes.try
    description: Goes on without a note that is not there.
    steps:
      - { id: read, tool: files.read, continue: true, arguments: { path: missing.txt } }
      - { id: list, tool: files.list, arguments: { path: . } }
    output: { read: '\${steps.read.content}', listed: '\${steps.list.entries.0.path}' }
  - name: notes.confused
    description: Hands a number to a tool that takes text.
    steps:
      - { id: read, tool: files.read, arguments: { path: a.txt } }
      - { id: write, tool: files.write, arguments: { path: b.txt, content: '\${steps.read.size}' } }
  - name: notes.large
    description: Reads something large.
    steps: [{ id: read, tool: files.read, arguments: { path: large.txt } }]
    output: '\${steps.read.kept}'
  - name: sessions.twice
    description: Administration in a row.
    steps: [{ id: one, tool: sessions.create, arguments: { agent: made-by-pipeline } }]
  - name: secrets.keep
    description: Keeps a secret.
    parameters: [{ name: word, type: string }]
    steps: [{ id: set, tool: secrets.set, arguments: { name: from-pipeline, value: '\${input.word}' } }]
    output: kept
`;

let daemon: TestDaemon;
let token: string;

before(async () => {
  daemon = await TestDaemon.start(newPipelinePlace(pipelines));
  token = await daemon.newAgent('ada');
  await untilReady(daemon, 'notes.copy');
  write('a.txt', 'hello');
});
after(() => daemon.remove());

function write(name: string, text: string): void {
  writeFileSync(join(daemon.place.workspace, name), text);
}
const read = (name: string) => readFileSync(join(daemon.place.workspace, name), 'utf8');
const call = (name: string, input: object, more: object = {}) => daemon.call(name, input, { token, ...more });

function outputOf(answer: Answer): Output {
  assert.ok(answer.success, JSON.stringify(answer));
  return JSON.parse(answer.success.outputJson) as Output;
}

test('what one step returns goes into the next, and each is a call of its own in the trace of the pipeline', async () => {
  requirement('DEF-9');
  const answer = await call('notes.copy', { from: 'a.txt', to: 'b.txt' }, { context: { taskId: 'task-7' } });
  assert.deepEqual(outputOf(answer), { content: 'hello', made: true });
  assert.equal(read('b.txt'), 'a.txt: hello');
  const steps = await stepsOf(daemon, answer.callId);
  assert.deepEqual(
    steps.map(({ kind, payload }) => [kind, payload['step'], payload['tool']]),
    [
      ['intent', 'read', 'files.read'],
      ['outcome', 'read', 'files.read'],
      ['intent', 'write', 'files.write'],
      ['outcome', 'write', 'files.write'],
    ],
  );
  for (const { payload } of steps.filter(({ kind }) => kind === 'intent')) {
    const { trace_id: traceId, task_id: taskId, agent, decision } = payload;
    assert.deepEqual([traceId, taskId, agent], [answer.traceId, 'task-7', 'ada']);
    assert.match(String((decision as Output)['rule_id']), /^workspace-/, 'judged by the rules of its own tool');
  }
  const whole = await outcomeOf(daemon, answer.callId);
  assert.equal(whole?.payload['summary'], '2 steps: read ok, write ok');
  assert.equal(whole.payload['parent_call_id'], undefined);
});

test('a step that a rule denies stops the pipeline, which says where, why and what to do', async () => {
  requirement('DEF-9');
  const answer = await call('notes.copy', { from: 'a.txt', to: '.env' });
  assert.equal(answer.error?.code, 'STEP_FAILED');
  const [, , refused] = await stepsOf(daemon, answer.callId);
  assert.deepEqual([refused?.kind, refused?.result, refused?.payload['step']], ['refusal', 'denied', 'write']);
  const { message, retryable = false } = answer.error;
  assert.equal(retryable, false);
  assert.ok(
    message.includes(`Stopped at step 2 of 2, write (write_file, call ${refused?.callId}): refused, RULE_DENIES`),
  );
  assert.match(message, /hold credentials\. Ask the person/);
  assert.ok(!existsSync(join(daemon.place.workspace, '.env')));
  assert.equal((await outcomeOf(daemon, answer.callId))?.result, 'error');

  const first = await call('notes.copy', { from: '/etc/passwd', to: 'c.txt' });
  assert.match(first.error?.message ?? '', /step 1 of 2, read \(files\.read, call .*NO_RULE_ALLOWS/);
  assert.equal((await stepsOf(daemon, first.callId)).length, 1, 'no step runs after it');
});

test('a step that may fail is passed over, and what refers to it sees null', async () => {
  requirement('DEF-9');
  const answer = await call('notes.try', {});
  assert.deepEqual(outputOf(answer), { read: null, listed: 'a.txt' });
  assert.equal((await outcomeOf(daemon, answer.callId))?.payload['summary'], '2 steps: read not (NOT_FOUND), list ok');
});

test('what goes into a step is held against its own schema', async () => {
  const answer = await call('notes.confused', {});
  assert.match(answer.error?.message ?? '', /step 2 of 2, write \(files\.write, call .*INVALID_ARGUMENTS.*content/);
});

test('the input is held against the schema of the pipeline', async () => {
  assert.equal(codeOf(await call('notes.copy', { from: 'a.txt' })), 'INVALID_ARGUMENTS');
  assert.equal(codeOf(await call('notes.copy', { from: 'a.txt', to: 'x', steps: {} })), 'INVALID_ARGUMENTS');
});

test('a lease that has the pipeline and not the tool of a step stops at the step', async () => {
  const narrow = await daemon.newAgent('narrow', { tools: ['notes.*', 'files.read'] });
  const answer = await daemon.call('notes.copy', { from: 'a.txt', to: 'd.txt' }, { token: narrow });
  assert.match(answer.error?.message ?? '', /step 2 of 2, write .*OUTSIDE_LEASE/);
  const without = await daemon.newAgent('without', { tools: ['files.*'] });
  assert.equal(codeOf(await daemon.call('notes.copy', {}, { token: without })), 'INVALID_ARGUMENTS');
  const whole = await daemon.call('notes.copy', { from: 'a.txt', to: 'd.txt' }, { token: without });
  assert.equal(codeOf(whole), 'OUTSIDE_LEASE');
});

test('the pipeline and each of its steps are paid for', async () => {
  const poor = await daemon.newAgent('poor', { max_calls: 2 });
  const answer = await daemon.call('notes.copy', { from: 'a.txt', to: 'e.txt' }, { token: poor });
  assert.match(answer.error?.message ?? '', /step 2 of 2, write .*BUDGET_EXCEEDED/);
});

test('a pipeline can be a step, in the same trace, and its steps name it', async () => {
  const answer = await call('notes.copy_twice', { from: 'a.txt' });
  assert.deepEqual(outputOf(answer), { content: 'a.txt: hello', made: true });
  assert.equal(read('inner-2.txt'), 'inner-1.txt: a.txt: hello');
  const [first] = await stepsOf(daemon, answer.callId);
  assert.deepEqual([first?.payload['step'], first?.payload['tool']], ['first', 'notes.copy']);
  const inner = await stepsOf(daemon, first?.callId ?? '');
  const traces = inner.filter(({ kind }) => kind === 'intent').map(({ payload }) => payload['trace_id']);
  assert.deepEqual(traces, [answer.traceId, answer.traceId]);
});

test('a result that is too large for an answer is named by its hash', async () => {
  write('large.txt', 'x'.repeat(2 * 1024 * 1024));
  const { hash, size_bytes: sizeBytes } = outputOf(await call('notes.large', {}));
  assert.match(String(hash), /^[0-9a-f]{64}$/);
  assert.ok(Number(sizeBytes) > 2 * 1024 * 1024);
});

test('a call that is repeated with its dedupe key runs no step again', async () => {
  const input = { from: 'a.txt', to: 'once.txt' };
  const first = await call('notes.copy', input, { dedupeKey: 'k' });
  const second = await call('notes.copy', input, { dedupeKey: 'k' });
  assert.deepEqual(outputOf(second), outputOf(first));
  assert.deepEqual(await stepsOf(daemon, second.callId), []);
});

test('administration in a pipeline is for operators, and what is secret in a step is secret in the pipeline', async () => {
  assert.equal(codeOf(await call('sessions.twice', {})), 'UNKNOWN_TOOL');
  assert.ok((await daemon.call('sessions.twice', {})).success);
  assert.equal(codeOf(await daemon.call('sessions.twice', {}, { dedupeKey: 'k' })), 'INVALID_ARGUMENTS');
  const word = 'plain words nobody would take for a secret';
  const kept = await daemon.call('secrets.keep', { word });
  assert.ok(kept.success, JSON.stringify(kept));
  assert.ok(!JSON.stringify(await daemon.records()).includes(word));
});

test('a person whose step asks is told to call the step by itself', async () => {
  const answer = await daemon.call('notes.copy', { from: 'a.txt', to: '.envrc' });
  const { message = '' } = answer.error ?? {};
  assert.match(message, /step 2 of 2, write .*APPROVAL_REQUIRED.* Call this step by itself, where you can look/);
});
