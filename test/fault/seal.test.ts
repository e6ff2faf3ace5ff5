import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TerminalSession } from '../cli/terminal-session.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

test('a gate that cannot write its checkpoint seals itself, and opens by itself when it can', async () => {
  const daemon = await TestDaemon.start();
  after(() => daemon.remove());
  const health = async (): Promise<string> => (await daemon.status())['health'] ?? '';
  const until = async (wanted: string): Promise<void> => {
    while ((await health()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // A folder stands where the checkpoint is written to.
  const obstacle = join(daemon.place.home, 'audit', 'checkpoint.new');
  for (const round of [1, 2]) {
    mkdirSync(obstacle);
    await daemon.call('files.list', { path: '.' });
    await until('sealed');
    assert.match((await daemon.status())['healthReason'] ?? '', /EISDIR/);
    const { denied } = await daemon.call('files.list', { path: '.' });
    assert.equal(denied?.rationaleCode, 'SEALED', `round ${round}`);
    assert.match(denied.remedy ?? '', /opens again when the cause is gone/);
    rmdirSync(obstacle);
    await until('serving');
    const answer = await daemon.call('files.list', { path: '.' });
    assert.ok(answer.success, JSON.stringify(answer));
  }
  const events = (await daemon.records()).filter(({ payload }) => payload['event'] === 'daemon_unsealed');
  assert.equal(events.length, 2);
  await daemon.kill('SIGTERM');
  const verified = runSallyport(daemon.place, ['audit', 'verify', '--json']);
  assert.equal(verified.status, 0, verified.stdout);
});

test('the terminal where the gate was started says that it sealed itself, and that it serves again', async (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  const terminal = new TerminalSession(place, ['up'], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  await terminal.waitFor('audit tail --follow');
  const obstacle = join(place.home, 'audit', 'checkpoint.new');
  mkdirSync(obstacle);
  runSallyport(place, ['tool', 'invoke', 'files.list', 'path=.']);
  await terminal.waitFor('Sealed: every call is refused, because');
  await terminal.waitFor('EISDIR');
  rmdirSync(obstacle);
  await terminal.waitFor('Serving again.');
  terminal.type('\u0003');
  await terminal.exitCode();
});
