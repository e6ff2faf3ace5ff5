import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const shippedRules = join(import.meta.dirname, '../../config/governance');

/** A start that must fail: exit code, and what it says. */
function startExpectingFailure(place: Place, environment: Record<string, string> = {}): string {
  const { status, stdout, stderr } = runSallyport(place, ['up'], environment);
  const text = stdout + stderr;
  assert.notEqual(status, 0, text);
  assert.doesNotMatch(text, /at .*\.ts:\d+|node:internal/, 'no stack trace');
  return text;
}

test('a second start says that one runs, and leaves it alone', async () => {
  const daemon = await TestDaemon.start();
  try {
    const text = startExpectingFailure(daemon.place);
    assert.match(text, /already running/);
    assert.match(text, new RegExp(String(daemon.process.pid)));
    assert.equal((await daemon.status())['health'], 'serving');
  } finally {
    await daemon.remove();
  }
});

test('the lock and sockets of a killed daemon do not keep the next one from starting', async () => {
  requirement('NFR-2');
  const first = await TestDaemon.start();
  await first.kill('SIGKILL');
  assert.ok(existsSync(first.operatorSocket), 'a killed daemon leaves its socket');
  const second = await TestDaemon.start(first.place);
  assert.equal((await second.status())['health'], 'serving');
  await second.kill('SIGTERM');
  assert.ok(!existsSync(second.operatorSocket), 'a clean end removes it');
  assert.ok(!existsSync(join(second.place.home, 'run', 'daemon.lock')));
  await second.remove();
});

test('the home is closed to other users, and no token is stored in it in the clear', async () => {
  const daemon = await TestDaemon.start();
  try {
    const token = await daemon.newAgent('someone');
    // Programs that root starts run as somebody else, who must come through.
    const passable = process.getuid?.() === 0 ? 0o011 : 0;
    assert.equal(statSync(daemon.place.home).mode & 0o077, passable);
    for (const path of ['keys', 'credentials', 'run/operator', 'run/agent', 'trash', 'content']) {
      assert.equal(statSync(join(daemon.place.home, path)).mode & 0o077, 0, path);
    }
    for (const path of ['keys/audit.key', 'credentials/operator', 'sallyport.db']) {
      assert.equal(statSync(join(daemon.place.home, path)).mode & 0o077, 0, path);
    }
    for (const file of ['sallyport.db', 'sallyport.db-wal']) {
      const bytes = readFileSync(join(daemon.place.home, file));
      assert.ok(!bytes.includes(token) && !bytes.includes(daemon.operatorToken), file);
    }
  } finally {
    await daemon.remove();
  }
});

test('rules that are not valid refuse the start with file and line', () => {
  const place = newPlace();
  const rules = join(place.home, 'governance');
  mkdirSync(place.home, { mode: 0o700 });
  cpSync(shippedRules, rules, { recursive: true });
  writeFileSync(
    join(rules, 'tools.yaml'),
    'version: 1\nrules:\n  - id: a\n    efect: allow\n    tools: [files.read]\n',
  );
  const text = startExpectingFailure(place);
  assert.match(text, /tools\.yaml:4/);
  assert.match(text, /effect/);
  rmSync(place.folder, { recursive: true });
});

test('without rules nothing is callable', async () => {
  requirement('PIPE-2');
  const place = newPlace();
  mkdirSync(join(place.home, 'governance'), { recursive: true, mode: 0o700 });
  chmodSync(place.home, 0o700);
  const daemon = await TestDaemon.start(place);
  try {
    const answer = await daemon.call('files.list', {});
    assert.equal(answer.denied?.rationaleCode, 'NO_RULE_ALLOWS');
  } finally {
    await daemon.remove();
  }
});

test('a workspace that overlaps the gate is refused when it was asked for', () => {
  const place = newPlace();
  for (const workspace of [place.folder, join(import.meta.dirname, '../..'), '/']) {
    const text = startExpectingFailure(place, { SALLYPORT_WORKSPACE: workspace });
    assert.match(text, /SALLYPORT_WORKSPACE/, workspace);
  }
  rmSync(place.folder, { recursive: true });
});

test('a workspace that nobody asked for gives way, and the status says why', async () => {
  const daemon = await TestDaemon.start(newPlace(), { SALLYPORT_WORKSPACE: '' });
  try {
    const status = await daemon.status();
    assert.equal(status['workspace'], join(daemon.place.home, 'workspace'));
    assert.ok(status['workspaceReason']);
    assert.match(status['install'] ?? '', /advisory|separated/);
    assert.ok(status['installMeaning']);
  } finally {
    await daemon.remove();
  }
});

test('a port in use is named, with the way to another one', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => blocker.once('listening', resolve));
  const { port } = blocker.address() as { port: number };
  const place = newPlace();
  const text = startExpectingFailure(place, { SALLYPORT_PORT: String(port) });
  assert.match(text, new RegExp(String(port)));
  assert.match(text, /SALLYPORT_PORT/);
  assert.ok(!existsSync(join(place.home, 'run', 'daemon.lock')), 'nothing is left behind');
  blocker.close();
  rmSync(place.folder, { recursive: true });
});

test('a log that was tampered with keeps the daemon from starting', async () => {
  requirement('AUD-3');
  const daemon = await TestDaemon.start();
  await daemon.call('files.list', {});
  await daemon.kill('SIGTERM');
  const database = new DatabaseSync(join(daemon.place.home, 'sallyport.db'));
  database.exec('DELETE FROM records WHERE position = (SELECT max(position) FROM records)');
  database.close();
  const text = startExpectingFailure(daemon.place);
  assert.match(text, /audit log was changed/);
  assert.match(text, /audit verify/);
  await daemon.remove();
});

test('a secret file that others can read is refused', async () => {
  const daemon = await TestDaemon.start();
  await daemon.kill('SIGTERM');
  chmodSync(join(daemon.place.home, 'keys', 'audit.key'), 0o644);
  assert.match(startExpectingFailure(daemon.place), /chmod 600/);
  await daemon.remove();
});
