import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from './bridge.ts';
import { openTestDoor } from './door-kit.ts';
import { sendRaw } from './raw-client.ts';
import { defineTestTool } from './test-tools.ts';

const tools = [
  defineTestTool({
    name: 'srv.greet',
    origin: 'upstream',
    tags: ['mcp-prompt'],
    run: () => Promise.resolve({ messages: [] }),
  }),
  defineTestTool({ name: 'test.echo', run: () => Promise.resolve({}) }),
];
const requests = {
  'a tool': { toolName: 'test.echo', message: callTool(1, 'test_echo', {}) },
  'a prompt': {
    toolName: 'srv.greet',
    message: { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'srv_greet' } },
  },
};

for (const [what, { toolName, message }] of Object.entries(requests)) {
  for (const capabilities of [{}, { elicitation: {} }, { sampling: {} }]) {
    test(`${what} may ask an older client that says ${JSON.stringify(capabilities)} what it answers`, async (t) => {
      const door = await openTestDoor(t, { tools });
      const token = door.setSession();
      const clientInfo = { name: 'raw', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
      const { headers } = await sendRaw(door.url, { token, body });
      const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
      await sendRaw(door.url, { token, headers: session, body: JSON.stringify(message) });
      const call = door.calls.find((each) => each.toolName === toolName) ?? assert.fail('there was no call');
      const answers = Object.keys(capabilities).length > 0;
      assert.equal(typeof call.askCaller, answers ? 'function' : 'undefined');
    });
  }
}
