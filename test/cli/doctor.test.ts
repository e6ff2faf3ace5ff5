import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { newToolPlace } from './tool-place.ts';

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly remedy?: string;
}

function openPlace(t: TestContext): Place {
  const place = newToolPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  return place;
}

function diagnose(place: Place) {
  const { status, stdout, stderr } = runSallyport(place, ['doctor', '--json']);
  assert.equal(stderr, '');
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  const find = (name: string): Check =>
    checks.find((check) => check.name === name) ?? assert.fail(`no check of ${name}`);
  return { status, ok, checks, find };
}

test('doctor tries out everything that the gate needs, without a daemon', (t) => {
  const place = openPlace(t);
  const { status, ok, checks, find } = diagnose(place);
  assert.deepEqual([status, ok], [0, true], JSON.stringify(checks));
  for (const name of ['node', 'sandbox', 'limits', 'home', 'disk', 'rules']) assert.equal(find(name).state, 'ok', name);
  assert.match(find('sandbox').message, /^bubblewrap \d/);
  assert.equal(find('daemon').state, 'warn');
  assert.match(find('daemon').remedy ?? '', /npm start|sallyport up/);
  const text = runSallyport(place, ['doctor']).stdout;
  assert.match(text, /^ok {4}node +Node \d+\./);
  assert.match(text, /\nwarn {2}daemon +No daemon answers/);
});

test('a running daemon is asked how it is', async (t) => {
  const daemon = await TestDaemon.start(newToolPlace());
  t.after(() => daemon.remove());
  const { find, status } = diagnose(daemon.place);
  assert.equal(status, 0);
  assert.equal(find('daemon').state, 'ok');
  assert.match(find('daemon').message, new RegExp(`process ${daemon.process.pid}`));
  assert.match(find('install').message, /^(advisory|separated): /);
  assert.equal(find('home').state, 'ok', find('home').message);
});

test('doctor makes real calls through every part of a running gate, and they are on record', async (t) => {
  requirement('PKG-5');
  const daemon = await TestDaemon.start(newToolPlace());
  t.after(() => daemon.remove());
  const { find, status, checks } = diagnose(daemon.place);
  assert.equal(status, 0, JSON.stringify(checks));
  for (const name of ['session', 'call', 'program', 'record', 'mcp', 'console']) assert.equal(find(name).state, 'ok');
  assert.match(find('call').message, /files\.list, judged/);
  const { stdout } = runSallyport(daemon.place, ['audit', 'tail']);
  assert.match(stdout, /files\.list/);
  assert.doesNotMatch(runSallyport(daemon.place, ['session', 'list']).stdout, /doctor/, 'its session is ended');
  // A rule of the operator's that refuses the call is no trouble of the gate; a sealed gate is not asked.
  const rules = join(daemon.place.home, 'governance', 'tools.yaml');
  writeFileSync(
    rules,
    readFileSync(rules, 'utf8').replace(
      /^rules:\n/m,
      'rules:\n  - { id: shut, effect: deny, tools: [files.list], paths: ["/**"] }\n',
    ),
  );
  assert.equal(runSallyport(daemon.place, ['policy', 'apply', '--yes']).status, 0);
  assert.match(diagnose(daemon.place).find('call').message, /refused by your rules: shut/);
});

test('the daemon finds about itself what doctor finds about it', async (t) => {
  requirement('CAT-10');
  const place = openPlace(t);
  writeFileSync(join(place.home, 'governance', 'notifications.yaml'), 'version: 1\nwebhoook: {}\n');
  writeFileSync(join(place.home, 'databases.yaml'), 'databases: [{ name: shop, kind: sqlite }]\n');
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  const invoke = (tool: string): Record<string, unknown> => {
    const { stdout } = runSallyport(place, ['tool', 'invoke', tool, '--json']);
    return (JSON.parse(stdout) as { output: Record<string, unknown> }).output;
  };
  const { ok, checks } = invoke('self.check') as unknown as { ok: boolean; checks: Check[] };
  const outside = ['daemon', 'log', 'disk', 'session', 'call', 'program', 'record', 'mcp', 'console'];
  const shared = (all: readonly Check[]) => all.filter(({ name }) => !outside.includes(name));
  const seen = diagnose(place).checks;
  assert.deepEqual(shared(checks), shared(seen));
  assert.equal(ok, false);
  for (const name of ['notifications', 'databases']) {
    assert.equal(seen.find((check) => check.name === name)?.state, 'fail', name);
  }
  const { settings } = invoke('config.read') as { settings: Record<string, Record<string, unknown>> };
  assert.deepEqual([settings['gate']?.['mode'], settings['places']?.['home']], ['NORMAL', place.home]);
});

test('rules that cannot be used fail, with the line', (t) => {
  const place = openPlace(t);
  writeFileSync(join(place.home, 'governance', 'tools.yaml'), 'version: 1\nrules:\n  - id: x\n    effect: perhaps\n');
  const { status, ok, find } = diagnose(place);
  assert.deepEqual([status, ok, find('rules').state], [4, false, 'fail']);
  assert.match(find('rules').message, /tools\.yaml:\d+:\d+/);
  assert.match(runSallyport(place, ['doctor']).stdout, /\nfail {2}rules [^]*\n1 of \d+ checks failed\.\n$/);
});

test('notifications that cannot be used fail, although the daemon starts without them', async (t) => {
  const place = openPlace(t);
  writeFileSync(join(place.home, 'governance', 'notifications.yaml'), 'version: 1\nwebhoook: {}\n');
  const { status, find } = diagnose(place);
  assert.deepEqual([status, find('notifications').state], [4, 'fail']);
  assert.match(find('notifications').message, /notifications\.yaml:2:\d+/);
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  assert.equal(diagnose(place).find('notifications').state, 'fail');
});

test('an empty checkpoint is told as the start tells it', async (t) => {
  const daemon = await TestDaemon.start(newToolPlace());
  t.after(() => daemon.remove());
  await daemon.kill('SIGTERM');
  writeFileSync(join(daemon.place.home, 'audit', 'checkpoint'), '');
  const said = runSallyport(daemon.place, ['up']).stderr.replaceAll(/\s+/g, ' ');
  const { message, remedy = '' } = diagnose(daemon.place).find('log');
  assert.match(message, /checkpoint is empty/);
  assert.equal(said.trim(), `Error ${message} ${remedy}`);
});

test('a home that others can get at fails, with the command that closes it', (t) => {
  const place = openPlace(t);
  const key = join(place.home, 'keys', 'audit.key');
  mkdirSync(join(place.home, 'keys'), { mode: 0o700 });
  writeFileSync(key, 'secret', { mode: 0o600 });
  assert.equal(diagnose(place).find('home').state, 'ok');
  for (const [path, closed] of [
    [key, 0o600],
    [join(place.home, 'keys'), 0o700],
    [place.home, 0o700],
  ] as const) {
    chmodSync(path, 0o755);
    const { find, status } = diagnose(place);
    assert.deepEqual([status, find('home').state, find('home').remedy], [4, 'fail', `chmod -R go-rwx ${path}`]);
    chmodSync(path, closed);
  }
});

test('where a start fails, doctor fails, and says the same', async (t) => {
  const daemon = await TestDaemon.start(newToolPlace());
  t.after(() => daemon.remove());
  runSallyport(daemon.place, ['stop']);
  const { place } = daemon;
  const inHome = (...parts: string[]): string => join(place.home, ...parts);
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const damage: Readonly<Record<string, { readonly file?: string; readonly environment?: Record<string, string> }>> = {
    port: { environment: { SALLYPORT_PORT: String(port) } },
    workspace: { environment: { SALLYPORT_WORKSPACE: '/no/such/folder' } },
    keys: { file: inHome('keys', 'audit.key') },
    log: { file: inHome('sallyport.db-wal') },
  };
  assert.equal(diagnose(place).ok, true);
  for (const [name, { file, environment = {} }] of Object.entries(damage)) {
    const former = file === undefined ? undefined : readFileSync(file);
    if (file !== undefined) truncateSync(file, name === 'keys' ? 10 : 5000);
    const started = runSallyport(place, ['up', '--json'], environment);
    assert.notEqual(started.status, 0, `${name}: it started`);
    const { status, stdout } = runSallyport(place, ['doctor', '--json'], environment);
    const failed = (JSON.parse(stdout) as { checks: Check[] }).checks.filter(({ state }) => state === 'fail');
    assert.deepEqual([status, failed.map((check) => check.name)], [4, [name]], JSON.stringify(failed));
    if (file !== undefined && former !== undefined) writeFileSync(file, former);
  }
});
