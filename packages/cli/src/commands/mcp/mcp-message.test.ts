import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOf, parseMcpMessage } from './mcp-message.ts';

const parse = (message: unknown) => parseMcpMessage(JSON.stringify(message));
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };

test('requests, notifications, responses and batches are told apart', () => {
  assert.deepEqual(parse({ jsonrpc: '2.0', id: 1, method: 'ping' })?.ids, [1]);
  assert.deepEqual(parse({ jsonrpc: '2.0', method: 'notifications/initialized' })?.ids, []);
  assert.deepEqual(parse({ jsonrpc: '2.0', id: 1, result: {} })?.ids, []);
  assert.deepEqual(parse([{ id: 1, method: 'a' }, { method: 'b' }, { id: 'c', method: 'd' }])?.ids, [1, 'c']);
  assert.equal(parse({ method: 'notifications/cancelled', params: { requestId: 'x' } })?.cancelled, 'x');
  assert.equal(parseMcpMessage('{'), undefined);
  for (const odd of [null, 1, 'x', {}, { method: 7 }, { method: 'a', params: 3 }])
    assert.deepEqual(parse(odd)?.ids, []);
});

test('a message of the newer protocol is repeated in its headers, in letters that headers take', () => {
  const call = (name: string) => parse({ id: 1, method: 'tools/call', params: { name, _meta: meta } });
  assert.deepEqual(headersOf(call('files_read') ?? assert.fail()), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'files_read',
  });
  assert.equal(headersOf(call('grün\n') ?? assert.fail())['mcp-name'], '=?base64?Z3LDvG4K?=');
  assert.equal(headersOf(call('=?base64?eA==?=') ?? assert.fail())['mcp-name'], '=?base64?PT9iYXNlNjQ/ZUE9PT89?=');
  assert.deepEqual(headersOf(parse({ id: 1, method: 'tools/call', params: { name: 'a' } }) ?? assert.fail()), {});
});
