import assert from 'node:assert/strict';
import { chmodSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

interface Added {
  readonly personId: string;
  readonly name: string;
  readonly credential: string;
}

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runSallyport(daemon.place, args, environment);

/** A person with a credential in a file of their own. */
function addPerson(name: string): Added & { environment: Record<string, string> } {
  const { status, stdout, stderr } = run(['person', 'add', name, '--json']);
  assert.equal(status, 0, stderr + stdout);
  const added = JSON.parse(stdout) as Added;
  const file = join(daemon.place.folder, `${name}.credential`);
  writeFileSync(file, `${added.credential}\n`, { mode: 0o600 });
  return { ...added, environment: { SALLYPORT_CREDENTIAL_FILE: file } };
}

test('each person acts under their own name, and records carry it', async () => {
  requirement('AUD-1');
  const ada = addPerson('ada');
  const bob = addPerson('bob');
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'a');
  for (const { environment } of [ada, bob, { environment: {} }]) {
    assert.equal(run(['tool', 'invoke', 'files.read', 'path=a.txt', '--task-id', 'names'], environment).status, 0);
  }
  const names = (await daemon.records())
    .filter(({ kind, payload }) => kind === 'intent' && payload['task_id'] === 'names')
    .map(({ payload }) => [payload['agent'], payload['principal']]);
  assert.deepEqual(names, [
    ['ada', 'operator'],
    ['bob', 'operator'],
    ['operator', 'operator'],
  ]);
});

test('adding shows the credential once and says how to use it; the list never shows one', () => {
  const { stdout } = run(['person', 'add', 'carol']);
  const [credential = ''] = /sp_[\w-]{43}/.exec(stdout) ?? [];
  assert.match(stdout, /^carol may run the gate\. The credential is shown this once:\n\n {2}sp_/);
  assert.match(stdout, /cat > ~\/\.sallyport\/credentials\/person\)\n/);
  // The home of who adds them is of no use to them.
  assert.match(stdout, /\n {2}(?:npx )?sallyport status\n$/);
  const listed = run(['person', 'list']).stdout;
  assert.match(listed, /^PERSON +NAME +STATUS +ADDED\n/);
  assert.match(listed, / carol +active /);
  assert.ok(credential !== '' && !listed.includes(credential));
  assert.equal(run(['person', 'add', 'carol']).status, 4);
});

test('a credential is accepted at the socket of operators and at TCP, and is no token of an agent', async () => {
  const { credential } = addPerson('dora');
  const method = 'sallyport.v1.ToolService/ListAvailableTools';
  assert.equal((await daemon.post(method, {}, credential)).status, 200);
  assert.equal((await daemon.post(method, {}, daemon.operatorToken)).status, 401);
  assert.equal(run(['tool', 'list'], { SALLYPORT_TOKEN: credential }).status, 3);
});

test('a revoked credential opens nothing from the next call on', () => {
  const { personId: id, environment } = addPerson('eve');
  assert.equal(run(['status'], environment).status, 0);
  const revoked = run(['person', 'revoke', id]);
  assert.equal(revoked.status, 0, revoked.stderr);
  assert.match(revoked.stdout, /no longer works/);
  assert.notEqual(run(['status'], environment).status, 0);
  assert.ok(!run(['person', 'list']).stdout.includes('eve'));
  assert.match(run(['person', 'list', '--all']).stdout, / eve +revoked /);
  assert.equal(run(['person', 'revoke', id]).status, 1);
});

test('nobody locks everyone out: the first operator stays', () => {
  const { environment } = addPerson('mallory');
  const { people } = JSON.parse(run(['person', 'list', '--json']).stdout) as { people: Added[] };
  const first = people.find(({ name }) => name === 'operator')?.personId ?? '';
  for (const who of [{}, environment]) {
    const { status, stderr } = run(['person', 'revoke', first], who);
    assert.equal(status, 4);
    assert.match(stderr, /first operator cannot be revoked/);
  }
  assert.equal(run(['status']).status, 0);
});

test('a person can add another one, and credentials survive a restart', async () => {
  const { environment } = addPerson('frank');
  assert.equal(run(['person', 'add', 'grace'], environment).status, 0);
  const { place } = daemon;
  await daemon.kill('SIGTERM');
  daemon = await TestDaemon.start(place);
  assert.equal(run(['status'], environment).status, 0);
});

test('a credential file that is missing, empty or open to others is said to be so', () => {
  const { environment } = addPerson('heidi');
  const file = environment['SALLYPORT_CREDENTIAL_FILE'] ?? '';
  chmodSync(file, 0o644);
  const open = run(['status'], environment);
  assert.equal(open.status, 1);
  assert.match(open.stderr, /Other users can read .*\n.*chmod 600/);
  const missing = run(['status'], { SALLYPORT_CREDENTIAL_FILE: `${file}.no` });
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /There is no credential file/);
  writeFileSync(file, '');
  chmodSync(file, 0o600);
  assert.match(run(['status'], environment).stderr, /is empty/);
});

test('no credential stands in the database or the logs', async () => {
  requirement('AUD-4');
  const { credential } = addPerson('ivan');
  const token = await daemon.newAgent('judy');
  await daemon.call('files.read', { path: credential }, { token });
  for (const file of globSync('{*.db*,log/*}', { cwd: daemon.place.home })) {
    const bytes = readFileSync(join(daemon.place.home, file));
    for (const secret of [credential, token]) assert.ok(!bytes.includes(secret.slice(3)), file);
  }
});
