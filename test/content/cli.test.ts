import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { noise } from '../../packages/gateway/src/content/content.test-kit.ts';
import { TerminalSession } from '../cli/terminal-session.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { ContentClient, hashOf } from './content-client.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(liftLimits(newPlace()));
});
after(() => daemon.remove());

const at = (name: string): string => join(daemon.place.folder, name);

function run(args: readonly string[], { token, input = '' }: { token?: string; input?: string } = {}) {
  return runSallyport(daemon.place, args, token === undefined ? {} : { SALLYPORT_TOKEN: token }, input);
}

function ask(args: readonly string[], expectedStatus = 0): Record<string, unknown> {
  const { status, stdout, stderr } = run([...args, '--json']);
  assert.equal(status, expectedStatus, stdout + stderr);
  assert.match(stdout, /^\{.*\}\n$/, 'one object on one line');
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** What the last call of a tool read or wrote, from its record. */
async function lastUsage(tool: string): Promise<Record<string, number>> {
  const outcomes = (await daemon.records()).filter(
    ({ kind, payload }) => kind === 'outcome' && payload['tool'] === tool,
  );
  return outcomes.at(-1)?.payload['usage'] as Record<string, number>;
}

test('a file is put, and comes back through a pipe and as a file', () => {
  requirement('UI-1');
  writeFileSync(at('note.txt'), 'grüße\n');
  const hash = hashOf(Buffer.from('grüße\n')).toString('hex');
  const put = run(['content', 'put', at('note.txt')]);
  assert.deepEqual([put.status, put.stdout, put.stderr], [0, `${hash}\n`, '']);
  assert.deepEqual(ask(['content', 'put', at('note.txt')]), { hash, size: 8 });
  assert.equal(run(['content', 'put', '-'], { input: 'grüße\n' }).stdout, `${hash}\n`);

  const piped = run(['content', 'get', hash]);
  assert.deepEqual([piped.status, piped.stdout, piped.stderr], [0, 'grüße\n', '']);
  const out = at('out.txt');
  assert.equal(run(['content', 'get', hash, '-o', out]).status, 0);
  assert.equal(readFileSync(out, 'utf8'), 'grüße\n');
  assert.deepEqual(ask(['content', 'get', hash, '--output', out]), { hash, size: 8, file: out });
  assert.deepEqual(
    readdirSync(daemon.place.folder).filter((name) => name.endsWith('.part')),
    [],
  );
});

test('a large file is sent in part only when a part is there, and not at all when it is stored', async (context) => {
  const bytes = noise(6_000_000);
  const hash = hashOf(bytes);
  writeFileSync(at('large.bin'), bytes);
  const client = new ContentClient(context, daemon.operatorSocket, daemon.operatorToken);
  const endedPuts = async (): Promise<number> =>
    (await daemon.records()).filter(({ kind, payload }) => kind === 'outcome' && payload['tool'] === 'content.put')
      .length;
  const endedBefore = await endedPuts();
  const stream = client.openPut();
  stream.on('error', () => undefined);
  stream.write({ header: { hash, size: bytes.length } });
  for (let n = 0; n < 3; n++) stream.write({ chunk: bytes.subarray(n * 1_000_000, (n + 1) * 1_000_000) });
  await once(stream, 'data');
  stream.cancel();
  // What had arrived is still written, and counts.
  while ((await endedPuts()) === endedBefore);
  const { received } = await client.stat(hash);

  assert.deepEqual(ask(['content', 'put', at('large.bin')]), { hash: hash.toString('hex'), size: bytes.length });
  assert.deepEqual(await lastUsage('content.put'), { bytesWritten: bytes.length - received });
  const earlier = (await daemon.records()).length;
  assert.equal(run(['content', 'put', at('large.bin')]).stdout, `${hash.toString('hex')}\n`);
  const since = (await daemon.records()).slice(earlier).map(({ payload }) => payload['tool']);
  assert.ok(!since.includes('content.put'));
});

test('a download goes on with the part that is there, and drops a part that is wrong', async () => {
  const bytes = noise(1_000_000, 2);
  const hash = hashOf(bytes).toString('hex');
  writeFileSync(at('part.bin'), bytes);
  ask(['content', 'put', at('part.bin')]);
  const out = at('back.bin');
  writeFileSync(`${out}.part`, bytes.subarray(0, 400_001));
  assert.equal(run(['content', 'get', hash, '-o', out]).status, 0);
  assert.ok(readFileSync(out).equals(bytes));
  assert.deepEqual(await lastUsage('content.get'), { bytesRead: 599_999 });

  writeFileSync(`${out}.part`, noise(1000, 77));
  const wrong = run(['content', 'get', hash, '-o', out]);
  assert.equal(wrong.status, 4);
  assert.match(wrong.stderr, /do not have the hash.*\n.*Run the command again/);
  assert.ok(!existsSync(`${out}.part`));
  assert.equal(run(['content', 'get', hash, '-o', out]).status, 0);
});

test('errors say what is wrong and leave nothing', async () => {
  const missing = hashOf(Buffer.from('missing')).toString('hex');
  const failed = run(['content', 'get', missing, '-o', at('none')]);
  assert.equal(failed.status, 4);
  assert.match(failed.stderr, /NOT_FOUND[\s\S]*There is no content/);
  assert.deepEqual([existsSync(at('none')), existsSync(at('none.part'))], [false, false]);
  assert.deepEqual(
    [
      run(['content', 'get', '../etc/passwd']).status,
      run(['content', 'get', missing.toUpperCase()]).status,
      run(['content', 'put', at('no such file')]).status,
      run(['content', 'put', daemon.place.folder]).status,
      run(['content', 'get', missing, '-o', '/no/such/folder/file']).status,
      run(['content', 'gc', '--older-than-hours', '0']).status,
    ],
    [1, 1, 1, 1, 1, 1],
  );
  assert.match(run(['content', 'get', missing, '--json']).stdout, /--output FILE/);
  assert.equal(ask(['content', 'get', missing, '-o', at('none')], 4)['status'], 'error');

  const token = await daemon.newAgent('narrow', { tools: ['content.get'] });
  const denied = run(['content', 'put', '-'], { token, input: 'x'.repeat(100_000) });
  assert.equal(denied.status, 3);
  assert.match(denied.stderr, /Denied[\s\S]*OUTSIDE_LEASE/);
  assert.equal(run(['content', 'put', '-'], { token: 'sp_made_up', input: 'x' }).status, 3);
  const nobody = runSallyport({ ...daemon.place, home: at('nowhere') }, ['content', 'get', missing, '-o', at('none')]);
  assert.equal(nobody.status, 2);
});

test('an agent puts and gets with its own token, and sees nothing of others', async () => {
  const [ada, bob] = [await daemon.newAgent('ada'), await daemon.newAgent('bob')];
  const hash = run(['content', 'put', '-'], { token: ada, input: 'of ada' }).stdout.trim();
  assert.equal(run(['content', 'get', hash], { token: ada }).stdout, 'of ada');
  assert.equal(run(['content', 'get', hash], { token: bob }).status, 4);
  assert.equal(run(['content', 'get', hash]).stdout, 'of ada', 'the operator reads everything');
  assert.equal(run(['content', 'verify'], { token: ada }).status, 1, 'for the operator only');
});

test('verify names what is damaged and ends with an error; putting it again repairs it', () => {
  requirement('NFR-2');
  assert.match(run(['content', 'verify']).stdout, /^All content is intact\.\n +read +\d+ contents, /);
  const hash = run(['content', 'put', '-'], { input: 'to be damaged' }).stdout.trim();
  const descriptor = openSync(join(daemon.place.home, 'content', hash.slice(0, 2), hash.slice(2)), 'r+');
  writeSync(descriptor, 'x');
  closeSync(descriptor);
  const found = run(['content', 'verify']);
  assert.equal(found.status, 4);
  assert.match(found.stdout, new RegExp(`damaged +${hash}`));
  assert.deepEqual(ask(['content', 'verify'], 4)['corrupted'], [hash]);
  assert.match(run(['content', 'get', hash]).stderr, /CONTENT_CORRUPTED/);
  run(['content', 'put', '-'], { input: 'to be damaged' });
  assert.equal(run(['content', 'verify']).status, 0);
  assert.match(run(['content', 'gc']).stdout, /^0 contents removed, 0 bytes freed; \d+ stay\.\n$/);
});

test('an artifact is published once, shown and listed', () => {
  const hash = run(['content', 'put', '-'], { input: 'report' }).stdout.trim();
  const publish = ['artifact', 'publish', 'run-7', hash, '--category', 'test_results', '--metadata', 'a=b', 'c=d'];
  assert.match(run(publish).stdout, /^Published for good\.\n\n +artifact +run-7\n/);
  const again = run(publish);
  assert.equal(again.status, 4);
  assert.match(again.stderr, /ALREADY_EXISTS/);
  const shown = ask(['artifact', 'show', 'run-7']);
  assert.deepEqual([shown['contentHash'], shown['metadata'], shown['size']], [hash, ['a=b', 'c=d'], '6']);
  assert.match(run(['artifact', 'list']).stdout, /^ARTIFACT +CATEGORY .*\nrun-7 +test_results +6 bytes /);
  assert.equal(ask(['artifact', 'list', '--category', 'none'])['total'], 0);
  assert.match(run(['artifact', 'list', '--category', 'none']).stdout, /No artifact/);
  assert.equal(run(['artifact', 'show', 'run-8']).status, 4);
  assert.equal(run(['artifact', 'publish', 'run-9', hash]).status, 1, 'a category is needed');
});

test('at a terminal a transfer shows how far it is, and bytes are not printed', async (context) => {
  requirement('UI-1');
  const bytes = noise(15_000_000, 3);
  const hash = hashOf(bytes).toString('hex');
  writeFileSync(at('film.bin'), bytes);
  const put = new TerminalSession(daemon.place, ['content', 'put', at('film.bin')]);
  context.after(() => put.kill());
  await put.waitFor('Reading: ');
  await put.waitFor('Sending: ');
  await put.waitFor(hash);
  await put.waitFor('15.0 MB stored.');
  assert.equal(await put.exitCode(), 0);

  const print = new TerminalSession(daemon.place, ['content', 'get', hash]);
  context.after(() => print.kill());
  assert.equal(await print.exitCode(), 1);
  assert.match(print.screen, /not printed to a terminal/);
  const get = new TerminalSession(daemon.place, ['content', 'get', hash, '-o', at('copy.bin')]);
  context.after(() => get.kill());
  await get.waitFor('Receiving: ');
  await get.waitFor('15.0 MB received.');
  assert.equal(await get.exitCode(), 0);
  assert.ok(readFileSync(at('copy.bin')).equals(bytes));
});

test('Ctrl-C stops an upload, and the same command goes on with it', async (context) => {
  requirement('PIPE-7');
  const bytes = noise(80_000_000, 4);
  const hash = hashOf(bytes);
  writeFileSync(at('huge.bin'), bytes);
  const put = new TerminalSession(daemon.place, ['content', 'put', at('huge.bin')]);
  context.after(() => put.kill());
  await put.waitFor('Sending: ');
  put.type('\u0003');
  assert.equal(await put.exitCode(), 130);
  const client = new ContentClient(context, daemon.operatorSocket, daemon.operatorToken);
  let received = 0;
  while (received === 0) ({ received } = await client.stat(hash));
  assert.deepEqual(ask(['content', 'put', at('huge.bin')]), { hash: hash.toString('hex'), size: bytes.length });
  assert.deepEqual(await lastUsage('content.put'), { bytesWritten: bytes.length - received });
});
