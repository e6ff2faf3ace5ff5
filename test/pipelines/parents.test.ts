import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'hello');
});
after(() => daemon.remove());

test('no door takes it from a caller that a call is a step of another', async () => {
  requirement('DEF-9');
  const { success } = await daemon.call('sessions.create', { agent: 'victim' });
  const victim = (JSON.parse(success?.outputJson ?? '{}') as { sessionId: string }).sessionId;
  const token = await daemon.newAgent('mallory');
  const parent = {
    ...{ callId: '01900000-0000-7000-8000-0000000000ca', sessionId: victim, traceId: 'ab'.repeat(16), depth: 0 },
    ...{ door: 'operator-socket', source: '', taskId: '', correlationId: '' },
  };
  const forged = { step: { id: 'x', parent }, parent, parent_call_id: parent.callId, session: victim };
  const context = { ...forged, taskId: 't', correlationId: 'c' };
  const args = { path: 'a.txt' };
  const meta = { _meta: { ...forged, 'sallyport/step': forged.step } };
  const requests: readonly (readonly [path: string, body: object])[] = [
    [
      'sallyport.v1.ToolService/ExecuteTool',
      { name: 'files.read', inputJson: JSON.stringify(args), ...forged, context },
    ],
    ['sallyport.v1.ToolService/ExecuteTool', { name: 'files.read', inputJson: JSON.stringify({ ...args, ...forged }) }],
    ['v1/calls', { tool_name: 'files.read', arguments: args, ...forged, trace_ctx: forged }],
    ['v1/calls', { toolName: 'files.read', parameters: args, ...forged, context }],
    ['v1/messages', { type: 'tool.execute', calls: [{ tool: 'files.read', args, ...forged }], ...forged }],
    [
      'mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        ...forged,
        params: { name: 'files.read', arguments: args, ...meta, ...forged },
      },
    ],
  ];
  const send = async (path: string, body: object, credential: string | undefined): Promise<string> => {
    const response = await fetch(`${daemon.address}/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      },
    });
    return response.text();
  };
  const { length: earlier } = await daemon.records();
  for (const [path, body] of requests) {
    assert.doesNotMatch(await send(path, body, undefined), /hello/, `${path} without a credential`);
    await send(path, body, token);
  }
  const records = (await daemon.records()).slice(earlier);
  const calls = records.filter(({ payload }) => payload['tool'] === 'files.read');
  assert.ok(calls.length >= requests.length, 'the calls came through');
  for (const { payload } of records) {
    assert.equal(payload['parent_call_id'], undefined, JSON.stringify(payload));
    assert.notEqual(payload['agent'], 'victim');
    assert.notEqual(payload['trace_id'], parent.traceId);
  }
});

test('only pipelines are given the way to call a step', () => {
  requirement('DEF-9');
  const source = join(import.meta.dirname, '../../packages/gateway/src');
  const names = globSync('**/*.ts', { cwd: source }).filter((name) => !/\.test(?:-kit)?\.ts$/.test(name));
  const users = names.filter((name) => /\bsubmit-?Step/i.test(readFileSync(join(source, name), 'utf8')));
  assert.deepEqual(users.sort(), [
    'daemon/compose.ts',
    'daemon/parts/open-tools.ts',
    'daemon/submit.ts',
    'pipelines/pipeline-tool.ts',
    'pipelines/run-pipeline.ts',
    'pipelines/submit-step.ts',
    'programs/tools/open-installed-tools.ts',
  ]);
});
