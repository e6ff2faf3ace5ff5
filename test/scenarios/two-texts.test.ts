import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

/** How the gate would be opened: commands, rule files and lines of them, and where they lie. */
const recipe =
  /`sallyport |\.yaml|tools\.yaml|effect: |hosts: \[|- \{ ?id|governance|\brestart\b|environment in the rule/;

let daemon: TestDaemon;
let agent: string;
before(async () => {
  const place = newPlace();
  writeFileSync(join(place.workspace, '.env'), 'x');
  mkdirSync(join(place.home, 'tools'), { recursive: true, mode: 0o700 });
  daemon = await TestDaemon.start(place);
  agent = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const textOf = (answer: object): string => JSON.stringify(answer);

function checkForAgent(answer: Answer, code: string): void {
  const { denied, error } = answer;
  assert.equal(denied?.rationaleCode ?? error?.code, code, textOf(answer));
  assert.doesNotMatch(textOf(answer), recipe);
  assert.ok(`${denied?.remedy}${error?.message}`.includes(answer.callId), textOf(answer));
}

async function setMode(mode: string): Promise<void> {
  const answer = await daemon.call('mode.set', { mode, cause: 'a test' });
  assert.ok(answer.success, textOf(answer));
}

async function manage(tool: string, input: object): Promise<void> {
  const shown = await daemon.call(tool, input);
  const binding = shown.denied?.approval?.binding ?? '';
  const answer = await daemon.call(tool, input, { confirmBinding: binding });
  assert.ok(answer.success, textOf(answer));
}

test('an agent reads why, what else it can do and which call to name; an operator reads what to change', async () => {
  requirement('PIPE-9');
  const cases: readonly (readonly [tool: string, input: object, code: string, forOperator?: RegExp])[] = [
    ['files.read', { path: '/etc/hostname' }, 'NO_RULE_ALLOWS', /`sallyport policy apply`: - \{id: allow-files-read/],
    ['files.read', { path: '.env' }, 'RULE_DENIES', /\(.*tools\.yaml:\d+\)/],
    ['files.raed_all', {}, 'UNKNOWN_TOOL'],
    ['files.read', { pth: 'x' }, 'INVALID_ARGUMENTS', /`sallyport tool show files\.read`/],
    ['shell.run', { argv: ['/bin/ls'] }, 'NO_RULE_ALLOWS', /`sallyport policy apply`: - \{id: allow-shell-run/],
    ['files.read', { path: '../x' }, 'UNSAFE_PATH'],
  ];
  for (const [tool, input, code, forOperator] of cases) {
    checkForAgent(await daemon.call(tool, input, { token: agent }), code);
    const { denied, error } = await daemon.call(tool, input);
    const text = `${denied?.message} ${denied?.remedy} ${error?.message}`;
    assert.doesNotMatch(text, /give them call/);
    if (forOperator !== undefined) assert.match(text, forOperator);
  }
  const unknown = await daemon.post('sallyport.v1.ToolService/ExecuteTool', { name: 'files.list' }, 'not-a-token');
  assert.equal(unknown.status, 401);
  assert.doesNotMatch(textOf(unknown), recipe);

  await setMode('LOCKDOWN');
  checkForAgent(await daemon.call('files.write', { path: 'a', content: 'b' }, { token: agent }), 'MODE_FORBIDS');
  await setMode('RECOVERY');
  await setMode('NORMAL');

  await manage('permissions.revoke', { level: 'agent', subject: 'ada', tools: 'files.list' });
  checkForAgent(await daemon.call('files.list', {}, { token: agent }), 'RULE_DENIES');
  await manage('system.configure', { setting: 'profile', value: 'team' });
  checkForAgent(await daemon.call('files.read', { path: 'a' }, { token: agent }), 'RULE_DENIES');
  await manage('system.configure', { setting: 'profile', value: 'personal' });
});

test('every door speaks to agents in the same way', async () => {
  const headers = { authorization: `Bearer ${agent}`, 'content-type': 'application/json' };
  const send = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${daemon.address}${path}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
  const post = async (path: string, body: object, more: Record<string, string> = {}): Promise<string> =>
    (await send(path, body, more)).text();
  const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
  const clientInfo = { name: 'test', version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const welcome = await send('/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello }, mcp);
  const inSession = { ...mcp, 'mcp-session-id': welcome.headers.get('mcp-session-id') ?? '' };
  await welcome.text();
  const input = { path: '/etc/hostname' };
  const answers = [
    await post('/v1/calls', { tool_name: 'files.read', arguments: input }),
    await post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'files.read', arguments: input } },
      inSession,
    ),
    await post('/sallyport.v1.ToolProtocolService/Execute', {
      requestId: 'a',
      sessionToken: agent,
      fileRead: { path: '/etc/hostname' },
    }),
  ];
  for (const answer of answers) {
    assert.match(answer, /No rule allows/);
    assert.doesNotMatch(answer, recipe);
    assert.match(answer, /give them call [0-9a-f-]{36}/);
  }
  const listed = await post('/sallyport.v1.ToolService/ListAvailableTools', {});
  assert.doesNotMatch(listed, /`sallyport |\.yaml/);
});

test('no remedy for everyone names a command of operators or a rule file', () => {
  const source = join(import.meta.dirname, '../../packages/gateway/src');
  const folders = [
    'stages',
    'tools',
    'executors',
    'registry',
    'modes',
    'organisation',
    'upstreams',
    'doors',
    'closers',
  ];
  for (const folder of folders) {
    for (const name of readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      const text = readFileSync(join(source, folder, name), 'utf8');
      assert.doesNotMatch(text, /remedy[:?]?\s*=?\s*[^,;]*?(sallyport [a-z]|\.yaml)/, `${folder}/${name}`);
    }
  }
});
