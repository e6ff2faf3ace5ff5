import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertDescribed } from '../../packages/gateway/src/doors/http/openapi.test-kit.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
let agent: string;

before(async () => {
  daemon = await TestDaemon.start();
  agent = await daemon.newAgent('coder');
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk');
});
after(() => daemon.remove());

type Fields = Record<string, unknown>;

interface Asked {
  readonly status: number;
  readonly answer: Fields;
  readonly metadata: Fields;
}

/** A call in one of the forms; an undefined token stands for the operator. The answer must be as the document says. */
async function askAs(token: string | undefined, body: object): Promise<Asked> {
  const { status, json } = await daemon.post('v1/calls', body, token);
  const answer = assertDescribed('tool_name' in body ? 'ToolResult' : 'ToolExecutionResult', json);
  return { status, answer, metadata: answer['metadata'] as Fields };
}

const ask = (body: object): Promise<Asked> => askAs(agent, body);
const askAsOperator = (body: object): Promise<Asked> => askAs(undefined, body);

async function recordsOf(callId: unknown) {
  return (await daemon.records()).filter((record) => record.callId === callId);
}

test('an agent that speaks the one form gets its result, and the call is on record', async () => {
  requirement('AUD-1', 'PIPE-5');
  const trace = { trace_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736' };
  const { status, answer, metadata } = await ask({
    tool_name: 'read_file',
    arguments: { path: 'notes.md' },
    request_id: 'r-1',
    trace_ctx: trace,
  });
  assert.equal(status, 200);
  assert.deepEqual([answer['tool_name'], answer['success'], answer['error']], ['read_file', true, null]);
  assert.equal((answer['output'] as Fields)['content'], 'remember the milk');
  assert.deepEqual([metadata['tool'], metadata['request_id']], ['files.read', 'r-1']);
  assert.equal(metadata['trace_id'], '4bf92f3577b34da6a3ce929d0e0e4736');
  const kinds = (await recordsOf(metadata['call_id'])).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['intent', 'outcome']);
});

test('an agent that speaks the other form gets its result, and the call is on record', async () => {
  requirement('AUD-1', 'PIPE-5');
  const { status, answer, metadata } = await ask({
    id: 'r-2',
    agentId: 'coder',
    toolName: 'files.read',
    arguments: { path: 'notes.md' },
    context: { taskId: 't-1', correlationId: 'c-1' },
    requestedAt: new Date().toISOString(),
  });
  assert.equal(status, 200);
  assert.deepEqual([answer['requestId'], answer['status']], ['r-2', 'success']);
  assert.equal((answer['data'] as Fields)['content'], 'remember the milk');
  assert.deepEqual(metadata['context'], { taskId: 't-1', correlationId: 'c-1' });
  const [intent] = await recordsOf(metadata['callId']);
  assert.deepEqual([intent?.payload['task_id'], intent?.payload['request_id']], ['t-1', 'r-2']);
});

test('a trace id that is not one of ours is kept beside ours, in the answer and on record', async () => {
  const { metadata } = await ask({
    tool_name: 'files.read',
    arguments: { path: 'notes.md' },
    trace_ctx: { trace_id: 'build 4711' },
  });
  assert.equal(metadata['caller_trace_id'], 'build 4711');
  const [intent] = await recordsOf(metadata['call_id']);
  assert.deepEqual(
    [intent?.payload['caller_trace_id'], intent?.payload['trace_id']],
    ['build 4711', metadata['trace_id']],
  );
});

test('the same call says the same in both forms and over Connect', async () => {
  const input = { path: 'three-times.md' };
  writeFileSync(join(daemon.place.workspace, input.path), 'once, twice');
  const connect = await daemon.call('files.read', input, { token: agent });
  const output: unknown = JSON.parse(connect.success?.outputJson ?? '');
  assert.deepEqual((await ask({ tool_name: 'files.read', arguments: input })).answer['output'], output);
  assert.deepEqual((await ask({ toolName: 'files.read', arguments: input })).answer['data'], output);
});

test('denials name rule, code and remedy in both forms, and are on record', async () => {
  requirement('PIPE-4', 'AUD-1');
  const outside = { path: '/etc/passwd' };
  const one = await ask({ tool_name: 'files.read', arguments: outside });
  assert.deepEqual([one.status, one.answer['success'], one.answer['output']], [403, false, {}]);
  assert.deepEqual([one.metadata['code'], one.metadata['rule_id']], ['NO_RULE_ALLOWS', 'default-deny']);
  assert.ok(one.metadata['remedy']);
  const other = await ask({ toolName: 'files.read', arguments: outside });
  assert.deepEqual([other.status, other.answer['status']], [403, 'failure']);
  assert.deepEqual([other.metadata['code'], other.metadata['ruleId']], ['NO_RULE_ALLOWS', 'default-deny']);
  assert.equal(other.answer['error'], one.answer['error']);
  for (const callId of [one.metadata['call_id'], other.metadata['callId']]) {
    assert.deepEqual(
      (await recordsOf(callId)).map(({ kind }) => kind),
      ['refusal'],
    );
  }
});

test('what is no call at all is on record too, once for each request', async () => {
  requirement('AUD-1', 'PIPE-5');
  const known = (await daemon.records()).length;
  const bodies = ['{', '{"tool_name":"a","toolName":"a"}', '{"tool_name":"a","tool_name":"b"}', '{"tool_name":1}'];
  for (const body of bodies) {
    const { status, json } = await daemon.post('v1/calls', body, agent);
    assert.deepEqual([status, (json as Fields)['code']], [400, 'invalid_argument']);
  }
  const refusals = (await daemon.records(known)).map(({ kind, payload }) => {
    return { kind, agent: payload['agent'], ...(payload['refusal'] as { code: string; message: string }) };
  });
  assert.deepEqual(
    refusals.map(({ kind, agent: name, code }) => [kind, name, code]),
    bodies.map(() => ['refusal', 'coder', 'MALFORMED_CALL']),
  );
  assert.match(refusals[1]?.message ?? '', /the body has both/);
});

test('errors of the caller and of the tool have the status of their code', async () => {
  const cases: readonly [toolName: string, args: unknown, status: number, code: string][] = [
    ['files.raed', {}, 404, 'UNKNOWN_TOOL'],
    ['files.read', { path: 'absent.md' }, 404, 'NOT_FOUND'],
    ['files.read', { paht: 'x' }, 400, 'INVALID_ARGUMENTS'],
    ['files.read', ['path'], 400, 'MALFORMED_ARGUMENTS'],
    ['', {}, 400, 'MALFORMED_CALL'],
  ];
  for (const [toolName, args, status, code] of cases) {
    const answer = await ask({ toolName, arguments: args });
    assert.deepEqual([answer.status, answer.metadata['code']], [status, code]);
  }
});

test('a credential is needed, and an agent speaks for itself only', async () => {
  const call = { toolName: 'files.write', arguments: { path: 'never.txt', content: 'x' } };
  for (const token of ['', 'sp_wrong', daemon.operatorToken]) {
    assert.equal((await askAs(token, call)).status, 401);
    assert.equal((await askAs(token, { tool_name: 'files.list' })).status, 401);
  }
  const foreign = await ask({ ...call, agentId: 'someone-else' });
  assert.deepEqual([foreign.status, foreign.metadata['ruleId']], [400, 'agent-claim']);
  assert.match(String(foreign.answer['error']), /belongs to the agent/);
  assert.equal(existsSync(join(daemon.place.workspace, 'never.txt')), false);
  const recorded = (await daemon.records()).filter(({ payload }) => {
    return (payload['refusal'] as { rule_id?: string } | undefined)?.rule_id === 'agent-claim';
  });
  assert.equal(recorded.length, 1, 'the attempt is on record');
});

test('what needs a person is pending until the effect that was shown is confirmed', async () => {
  const doomed = join(daemon.place.workspace, 'doomed.txt');
  writeFileSync(doomed, 'keep me?');
  const call = { toolName: 'files.delete', arguments: { path: 'doomed.txt' } };
  const byAgent = await ask(call);
  assert.deepEqual([byAgent.status, byAgent.answer['status']], [202, 'pending_approval']);
  assert.ok(byAgent.metadata['remedy']);

  const shown = await askAsOperator(call);
  assert.deepEqual([shown.status, shown.answer['status']], [202, 'pending_approval']);
  assert.equal(readFileSync(doomed, 'utf8'), 'keep me?');
  const done = await askAsOperator({ ...call, confirmBinding: shown.metadata['approvalTaskId'] });
  assert.deepEqual([done.status, done.answer['status']], [200, 'success']);
  assert.ok(done.metadata['approvedBy'] && done.metadata['approvedAt']);
  assert.equal(existsSync(doomed), false);
});
