import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ToolRequestSchema, ToolResponseSchema } from '@sallyport/contract';
import { completed } from '../../packages/gateway/src/closers/ending.test-kit.ts';
import { frameMessage } from '../../packages/gateway/src/doors/transport/wire/message-frame.ts';
import { askHttp, askJson } from '../doors/http-exchange.ts';
import { answerOf } from '../../packages/gateway/src/daemon/answer-call.test-kit.ts';
import { requirement } from '../requirement.ts';
import { openTypedDoors } from './typed-doors.ts';

const path = '/sallyport.v1.ToolProtocolService/Execute';
const bytes = Buffer.from([0xff, 0, 10]);
const submit = async () => answerOf(completed({}, { content: bytes.toString('base64'), encoding: 'base64' }));
const request = toBinary(
  ToolRequestSchema,
  create(ToolRequestSchema, {
    requestId: 'r',
    sessionToken: 't',
    tool: { case: 'fileRead', value: { path: 'a', limit: 2n ** 30n } },
  }),
);

function inlineResult(response: Uint8Array): Buffer {
  const { result } = fromBinary(ToolResponseSchema, response);
  assert.ok(result.case === 'success');
  return Buffer.from(result.value.inlineResult);
}

test('a request in plain JSON over HTTP gets its response in JSON, on TCP and on the socket', async (context) => {
  requirement('WIRE-4');
  const { port, agentSocket } = await openTypedDoors(context, { submit });
  for (const target of [port, agentSocket]) {
    const message = { requestId: 'r', sessionToken: 't', fileRead: { path: 'a', limit: '1073741824' } };
    const { status, json } = await askJson(target, message, { path });
    assert.equal(status, 200);
    assert.equal(json['requestId'], 'r');
    const success = json['success'] as { inlineResult: string; budgetConsumed: string };
    assert.deepEqual(Buffer.from(success.inlineResult, 'base64'), bytes);
    assert.equal(success.budgetConsumed, '1');
  }
});

test('a request in protobuf over HTTP gets its response in protobuf', async (context) => {
  requirement('WIRE-4');
  const { port } = await openTypedDoors(context, { submit });
  const { status, body } = await askHttp(port, {
    path,
    headers: { 'content-type': 'application/proto' },
    body: request,
  });
  assert.equal(status, 200);
  assert.deepEqual(inlineResult(body), bytes);
});

test('a request over gRPC-Web gets its response in a frame', async (context) => {
  requirement('WIRE-4');
  const { port } = await openTypedDoors(context, { submit });
  const headers = { 'content-type': 'application/grpc-web+proto' };
  const { status, body } = await askHttp(port, { path, headers, body: frameMessage(request) });
  assert.equal(status, 200);
  assert.deepEqual(inlineResult(body.subarray(5, 5 + body.readUInt32BE(1))), bytes);
});
