import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { TerminalSession } from '../cli/terminal-session.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

const run = (args: readonly string[], input = '') => runSallyport(daemon.place, ['secret', ...args], {}, input);

function openTerminal(t: TestContext, args: string[]): TerminalSession {
  const terminal = new TerminalSession(daemon.place, ['secret', ...args], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  return terminal;
}

test('a value is piped in, and no command shows it again', () => {
  requirement('AUD-4');
  assert.match(run(['list']).stdout, /No secret is stored\. Store one: .*secret set NAME/);
  const set = run(['set', 'GITHUB_TOKEN'], 'the piped value\n');
  assert.equal(set.status, 0, set.stderr);
  assert.match(set.stdout, /^The secret GITHUB_TOKEN is set\./);
  const listed = run(['list']);
  assert.match(listed.stdout, /^SECRET +SET\nGITHUB_TOKEN +\d{4}-\d\d-\d\d/);
  const json = JSON.parse(run(['list', '--json']).stdout) as { secrets: { name: string; readable: boolean }[] };
  assert.deepEqual(
    json.secrets.map(({ name, readable }) => [name, readable]),
    [['GITHUB_TOKEN', true]],
  );
  for (const { stdout, stderr } of [set, listed]) assert.ok(!`${stdout}${stderr}`.includes('the piped value'));
});

test('a person types the value without seeing it', async (t) => {
  requirement('AUD-4');
  const terminal = openTerminal(t, ['set', 'TYPED']);
  await terminal.waitFor('Value of TYPED (not shown):');
  terminal.type('the typed valuX\u007fe\r');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
  assert.match(terminal.screen, /The secret TYPED is set/);
  assert.ok(!terminal.screen.includes('typed val'), terminal.screen);
  assert.match(run(['list']).stdout, /TYPED/);
});

test('no value, Ctrl-C and the end of input store nothing', async (t) => {
  for (const [keys, code] of [
    ['\r', 1],
    ['\u0004', 1],
    ['half\u0003', 130],
  ] as const) {
    const terminal = openTerminal(t, ['set', 'NEVER']);
    await terminal.waitFor('(not shown):');
    terminal.type(keys);
    assert.equal(await terminal.exitCode(), code, terminal.screen);
  }
  const empty = run(['set', 'NEVER'], '\n');
  assert.equal(empty.status, 1);
  assert.match(empty.stderr, /No value was given/);
  assert.ok(!run(['list']).stdout.includes('NEVER'));
});

test('a value as an argument is refused, and one that is too short says why', () => {
  const argument = run(['set', 'NAME', 'value-on-the-line']);
  assert.equal(argument.status, 1);
  const short = run(['set', 'NAME'], 'short');
  assert.equal(short.status, 3);
  assert.match(short.stderr, /INVALID_ARGUMENTS/);
  assert.ok(!short.stderr.includes('short\n'));
});

test('a removed secret is gone, and one that is not there is said to be so', () => {
  run(['set', 'OLD'], 'the old value');
  const removed = run(['remove', 'OLD']);
  assert.equal(removed.status, 0, removed.stderr);
  assert.match(removed.stdout, /The secret OLD was removed/);
  assert.ok(!run(['list']).stdout.includes('OLD'));
  const again = run(['remove', 'OLD']);
  assert.equal(again.status, 4);
  assert.match(again.stderr, /NOT_FOUND/);
});

test('agents neither see nor use the store, and its key is out of reach of every tool', async () => {
  const token = await daemon.newAgent('curious');
  for (const name of ['secrets.list', 'secrets.set', 'secrets.remove', 'people.add', 'people.list', 'people.revoke']) {
    const answer = await daemon.call(name, {}, { token });
    assert.equal(answer.denied?.rationaleCode, 'UNKNOWN_TOOL', name);
  }
  const asAgent = runSallyport(daemon.place, ['secret', 'list'], { SALLYPORT_TOKEN: token });
  assert.equal(asAgent.status, 1);
  const key = await daemon.call('files.read', { path: join(daemon.place.home, 'keys', 'secrets.key') });
  assert.equal(key.denied?.rationaleCode, 'PROTECTED_PATH');
});

test('with another key the gate starts, says which secrets it cannot read, and takes them again', async () => {
  const { place } = daemon;
  await daemon.kill('SIGTERM');
  const file = join(place.home, 'keys', 'secrets.key');
  const former = readFileSync(file);
  writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64url')}\n`);
  daemon = await TestDaemon.start(place);
  assert.match(run(['list']).stdout, /GITHUB_TOKEN .*cannot be decrypted; set it again/);
  assert.equal(run(['set', 'GITHUB_TOKEN'], 'the new value').status, 0);
  assert.doesNotMatch(run(['list']).stdout, /GITHUB_TOKEN .*cannot/);

  await daemon.kill('SIGTERM');
  writeFileSync(file, former.subarray(0, 20));
  await assert.rejects(TestDaemon.start(place), /The key of the stored secrets is damaged/);
  writeFileSync(file, former);
  daemon = await TestDaemon.start(place);
});
