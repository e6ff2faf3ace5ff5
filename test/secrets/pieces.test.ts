import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newToolPlace, writeProgram } from '../cli/tool-place.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { Draw } from './random-secrets.ts';
import { repeatIt, testSeed } from './test-seed.ts';

const draw = new Draw(`pieces ${testSeed}`);
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
/** Words are recognised only by many of them together, so that a cut leaves the most of these. */
const words = 'willow lantern copper meadow ember saddle harbor thimble orchard pewter';
/** Each escape of a sign adds characters, so that every level looks different. */
const signs = draw.text(`${alphabet}"\\/'<>&%$`, 4000);
const secrets = { words, signs };
const longestTold = { words: 9, signs: 11 };

let daemon: TestDaemon;
let agent: string;
const said: string[] = [];

/** Writes to standard error what it is told, one piece after the other, and fails. */
const program = `#!/usr/bin/env node
const schema = { name: 'complain', version: '1.0.0', description: 'Complains.', input_schema: { type: 'object' } };
if (process.argv[2] === '--schema') { console.log(JSON.stringify(schema)); process.exit(0); }
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', async () => {
  const { said, cuts } = JSON.parse(text);
  for (const [at, start] of [0, ...cuts].entries()) {
    const piece = said.slice(start, cuts[at]);
    await new Promise((resolve) => process.stderr.write(piece, resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  process.exitCode = 3;
});
`;

/** An MCP server that repeats what it is told in the place that it is told. */
const server = `import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'demo', version: '1' } } });
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'repeat', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return id === undefined ? undefined : send({ id, result: {} });
  const { where, text } = params.arguments;
  if (where === 'failure') return send({ id, result: { isError: true, content: [{ type: 'text', text }] } });
  if (where === 'error') return send({ id, error: { code: -32000, message: text } });
  if (where === 'method') {
    send({ id: 'q', method: text, params: {} });
    return send({ id, result: { content: [] } });
  }
  process.stderr.write(text, () => process.exit(1));
});
`;

before(async () => {
  const place = newToolPlace(`
  - { id: complaining, effect: allow, tools: [complain], origins: [executable], approval: waived }
  - { id: repeating, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
  - { id: shell, effect: allow, tools: [shell.run], commands: ['true'], approval: waived }
`);
  const limits = 'quarantine: { at: 1000000, window_minutes: 1, denied: 1, error: 0, timeout: 0 }\n';
  const file = join(place.home, 'governance', 'limits.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8').replace(/^quarantine:.*\n(?: +.*\n)*/m, '')}${limits}`);
  writeProgram(place, 'complain', program);
  const script = join(place.folder, 'server.mjs');
  writeFileSync(script, server);
  chmodSync(script, 0o644);
  daemon = await TestDaemon.start(place);
  agent = await daemon.newAgent('leaky');
  for (const [name, value] of Object.entries(secrets)) {
    assert.ok((await daemon.call('secrets.set', { name, value })).success);
  }
  const run = (...args: string[]): void => {
    const { status, stdout, stderr } = runSallyport(place, args);
    assert.equal(status, 0, stdout + stderr);
  };
  run('tool', 'accept', 'complain', '--yes');
  run('upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script);
  run('upstream', 'test', 'demo');
  run('upstream', 'accept', 'demo', '--yes');
});
after(() => daemon.remove());

async function ask(name: string, input: unknown, more: object = {}): Promise<string> {
  const { denied, error } = await daemon.call(name, input, { token: agent, ...more });
  const heard = JSON.stringify([denied, error]);
  said.push(heard);
  return heard;
}

/** So many characters of padding that a cut at `border` falls into the secret, at different places of it. */
function cutAt(border: number): number[] {
  return [3, 8, 14, 20, 23, 30].map((inside) => border - inside);
}

test('the end of what a failing program writes shows no end of a secret', async () => {
  requirement('AUD-4');
  for (const value of Object.values(secrets)) {
    for (const padding of cutAt(2000)) {
      const heard = await ask('complain', { said: `it is ${value}${'-'.repeat(padding)}`, cuts: [] });
      assert.match(heard, /exit code 3/);
    }
    // In pieces, which arrive one by one.
    const cuts = [6, 6 + draw.between(1, value.length - 1), 6 + value.length];
    await ask('complain', { said: `it is ${value} now`, cuts });
    await ask('complain', { said: `it is ${words} now`, cuts: Array.from({ length: 40 }, (_, at) => at + 1) });
  }
});

test('what an upstream server says is cut only after its secrets are taken out', async () => {
  requirement('AUD-4');
  for (const value of Object.values(secrets)) {
    for (const [where, border] of [
      ['failure', 4000],
      ['error', 2000 - 'says: '.length],
      ['method', 100],
    ] as const) {
      for (const padding of cutAt(border)) {
        await ask('demo.repeat', { where, text: `${'-'.repeat(padding)}${value} and more` });
      }
    }
    for (const padding of cutAt(500).slice(0, 2)) {
      const heard = await ask('demo.repeat', { where: 'stderr', text: `${value}${'-'.repeat(padding)}` });
      assert.match(heard, /demo/);
      await daemon.call('upstreams.test', { name: 'demo' });
    }
  }
});

test('a secret that is escaped twice and then quoted is still one', async () => {
  requirement('AUD-4');
  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  for (const text of [
    signs,
    json(signs),
    json(json(signs)),
    json(json(json(signs))),
    encodeURIComponent(json(signs)),
  ]) {
    await ask('shell.run', { argv: [text] });
    await ask('shell.run', { argv: ['true', text] });
    await ask(text.slice(0, 200), { [text]: text }, { requestId: text.slice(0, 100) });
    await ask('files.read', { path: `a/${text}` });
    const { json: answer } = await daemon.post('sallyport.v1.ToolService/GetToolSchema', { name: text }, agent);
    said.push(JSON.stringify(answer));
  }
});

test('nothing of them is in an answer, in a record, in the log or in the database', async () => {
  requirement('AUD-4');
  const records: unknown[] = [];
  for (let more = await daemon.records(0); more.length > 0; more = await daemon.records(records.length)) {
    records.push(...more);
  }
  const read = (file: string): string => readFileSync(join(daemon.place.home, file), 'latin1');
  const channels = {
    answers: said.join('\n'),
    records: JSON.stringify(records),
    log: read('log/daemon.log'),
    events: read('log/calls.log'),
    database: read('sallyport.db') + read('sallyport.db-wal'),
    'audit tail': runSallyport(daemon.place, ['audit', 'tail', '-n', '500']).stdout,
    upstreams: runSallyport(daemon.place, ['upstream', 'list']).stdout,
  };
  const leaks = Object.entries(channels).flatMap(([channel, text]) =>
    (['words', 'signs'] as const).flatMap((name) => {
      const length = longestTold[name];
      const value = secrets[name];
      const pieces = new Set(
        Array.from({ length: value.length - length + 1 }, (_, at) => value.slice(at, at + length)),
      );
      for (let at = 0; at + length <= text.length; at++) {
        const seen = text.slice(at, at + length);
        if (pieces.has(seen)) return [`${channel} shows ${JSON.stringify(seen)} of ${name}`];
      }
      return [];
    }),
  );
  assert.deepEqual(leaks, [], repeatIt);
  assert.match(channels.records, /complain failed|exit code 3/, 'the search finds what is there');
});
