import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

let daemon: TestDaemon;
before(async () => {
  // Nothing that these tests do is too much, and nothing of it changes the mode.
  const limitsYaml = 'version: 1\nrates: []\nrepeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }\n';
  const files = { 'limits.yaml': limitsYaml, 'modes.yaml': 'version: 1\n' };
  daemon = await TestDaemon.start(ownRules(newPlace(), files));
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'a');
});
after(() => daemon.remove());

/** Calls that the shipped rules let through, or ask a person about. */
const calls: Readonly<Record<string, object>> = {
  'files.read': { path: 'a.txt' },
  'files.list': { path: '.' },
  'files.search': { path: '.', name: '*' },
  'files.write': { path: 'b.txt', content: 'b' },
  'files.edit': { path: 'a.txt', old_content: 'a', new_content: 'a' },
  'files.delete': { path: 'a.txt' },
};

async function listByConnect(token: string): Promise<string[]> {
  const { json } = await daemon.post('sallyport.v1.ToolService/ListAvailableTools', {}, token);
  return (json as { tools?: { name: string }[] }).tools?.map(({ name }) => name) ?? [];
}

async function listByMcp(token: string): Promise<string[]> {
  const version = '2026-07-28';
  const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
  const response = await fetch(`${daemon.address}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/list' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
  });
  const text = await response.text();
  const message = JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')) as {
    result?: { tools: { name: string }[] };
  };
  return message.result?.tools.map(({ name }) => name) ?? assert.fail(text);
}

/** Every door lists a tool exactly when a call of it, to which nothing else can be said, is not refused. */
async function assertListedAsCallable(token: string): Promise<string[]> {
  const [connect, mcp] = [await listByConnect(token), await listByMcp(token)];
  const listed: string[] = [];
  for (const [name, input] of Object.entries(calls)) {
    const { denied } = await daemon.call(name, input, { token });
    const isOpen = denied === undefined || denied.rationaleCode === 'APPROVAL_REQUIRED';
    assert.equal(connect.includes(name), isOpen, `${name} over Connect: ${JSON.stringify(denied)}`);
    assert.equal(mcp.includes(name.replaceAll('.', '_')), isOpen, `${name} over MCP: ${JSON.stringify(denied)}`);
    if (isOpen) listed.push(name);
  }
  return listed;
}

async function confirm(tool: string, input: object): Promise<void> {
  const shown = await daemon.call(tool, input);
  const done = await daemon.call(tool, input, { confirmBinding: shown.denied?.approval?.binding ?? '' });
  assert.ok(done.success, JSON.stringify(done));
}

test('every door lists what this session may call now, through leases, revocations, profiles and modes', async () => {
  const all = Object.keys(calls);
  const ada = await daemon.newAgent('ada');
  const bob = await daemon.newAgent('bob', { tools: ['files.read', 'files.w*'] });
  assert.deepEqual(await assertListedAsCallable(ada), all);
  assert.deepEqual(await assertListedAsCallable(bob), ['files.read', 'files.write']);

  await confirm('revoke_permission', { level: 'agent', subject: 'ada', tools: 'files.write' });
  assert.deepEqual(
    await assertListedAsCallable(ada),
    all.filter((name) => name !== 'files.write'),
  );
  assert.deepEqual(await assertListedAsCallable(bob), ['files.read', 'files.write']);
  await confirm('revoke_permission', { level: 'organisation', tools: 'files.read' });
  assert.deepEqual(await assertListedAsCallable(bob), ['files.write']);
  await confirm('permissions.clear', { level: 'organisation', tools: 'files.read' });

  for (const mode of ['ALERT', 'DEGRADED', 'LOCKDOWN', 'RECOVERY', 'NORMAL']) {
    const set = await daemon.call('mode.set', { mode, cause: 'a test' });
    assert.ok(set.success, JSON.stringify(set));
    const listed = await assertListedAsCallable(ada);
    assert.equal(listed.includes('files.edit'), mode === 'NORMAL' || mode === 'ALERT', mode);
    assert.ok(listed.includes('files.read'), mode);
  }

  await confirm('system_config_change', { setting: 'profile', value: 'team' });
  assert.deepEqual(await assertListedAsCallable(ada), []);
  assert.deepEqual(await listByConnect(ada), []);
  await confirm('create_agent', { name: 'ada' });
  const asWorker = await listByConnect(ada);
  assert.ok(asWorker.includes('files.read') && !asWorker.includes('files.edit'), 'the rules know the role');
});

test('in LOCKDOWN the people who run the gate see their own tools, and can look up every other', async () => {
  assert.ok((await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' })).success);
  const { json } = await daemon.post('sallyport.v1.ToolService/ListAvailableTools', {});
  const names = (json as { tools: { name: string }[] }).tools.map(({ name }) => name);
  assert.ok(names.includes('mode.set') && names.includes('sessions.list') && !names.includes('files.write'));
  const schema = await daemon.post('sallyport.v1.ToolService/GetToolSchema', { name: 'files.write' });
  assert.equal(schema.status, 200);
});
