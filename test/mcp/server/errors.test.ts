import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../../harness/daemon.ts';
import { requirement } from '../../requirement.ts';

const secret = 'willow "lantern" copper meadow ember';
let daemon: TestDaemon;
let agent: string;

before(async () => {
  daemon = await TestDaemon.start();
  assert.ok((await daemon.call('secrets.set', { name: 'PASSPHRASE', value: secret })).success);
  agent = await daemon.newAgent('client');
});
after(() => daemon.remove());

async function post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(new URL('/mcp', daemon.address), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${agent}`,
      ...headers,
    },
    body,
  });
  const text = await response.text();
  return JSON.stringify([response.headers.get('mcp-session-id'), text]);
}

const ask = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

test('no error of MCP quotes a secret that the client sent, no matter who words it', async () => {
  requirement('AUD-4');
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = { 'mcp-protocol-version': '2026-07-28' };
  const opened = await post(
    ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: secret, version: '1' },
    }),
  );
  const session = (JSON.parse(opened) as [string, string])[0];
  const json = JSON.stringify(secret);
  const requests: [method: string, params: object][] = [
    ['resources/read', { uri: `sallyport://content/${secret}` }],
    ['resources/read', { uri: secret }],
    ['tools/call', { name: secret, arguments: { [secret]: secret } }],
    ['tools/call', { name: 5, arguments: secret }],
    ['prompts/get', { name: secret }],
    [secret, {}],
  ];
  const answers: string[] = [];
  for (const [method, params] of requests) {
    answers.push(await post(ask(method, params), { 'mcp-session-id': session }));
    const named = { 'mcp-method': encodeURIComponent(method), 'mcp-name': 'x' };
    answers.push(await post(ask(method, { ...params, _meta: meta }), { ...modern, ...named }));
  }
  for (const body of [`{${json}:1,${json}:2}`, `{"jsonrpc":"2.0",${json}`, `[${json}]`, json]) {
    answers.push(await post(body, { 'mcp-session-id': session }), await post(body, modern));
  }
  assert.ok(answers.filter((answer) => answer.includes('error')).length > 10, answers.join('\n'));
  for (const answer of answers) assert.doesNotMatch(answer, /willow|lantern|copper/, answer);
});
