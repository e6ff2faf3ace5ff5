import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { environmentOf, TestDaemon } from '../harness/daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

test('a second daemon of a home does not start, also where process ids are counted anew, as in a container', async () => {
  const daemon = await TestDaemon.start();
  after(() => daemon.remove());
  const start = (...before: string[]) => {
    const [command, ...args] = [...before, process.execPath, program, 'up', '--json'];
    const env = environmentOf(daemon.place);
    return spawnSync(command, args, { env, encoding: 'utf8', timeout: 120_000, killSignal: 'SIGKILL' });
  };
  for (const before of [[], ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']]) {
    const { status, signal, stdout, stderr } = start(...before);
    const said = stdout + stderr;
    assert.equal(signal, null, `it ran: ${said}`);
    assert.notEqual(status, null);
    assert.match(said, new RegExp(`already|"pid": ?${daemon.process.pid}`), said);
  }
  assert.equal((await daemon.status())['health'], 'serving');
  await daemon.kill('SIGKILL');
  const next = await TestDaemon.start(daemon.place);
  assert.equal((await next.status())['health'], 'serving', 'a kill frees the home');
  await next.kill('SIGTERM');
});
