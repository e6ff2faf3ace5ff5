import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newToolPlace, shellProgram, writeProgram } from '../cli/tool-place.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { modernRequest, sendRaw } from '../mcp/server/raw-client.ts';
import { requirement } from '../requirement.ts';

const held = 'Zq7-vTx93kLmPw2RbNd8';
/** Not known when its tools are read in and accepted. */
const late = 'hG5_late_rYx84QwVbn31';
const rotated = 'pL0-rotated-uT6mKc27Xs';
const all = `${held} ${late} ${rotated}`;
const schema = {
  type: 'object',
  properties: { to: { type: 'string', description: `as ${all}`, default: all, enum: [all, 'x'] }, [all]: {} },
};
const described = { description: `Connects with ${all}.`, input_schema: schema };

/** An MCP server whose only tool describes itself with secrets. */
const server = `import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = { name: 'connect', title: ${JSON.stringify(all)}, description: ${JSON.stringify(described.description)}, inputSchema: ${JSON.stringify(schema)} };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: ${JSON.stringify(all)}, version: '1' } } });
  if (method === 'tools/list') return send({ id, result: { tools: [tool, { name: ${JSON.stringify(`${all}!`)}, inputSchema: { type: 'object' } }] } });
  if (id !== undefined) send({ id, result: { content: [] } });
});
`;

let daemon: TestDaemon;
let agent: string;

function run(...args: string[]): string {
  const { status, stdout, stderr } = runSallyport(daemon.place, args);
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

/** Everything that shows a definition, to agents and to people. */
async function readAll(): Promise<Record<string, string>> {
  const service = 'sallyport.v1.ToolService';
  const mcp = new URL('/mcp', daemon.address);
  const read = async (method: string, body: object, token?: string): Promise<string> =>
    JSON.stringify((await daemon.post(`${service}/${method}`, body, token)).json);
  const call = async (name: string, args: object): Promise<string> => JSON.stringify(await daemon.call(name, args));
  return {
    'list for an agent': await read('ListAvailableTools', {}, agent),
    'list for an operator': await read('ListAvailableTools', {}),
    'schema of a program': await read('GetToolSchema', { name: 'connect' }, agent),
    'schema of an upstream': await read('GetToolSchema', { name: 'demo.connect' }, agent),
    'MCP list': (await sendRaw(mcp, { token: agent, ...modernRequest('tools/list') })).text,
    'tool show': run('tool', 'show', 'demo.connect') + run('tool', 'show', 'connect', '--json'),
    'tools.status': (await call('tools.status', {})) + (await call('tools.status', { name: 'fresh' })),
    'tool status': run('tool', 'status', 'fresh') + run('tool', 'status', 'connect', '--json'),
    'upstream show': run('upstream', 'show', 'demo') + (await call('upstreams.show', { name: 'demo' })),
    'upstream list': run('upstream', 'list') + (await call('upstreams.list', {})),
    'accepting asks': JSON.stringify(runSallyport(daemon.place, ['tool', 'accept', 'fresh'])),
    'installing asks': JSON.stringify(runSallyport(daemon.place, ['tool', 'install', elsewhere])),
    violations: JSON.stringify(await daemon.call('connect', { to: 'y', z: 1 }, { token: agent })),
  };
}

function show(value: string, seen: Record<string, string>): string[] {
  return Object.entries(seen).flatMap(([where, text]) =>
    Array.from({ length: value.length - 7 }, (_, at) => value.slice(at, at + 8))
      .filter((piece) => text.includes(piece))
      .slice(0, 1)
      .map((piece) => `${where} shows ${piece}`),
  );
}

let elsewhere = '';

before(async () => {
  const place = newToolPlace(`
  - { id: connecting, effect: allow, tools: [connect, 'demo.*'], approval: waived }
`);
  writeProgram(place, 'connect', shellProgram('connect', 'echo {}', described));
  writeProgram(place, 'fresh', shellProgram('fresh', 'echo {}', described));
  elsewhere = writeProgram(
    place,
    'other',
    shellProgram('other', 'echo {}', described),
    join(place.folder, 'elsewhere'),
  );
  const script = join(place.folder, 'server.mjs');
  writeFileSync(script, server);
  chmodSync(script, 0o644);
  daemon = await TestDaemon.start(place, { DEPLOY_PASSWORD: held });
  agent = await daemon.newAgent('reader');
  run('tool', 'accept', 'connect', '--yes');
  run('upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script);
  run('upstream', 'test', 'demo');
  run('upstream', 'accept', 'demo', '--yes');
});
after(() => daemon.remove());

test('a secret that the gate holds is in no definition that anybody is shown', async () => {
  requirement('AUD-4');
  const seen = await readAll();
  for (const [where, text] of Object.entries(seen)) assert.match(text, /connect|fresh|other|demo/, where);
  assert.deepEqual(show(held, seen), []);
  // What nobody has told the gate of stands there, so the search finds what is there.
  assert.ok(show(late, seen).length >= 8, JSON.stringify(show(late, seen)));
});

test('a secret that is set or changed later is covered from then on, and what was accepted stays accepted', async () => {
  requirement('AUD-4');
  for (const value of [late, rotated]) {
    assert.ok((await daemon.call('secrets.set', { name: 'deploy', value })).success);
    const seen = await readAll();
    assert.deepEqual(show(value, seen), []);
    assert.deepEqual(show(late, seen), [], 'the one before is not forgotten');
    assert.match(seen['MCP list'] ?? '', /demo_connect/);
  }
  const { success } = await daemon.call('connect', { to: 'x' }, { token: agent });
  assert.ok(success);
});
