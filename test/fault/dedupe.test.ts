import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { shellProgram, writeProgram } from '../cli/tool-place.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { codeOf, until, untilReady } from '../pipelines/pipeline-place.ts';
import { requirement } from '../requirement.ts';

const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');
const rules = `
  - id: counted-tools
    effect: allow
    tools: [shell.run, counted, repeatable, 'demo.*', files.move_glob]
    approval: waived
    accept_new: true
    grants: { write: ['$WORKSPACE'] }
`;

/** Leaves a line each time it runs, and does not end by itself. */
const body = (file: string): string => `echo run >> ${file}\nexec sleep 4000`;

/** A server whose only tool leaves a line and never answers, or dies. */
const server = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const work = { name: 'work', inputSchema: { type: 'object', properties: { file: { type: 'string' }, end: { type: 'string' } } } };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'w', version: '1' } } });
  } else if (method === 'tools/list') send({ id, result: { tools: [work] } });
  else if (method === 'tools/call') {
    appendFileSync(params.arguments.file, 'run\\n');
    if (params.arguments.end === 'exit') process.exit(1);
    if (params.arguments.end === 'fail') send({ id, result: { isError: true, content: [{ type: 'text', text: 'no' }] } });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
}
`;

let daemon: TestDaemon;
let token: string;
const folder = (): string => join(daemon.place.workspace, 'runs');

before(async () => {
  const place = ownRules(newPlace(), {
    // Moving by pattern asks under the shipped rules.
    'tools.yaml':
      shipped.replace(
        '    effect: require_approval\n    tools: [files.move_glob]',
        '    effect: allow\n    tools: [files.move_glob]',
      ) + rules,
    'limits.yaml': 'version: 1\nrates: []\n',
    'modes.yaml': 'version: 1\n',
  });
  chmodSync(place.folder, 0o755);
  mkdirSync(join(place.workspace, 'runs'));
  // Programs of a daemon that runs as root belong to another user.
  for (const path of [place.workspace, join(place.workspace, 'runs')]) chmodSync(path, 0o777);
  const take = `file=$(sed 's/.*"file":"\\([^"]*\\)".*/\\1/')\n`;
  writeProgram(place, 'counted', shellProgram('counted', take + body('$file')));
  writeProgram(place, 'repeatable', shellProgram('repeatable', take + body('$file')));
  writeFileSync(join(place.home, 'tools', 'assigned.yaml'), 'assign: [{ tool: repeatable, idempotent: true }]\n');
  const script = join(place.folder, 'server.mjs');
  writeFileSync(script, server);
  daemon = await TestDaemon.start(place);
  const added = runSallyport(place, [
    ...['upstream', 'add', 'demo', '--yes', '--read', script, '--write', join(place.workspace, 'runs')],
    ...['--', 'node', script],
  ]);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  for (const name of ['counted', 'repeatable']) await untilReady(daemon, name);
  token = await daemon.newAgent('ada');
  await untilServed();
});
after(() => daemon.remove());

/** Its tool says that it failed, so it was asked. */
async function untilServed(): Promise<void> {
  await until('the upstream server answers', async () => {
    const input = { file: join(folder(), `answered-${++at}`), end: 'fail' };
    return codeOf(await daemon.call('demo.work', input, { token })) === 'EXECUTION_ERROR';
  });
}

interface Kind {
  readonly tool: string;
  readonly input: (file: string) => object;
}

const kinds: Readonly<Record<string, Kind>> = {
  'a program in the shell': {
    tool: 'shell.run',
    input: (file) => ({ argv: ['sh', '-c', body(file)], timeout_ms: 3_600_000 }),
  },
  'a tool that is a program': { tool: 'counted', input: (file) => ({ file }) },
  'a tool of an upstream server': { tool: 'demo.work', input: (file) => ({ file }) },
};

const runsOf = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).length : 0;

/** The process that starts programs: the child of the daemon. */
function spawnerOf(pid: number | undefined): number {
  const children = readdirSync('/proc').filter((entry) => {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
    } catch {
      return false;
    }
  });
  assert.equal(children.length, 1, 'the spawner is the only child of the daemon');
  return Number(children[0]);
}

/** A call whose sender hangs up. Resolves when nobody waits for the answer any more. */
function callAndLeave(tool: string, input: object, dedupeKey: string): () => void {
  const sent = request(new URL('/sallyport.v1.ToolService/ExecuteTool', daemon.address), {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify({ name: tool, inputJson: JSON.stringify(input), dedupeKey }));
  return () => void sent.destroy();
}

let at = 0;

/** Calls, cuts it off in the middle, and calls again with the same key. */
async function cutOff(
  kind: Kind,
  cut: () => void,
  { more = {}, input = {} }: { more?: object; input?: object } = {},
): Promise<{ first: Answer; again: Answer; file: string }> {
  const file = join(folder(), `run-${++at}`);
  const call = () => daemon.call(kind.tool, { ...kind.input(file), ...input }, { token, dedupeKey: file, ...more });
  const running = call();
  running.catch(() => undefined);
  await until('it runs', () => runsOf(file) > 0);
  cut();
  const first = await running;
  return { first, again: await call(), file };
}

function assertHeld({ first, again, file }: { first: Answer; again: Answer; file: string }, code: string): void {
  assert.equal(codeOf(first), code, JSON.stringify(first));
  assert.notEqual(first.error?.retryable, true, 'the answer does not invite another run');
  assert.match(first.error?.message ?? '', /not known.*dedupe key stays taken/);
  assert.equal(codeOf(again), 'DEDUPE_UNKNOWN', JSON.stringify(again));
  assert.match(again.denied?.message ?? '', new RegExp(first.callId));
  assert.equal(runsOf(file), 1, 'it ran once');
}

test('what ran out of time does not run again with its dedupe key', async () => {
  requirement('PIPE-6');
  const cut = Object.values(kinds).map((kind) => cutOff(kind, () => undefined, { more: { timeoutMs: 3000 } }));
  for (const held of await Promise.all(cut)) assertHeld(held, 'TIMEOUT');
});

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name} whose caller hung up does not run again with its dedupe key`, async () => {
    requirement('PIPE-6');
    const file = join(folder(), `run-${++at}`);
    const key = `key-${at}`;
    const leave = callAndLeave(kind.tool, kind.input(file), key);
    await until('it runs', () => runsOf(file) > 0);
    leave();
    const again = await daemon.call(kind.tool, kind.input(file), { token, dedupeKey: key });
    assert.equal(codeOf(again), 'DEDUPE_UNKNOWN', JSON.stringify(again));
    assert.equal(runsOf(file), 1);
  });
}

for (const name of ['a program in the shell', 'a tool that is a program'] as const) {
  test(`${name} does not run again after the spawner was killed`, async () => {
    requirement('PIPE-6');
    const kill = (): void => void process.kill(spawnerOf(daemon.process.pid), 'SIGKILL');
    assertHeld(await cutOff(kinds[name] ?? assert.fail(), kill), 'EFFECT_UNKNOWN');
  });
}

test('a call does not run again after its upstream server died, or said that it failed', async () => {
  requirement('PIPE-6');
  const kind = kinds['a tool of an upstream server'] ?? assert.fail();
  await untilServed();
  assertHeld(await cutOff(kind, () => undefined, { input: { end: 'exit' } }), 'EFFECT_UNKNOWN');
  await untilServed();
  assertHeld(await cutOff(kind, () => undefined, { input: { end: 'fail' } }), 'EXECUTION_ERROR');
});

test('a file tool that was cut off in the middle does not run again with its dedupe key', async () => {
  requirement('PIPE-6');
  // On a busy machine a few files may all be moved before anybody can hang up.
  for (const count of [300, 1200, 4800]) if (await isCutOffWhileMoving(count)) return;
  assert.fail('the call was never cut off in the middle');
});

/** False when the move came to its end first. */
async function isCutOffWhileMoving(count: number): Promise<boolean> {
  const [from, to] = [`from-${count}`, `to-${count}`];
  const list = (name: string): string[] => readdirSync(join(daemon.place.workspace, name));
  for (const name of [from, to]) mkdirSync(join(daemon.place.workspace, name));
  for (let file = 0; file < count; file++) {
    writeFileSync(join(daemon.place.workspace, from, `${file}.txt`), Buffer.alloc(100_000));
  }
  const input = { from, to, patterns: ['*.txt'] };
  const leave = callAndLeave('files.move_glob', input, from);
  await until('some were moved', () => list(to).length > 0);
  leave();
  const again = await daemon.call('files.move_glob', input, { token, dedupeKey: from });
  if (again.success !== undefined && list(from).length === 0) return false;
  assert.equal(codeOf(again), 'DEDUPE_UNKNOWN', JSON.stringify(again));
  assert.ok(list(from).length > 0, 'it was cut off before its end');
  return true;
}

test('what certainly did not begin frees its key', async () => {
  requirement('PIPE-6');
  const missing = await daemon.call('files.edit', { path: 'none', old: 'a', new: 'b' }, { token, dedupeKey: 'free' });
  assert.ok(missing.success === undefined);
  const written = await daemon.call('files.write', { path: 'free.txt', content: 'x' }, { token, dedupeKey: 'free' });
  assert.ok(written.success !== undefined, JSON.stringify(written));
});

test('only an idempotent tool runs again', async () => {
  requirement('PIPE-6');
  const kind = { tool: 'repeatable', input: (file: string) => ({ file }) };
  const { first, again, file } = await cutOff(kind, () => undefined, { more: { timeoutMs: 4000 } });
  assert.equal(codeOf(first), 'TIMEOUT');
  assert.equal(codeOf(again), 'TIMEOUT');
  assert.equal(runsOf(file), 2);
});

test('after the daemon was killed a call does not run again, unless its tool is idempotent', async () => {
  requirement('PIPE-6');
  const files = { counted: join(folder(), 'killed'), repeatable: join(folder(), 'killed-repeatable') };
  for (const [tool, file] of Object.entries(files)) {
    daemon.call(tool, { file }, { token, dedupeKey: tool }).catch(() => undefined);
    await until('it runs', () => runsOf(file) > 0);
  }
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(daemon.place);
  for (const name of ['counted', 'repeatable']) await untilReady(daemon, name);
  const again = await daemon.call('counted', { file: files.counted }, { token, dedupeKey: 'counted' });
  assert.equal(codeOf(again), 'DEDUPE_UNKNOWN', JSON.stringify(again));
  assert.equal(runsOf(files.counted), 1);
  const leave = callAndLeave('repeatable', { file: files.repeatable }, 'repeatable');
  await until('it runs again', () => runsOf(files.repeatable) === 2);
  leave();
});
