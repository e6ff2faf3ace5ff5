import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { Progress, ToolContext } from '../call/tool.ts';
import { definitionOf, parentOf, still } from '../stages/facts.test-kit.ts';
import { pipelineOf } from './pipeline.test-kit.ts';
import { pipelineTool } from './pipeline-tool.ts';
import { runPipeline } from './run-pipeline.ts';
import type { FailedStep, StepCall, StepEnding } from './submit-step.ts';

const noRule: FailedStep = {
  ok: false,
  callId: 'c-2',
  how: 'refused',
  code: 'RULE_DENIES',
  message: 'Not that.',
  remedy: 'Do this.',
  hasBegun: false,
};

/** Runs it with a gate that answers each step with what is given for its tool. */
async function run(
  body: string,
  answers: Record<string, Json | FailedStep | ((call: StepCall) => StepEnding)>,
  {
    input = {},
    depth = 0,
    signal = still,
  }: { input?: Record<string, Json>; depth?: number; signal?: AbortSignal } = {},
) {
  const calls: StepCall[] = [];
  const progress: Progress[] = [];
  const context = {
    asParent: parentOf({ depth }),
    signal,
    reportProgress: (each: Progress) => void progress.push(each),
    noteEffect: () => undefined,
  } as unknown as ToolContext;
  const submit = async (call: StepCall): Promise<StepEnding> => {
    calls.push(call);
    const answer = answers[call.tool] ?? null;
    if (typeof answer === 'function') return answer(call);
    return isFailed(answer) ? answer : { ok: true, callId: 'c-1', output: answer };
  };
  const result = await runPipeline(pipelineOf(body), input, context, submit).catch((error: unknown) => error);
  return { result, calls, progress };
}

function isFailed(answer: Json | FailedStep): answer is FailedStep {
  return typeof answer === 'object' && answer !== null && 'ok' in answer && answer.ok === false;
}

const copy = `    parameters: [{ name: path, type: string }]
    steps:
      - { id: one, tool: read, arguments: { path: "\${input.path}" } }
      - { id: two, tool: write, arguments: { text: "<\${steps.one.text}>", all: "\${steps.one}" } }
`;

test('each step gets what the ones before returned, and the last one says the result', async () => {
  const answers = { read: { text: 'x', n: 1 }, write: { written: 3 } };
  const { result, calls } = await run(copy, answers, { input: { path: 'a' } });
  assert.deepEqual(result, { output: { written: 3 }, ended: [{ id: 'one' }, { id: 'two' }] });
  assert.deepEqual(
    calls.map(({ id, tool, input, parent }) => [id, tool, JSON.parse(input) as Json, parent]),
    [
      ['one', 'read', { path: 'a' }, parentOf()],
      ['two', 'write', { text: '<x>', all: { text: 'x', n: 1 } }, parentOf()],
    ],
  );
});

test('a refused step ends the pipeline, and the failure says which, why and what to do', async () => {
  const { result, calls } = await run(copy, { read: noRule }, { input: { path: 'a' } });
  assert.ok(result instanceof ToolFailure);
  assert.deepEqual([result.code, result.category], ['STEP_FAILED', 'permission_denied']);
  const said = 'Stopped at step 1 of 2, one (read, call c-2): refused, RULE_DENIES: Not that. Do this.';
  assert.equal(result.message, said);
  assert.equal(calls.length, 1);
  const late = await run(copy, { read: { text: 'x' }, write: noRule }, { input: { path: 'a' } });
  assert.match(String(late.result), /step 2 of 2.* What the steps before it did remains\.$/);
});

test('a step that says continue may fail: what refers to it sees null', async () => {
  const body = `    steps:
      - { id: one, tool: read, continue: true }
      - { id: two, tool: write, arguments: { text: "\${steps.one.text}" } }
    output: { one: "\${steps.one}", two: "\${steps.two.ok}" }
`;
  const { result, calls } = await run(body, { read: noRule, write: { ok: true } });
  const ended = [{ id: 'one', code: 'RULE_DENIES' }, { id: 'two' }];
  assert.deepEqual(result, { output: { one: null, two: true }, ended });
  assert.deepEqual(JSON.parse(calls[1]?.input ?? ''), { text: null });
});

test('a value that is not there fails the step before it becomes a call', async () => {
  const { result, calls } = await run(copy, { read: { other: 1 } }, { input: { path: 'a' } });
  assert.match(
    String(result),
    /step 2 of 2, two \(write\): failed, INVALID_ARGUMENTS: .*\$\{steps\.one\.text\} has no/,
  );
  assert.equal(calls.length, 1);
  const output = await run(`    steps: [{ id: a, tool: read }]\n    output: "\${steps.a.x}"\n`, { read: {} });
  assert.match(String(output.result), /All steps have run, but the output cannot be put together/);
});

test('a pipeline that is told to stop says where it was, and calls no further step', async () => {
  const stop = new AbortController();
  const reason = new ToolFailure('TIMEOUT', 'The call took longer than 5 ms.');
  const pending = { ...noRule, code: 'APPROVAL_REQUIRED', pendingTask: 't-1' } as const;
  const waits = await run(
    copy,
    {
      read: () => {
        stop.abort(reason);
        return pending;
      },
    },
    { input: { path: 'a' }, signal: stop.signal },
  );
  const where = 'It was at step 1 of 2, one (read, call c-2), which waited for approval t-1.';
  assert.equal((waits.result as ToolFailure).message, `${reason.message} ${where}`);
  assert.equal((waits.result as ToolFailure).code, 'TIMEOUT');
  const between = await run(copy, {}, { input: { path: 'a' }, signal: stop.signal });
  assert.deepEqual(between.calls, []);
});

test('progress tells each step, that one waits for a person, and what a program writes', async () => {
  const { progress } = await run(`    steps: [{ id: one, tool: read }]\n`, {
    read: (call) => {
      call.onPending('t-9');
      call.onProgress({ kind: 'stderr', text: 'half' });
      call.onProgress({ kind: 'step', done: 7, message: 'inner' });
      return { ok: true, callId: 'c', output: null };
    },
  });
  const step = (message: string, done = 0) => ({ kind: 'step', done, total: 1, message });
  assert.deepEqual(progress, [
    step('one (read): begins'),
    step('one (read): waits for approval t-9'),
    { kind: 'stderr', text: 'half' },
    step('one (read): inner'),
    step('all steps have ended', 1),
  ]);
});

test('a pipeline too deep inside others does nothing', async () => {
  const { result, calls } = await run(copy, {}, { input: { path: 'a' }, depth: 4 });
  assert.match(String(result), /more than 4 deep/);
  assert.deepEqual(calls, []);
});

test('a preview shows the steps as far as they are known, and no secret', async () => {
  const definition = definitionOf({ name: 'chain', origin: 'pipeline', secretArguments: ['word'] });
  const pipeline = pipelineOf(`    parameters: [{ name: path, type: string }, { name: word, type: string }]
    steps:
      - { id: one, tool: read, continue: true, arguments: { path: "\${input.path}", word: "\${input.word}" } }
      - { id: two, tool: write, arguments: { text: "<\${steps.one.text}>" } }
`);
  const tool = pipelineTool(pipeline, definition, () => assert.fail('a preview calls nothing'));
  const { summary, detail } = await tool.preview({ path: 'a\u202eb', word: 'hush' }, {} as ToolContext);
  assert.equal(summary, 'Run the pipeline chain 1.0.0, 2 steps.');
  assert.match(
    detail,
    /^1\. one: read \{"path":"a\\u202eb","word":"\$\{input\.word\}"\} \(the pipeline continues if this fails\)$/m,
  );
  assert.match(detail, /^2\. two: write \{"text":"<\$\{steps\.one\.text\}>"\}$/m);
  const long = await tool.preview({ path: 'x'.repeat(1e6), word: '' }, {} as ToolContext);
  assert.match(long.detail, /The arguments of the pipeline are \{/);
});
