import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../../packages/contract/src/codes.ts';
import { isSignedBy, verifyConsistencyFile, verifyReceipt } from '../../packages/log/src/index.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { GoJudge } from '../harness/judge-with-go.ts';
import { runSallyport, runSallyportBeside } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TestWitness } from './test-witness.ts';

let daemon: TestDaemon;
let witness: TestWitness;
let go: GoJudge;
let folder: string;
let key: string;

before(async () => {
  go = new GoJudge();
  daemon = await TestDaemon.start();
  ({ folder } = daemon.place);
  key = readFileSync(join(daemon.place.home, 'keys', 'audit.pub'), 'utf8').trim();
  witness = await TestWitness.start(key);
});
after(async () => {
  go.close();
  await witness.remove();
  await daemon.remove();
});

const publish = (...args: string[]) => runSallyport(daemon.place, ['audit', 'publish', ...args]);
/** A call that a checkpoint covers. */
const list = async (): Promise<string> => {
  const { callId } = await daemon.call('files.list', { path: '.' });
  for (;;) {
    const { logSize, checkpointSize } = await daemon.status();
    if (logSize === checkpointSize) return callId;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test('a witness cosigns, and the receipt of a call carries that to somebody else', async () => {
  requirement('AUD-8');
  const callId = await list();
  assert.equal(publish('--witness', `${witness.key}@${witness.url}`).status, 0);
  await list();
  assert.equal(publish('--witness', `${witness.key}@${witness.url}`).status, 0, 'a grown log is cosigned again');
  const file = join(folder, 'receipt.json');
  assert.equal(runSallyport(daemon.place, ['audit', 'receipt', callId, file]).status, 0);
  const receipt = readFileSync(file, 'utf8');
  const options = { verifier: key, witnesses: [witness.key], checkSignature: isSignedBy };
  const { intact, problems, witnesses } = await verifyReceipt(receipt, options);
  assert.deepEqual([intact, problems, witnesses.map(({ name }) => name)], [true, [], ['w.example']]);
  assert.equal(go.judge(receipt, witness.key), undefined, 'golang.org/x/mod agrees');
  const alone = JSON.parse(receipt) as { checkpoint: string };
  const unseen = { ...alone, checkpoint: alone.checkpoint.replace(/\u2014 w\.example .*\n/, '') };
  assert.match(go.judge(JSON.stringify(unseen), witness.key) ?? '', /1 of 2 have signed/);
});

test('a checkpoint is published to a file, and proved to be continued', async () => {
  const file = join(folder, 'kept');
  assert.equal(publish('--file', file).status, 0);
  await list();
  const proof = join(folder, 'proof.json');
  const made = runSallyport(daemon.place, ['audit', 'consistency', file, proof]);
  assert.equal(made.status, 0, made.stderr);
  const written = readFileSync(proof, 'utf8');
  const { intact, oldSize, size } = verifyConsistencyFile(written, { verifier: key, kept: readFileSync(file, 'utf8') });
  assert.ok(intact && size > oldSize);
  assert.equal(go.judge(written), undefined, 'golang.org/x/mod agrees');
  assert.equal(runSallyport(daemon.place, ['audit', 'verify', '--checkpoint', file]).status, 0);
  assert.equal(publish('--file', file).status, 0, 'a newer one takes its place');
});

test('a checkpoint is published to a git repository and pushed', async () => {
  const [remote, clone] = [join(folder, 'remote.git'), join(folder, 'clone')];
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '--quiet', '--bare', '--initial-branch=main', remote);
  mkdirSync(clone);
  git('-C', clone, 'init', '--quiet', '--initial-branch=main');
  git('-C', clone, 'config', 'user.name', 'Auditor');
  git('-C', clone, 'config', 'user.email', 'auditor@example.org');
  git('-C', clone, 'remote', 'add', 'origin', remote);
  git('-C', clone, 'config', 'push.autoSetupRemote', 'true');
  const first = publish('--git', clone);
  assert.equal(first.status, 0, first.stderr);
  await list();
  assert.equal(publish('--git', clone).status, 0);
  assert.equal(git('-C', remote, 'log', '--format=%s', 'main').trim().split('\n').length, 2);
  assert.match(git('-C', remote, 'log', '-1', '--format=%s', 'main'), /^checkpoint over \d+ records$/m);
});

test('a user whose git knows no name publishes all the same, and what git objects to is one line', () => {
  const repository = join(folder, 'nameless');
  const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
  mkdirSync(repository);
  const unnamed = { GIT_CONFIG_SYSTEM: '/dev/null', GIT_CONFIG_GLOBAL: '/dev/null' };
  const run = () => runSallyport(daemon.place, ['audit', 'publish', '--git', repository], unnamed);
  const refused = run();
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /nameless: (?:fatal: )?not a git repository/);
  assert.doesNotMatch(refused.stderr, /\\n/);
  git('init', '--quiet');
  const { status, stderr } = run();
  assert.equal(status, 0, stderr);
  assert.match(git('log', '-1', '--format=%an %s'), /^Sallyport checkpoint over/);
});

test('a checkpoint is posted to a webhook, and a place that fails is told without hiding the others', async (t) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    request.on('data', (part: Buffer) => bodies.push(part.toString()));
    request.on('end', () => response.writeHead(request.url === '/ok' ? 204 : 500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const good = await runSallyportBeside(daemon.place, ['audit', 'publish', '--webhook', `${url}/ok`]);
  assert.equal(good.status, 0, good.stderr);
  assert.match(bodies[0] ?? '', /^sallyport\/[0-9a-f]{16}\n\d+\n/);
  const file = join(folder, 'beside');
  const bad = await runSallyportBeside(daemon.place, ['audit', 'publish', '--webhook', `${url}/no`, '--file', file]);
  assert.notEqual(bad.status, 0);
  assert.match(bad.stderr, /It answered 500/);
  assert.match(readFileSync(file, 'utf8'), /^sallyport\//);
});

test('a place that cannot be meant is a mistake of the command', () => {
  for (const args of [
    [],
    ['--witness', 'x'],
    ['--webhook', 'http://example.org/'],
    ['--witness', 'k@http://example.org'],
  ]) {
    assert.equal(publish(...args).status, exitCodes.usage, args.join(' '));
  }
});
