import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { hasHiddenText } from '@sallyport/contract';
import { TestDaemon } from '../../harness/daemon.ts';
import { runSallyport } from '../../harness/run-sallyport.ts';
import { newToolPlace } from '../../cli/tool-place.ts';
import { findPort, startEverything } from './everything-server.ts';
import { serverScript } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const rules = `
  - id: everything
    effect: allow
    tools: ['everything.*', 'odd.*']
    origins: [upstream]
    approval: waived
  - id: not-this-prompt
    effect: deny
    tools: ['everything.prompts.completable-prompt']
    reason: Nobody needs it.
`;

const ends: (() => void)[] = [];
let daemon: TestDaemon;
const run = (...args: string[]) => {
  const { status, stdout, stderr } = runSallyport(daemon.place, ['upstream', ...args]);
  assert.equal(status, 0, stdout + stderr);
  return stdout;
};
before(async () => {
  daemon = await TestDaemon.start(newToolPlace(rules));
  const port = await findPort();
  await startEverything({ after: (end) => ends.push(end) }, port);
  run('add', 'everything', '--yes', '--url', `http://127.0.0.1:${port}/mcp`);
  run('test', 'everything');
});
after(async () => {
  for (const end of ends) end();
  await daemon.remove();
});

async function connect(era: 'legacy' | 'auto', more: Record<string, unknown> = {}): Promise<Client> {
  const token = await daemon.newAgent(`tester-${era}`, more);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', daemon.address), { requestInit }));
  return client;
}

test('nothing of a server is listed or read before it was accepted', async () => {
  requirement('DEF-6');
  const client = await connect('auto');
  assert.deepEqual((await client.listPrompts()).prompts, []);
  assert.deepEqual((await client.listResources()).resources, []);
  const uri = 'sallyport://upstream/everything/demo://resource/dynamic/text/1';
  await assert.rejects(client.readResource({ uri }), /TOOL_NOT_ACCEPTED/);
  await client.close();
  run('accept', 'everything', '--yes');
});

for (const era of ['legacy', 'auto'] as const) {
  test(`resources and prompts of a server reach a client (${era}) as governed calls`, async () => {
    const client = await connect(era);
    const { resources } = await client.listResources();
    const [first] = resources;
    assert.ok(first !== undefined && resources.every(({ uri }) => uri.startsWith('sallyport://upstream/everything/')));
    const read = await client.readResource({ uri: first.uri });
    assert.equal(read.contents[0]?.uri, first.uri);
    assert.ok('text' in (read.contents[0] ?? {}), JSON.stringify(read));
    const { resourceTemplates } = await client.listResourceTemplates();
    const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes('/text/'))?.uriTemplate ?? '';
    const filled = template.replace(/\{.*\}/, '7');
    assert.match(JSON.stringify(await client.readResource({ uri: filled })), /Resource 7/);
    const { prompts } = await client.listPrompts();
    const names = prompts.map(({ name }) => name);
    assert.ok(names.includes('everything_prompts_args-prompt'), names.join());
    assert.ok(!names.includes('everything_prompts_completable-prompt'), 'a rule keeps it from the session');
    const prompt = await client.getPrompt({ name: 'everything_prompts_args-prompt', arguments: { city: 'Bern' } });
    assert.match(JSON.stringify(prompt.messages), /Bern/);
    await assert.rejects(client.getPrompt({ name: 'everything_prompts_args-prompt' }), /INVALID_ARGUMENTS/);
    await assert.rejects(
      client.getPrompt({ name: 'everything_prompts_completable-prompt', arguments: { department: 'a', name: 'b' } }),
      /not-this-prompt|Nobody/,
    );
    await assert.rejects(
      client.getPrompt({ name: 'files_read', arguments: { path: '/etc/passwd' } }),
      /no such prompt/,
    );
    const { tools } = await client.listTools();
    assert.ok(tools.every(({ name }) => !name.includes('_resources_') && !name.includes('_prompts_')));
    await client.close();
  });
}

test('what a server offers under false or hidden names does not pass', async () => {
  const script = join(daemon.place.folder, 'server.mjs');
  cpSync(serverScript, script);
  run('add', 'odd', '--yes', '--read', script, '--', 'node', script, 'offering');
  const { toolList, skipped } = JSON.parse(run('test', 'odd', '--json')) as {
    readonly toolList: readonly { readonly name: string; readonly description: string }[];
    readonly skipped: readonly { readonly file: string; readonly reason: string }[];
  };
  assert.deepEqual(
    toolList.map(({ name }) => name),
    ['odd.echo', 'odd.prompts.plain', 'odd.resources.list', 'odd.resources.read', 'odd.resources.templates'],
  );
  const own = toolList.find(({ name }) => name === 'odd.resources.read');
  assert.equal(
    own?.description,
    'Reads a resource of the server by its address.',
    'no tool of the server takes its place',
  );
  assert.deepEqual(
    skipped.map(({ file }) => file),
    ['odd: bell\\u0007', 'odd: hidden', 'odd: resources/read'],
  );
  run('accept', 'odd', '--yes');
  const client = await connect('auto');
  const listed = (await client.listResources()).resources.filter(({ uri }) => uri.includes('/odd/'));
  assert.deepEqual(
    listed.map(({ uri, name }) => [uri, name]),
    [['sallyport://upstream/odd/odd://plain', 'odd: plain']],
  );
  assert.ok(!hasHiddenText(listed[0]?.description ?? ''));
  const { contents } = await client.readResource({ uri: 'sallyport://upstream/odd/odd://plain' });
  assert.equal(
    contents[0]?.uri,
    'sallyport://upstream/odd/sallyport://content/other',
    'nothing passes for one of ours',
  );
  await assert.rejects(client.getPrompt({ name: 'odd_prompts_plain' }), /INVALID_RESULT/);
  await client.close();
});

test('every request is on record as a call, and who may not call it gets nothing', async () => {
  const calls = (await daemon.records()).filter(({ kind }) => kind === 'outcome').map(({ payload }) => payload['tool']);
  for (const tool of ['resources.list', 'resources.read', 'resources.templates', 'prompts.args-prompt']) {
    assert.ok(calls.includes(`everything.${tool}`), `${tool} in ${[...new Set(calls)].join()}`);
  }
  const outside = await connect('auto', { tools: ['files.*'] });
  assert.deepEqual((await outside.listResources()).resources, []);
  assert.deepEqual((await outside.listPrompts()).prompts, []);
  const uri = 'sallyport://upstream/everything/demo://resource/dynamic/text/1';
  await assert.rejects(outside.readResource({ uri }), /OUTSIDE_LEASE/);
  for (const odd of [
    'sallyport://upstream/',
    'sallyport://upstream/no-such/x',
    'sallyport://upstream/../files/x',
    'demo://x',
  ]) {
    await assert.rejects(outside.readResource({ uri: odd }), /not found|OUTSIDE_LEASE/i);
  }
  await outside.close();
});
