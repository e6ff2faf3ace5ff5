import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { environmentOf, newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'packages/cli/bin/sallyport.mjs');

class Foreground {
  readonly place: Place = newPlace();
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<unknown[]>;
  output = '';

  constructor(t: TestContext) {
    this.child = spawn(process.execPath, [program, 'up'], { env: environmentOf(this.place), cwd: this.place.folder });
    this.ended = once(this.child, 'exit');
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (data: Buffer) => (this.output += data.toString()));
    }
    t.after(async () => {
      this.child.kill('SIGKILL');
      await this.ended;
      rmSync(this.place.folder, { recursive: true });
    });
  }

  async waitFor(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      const more = await Promise.race([once(this.child.stdout, 'data'), this.ended.then(() => undefined)]);
      assert.ok(more !== undefined || this.output.includes(text), this.output);
    }
  }
}

test('up says where it listens, works and logs, and the commands it suggests work as they stand', async (t) => {
  requirement('UI-1');
  const daemon = new Foreground(t);
  await daemon.waitFor('audit tail --follow');
  const { output, place } = daemon;
  assert.match(output, /^Sallyport \d+\.\d+\.\d+ is serving\. Ctrl-C ends it\.\n/);
  assert.match(output, /address +http:\/\/127\.0\.0\.1:\d+\n/);
  assert.match(output, new RegExp(`workspace +${place.workspace}\n`));
  assert.match(output, new RegExp(`log +${place.home}/sallyport\\.db\n`));
  assert.match(output, /install +(advisory|separated)\n/);
  const suggested = [...output.matchAll(/^ {2}(SALLYPORT_HOME=\S+ npx sallyport (tool|session) .*)$/gm)].map(
    ([, line]) => line,
  );
  assert.equal(suggested.length, 2, output);
  for (const line of suggested) {
    // As a person would in another terminal: nothing set, in the folder of the checkout.
    execFileSync('sh', ['-c', line ?? ''], { cwd: root, env: { PATH: process.env['PATH'], HOME: place.folder } });
  }
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends the daemon cleanly, with a short word`, async (t) => {
    const daemon = new Foreground(t);
    await daemon.waitFor('audit tail --follow');
    daemon.child.kill(signal);
    // npm hands a Ctrl-C on to a program that has had it already; that is no second one.
    daemon.child.kill(signal);
    const [code] = await daemon.ended;
    assert.equal(code, 0, daemon.output);
    assert.match(daemon.output, /\nStopped\.\n$/);
    assert.ok(!existsSync(join(daemon.place.home, 'run/daemon.lock')));
    assert.equal(runSallyport(daemon.place, ['audit', 'verify']).status, 0);
  });
}

test('a second Ctrl-C does not wait for what is still running', async (t) => {
  const daemonThatWaits = `
    import { stopOnSignals } from '${root}/packages/cli/src/commands/daemon/up.ts';
    import { openTerminal } from '${root}/packages/cli/src/terminal/terminal.ts';
    const daemon = { stop: () => new Promise(() => undefined), callsInFlight: () => 1 };
    stopOnSignals(daemon, { terminal: openTerminal(), json: false });
    setInterval(() => undefined, 1000);
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', daemonThatWaits]);
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  assert.match(String((await once(child.stderr, 'data'))[0]), /still running \(1\)\. Ctrl-C again does not wait/);
  const pressing = setInterval(() => child.kill('SIGINT'), 100);
  assert.deepEqual(await ended, [130, null]);
  clearInterval(pressing);
});

test('the daemon outlives the terminal it was started in', async (t) => {
  const daemon = new Foreground(t);
  await daemon.waitFor('audit tail --follow');
  daemon.child.stdout.destroy();
  daemon.child.stderr.destroy();
  assert.equal(runSallyport(daemon.place, ['status']).status, 0);
  daemon.child.kill('SIGHUP');
  assert.deepEqual(await daemon.ended, [0, null]);
  assert.ok(!existsSync(join(daemon.place.home, 'run/daemon.lock')));
});

test('stop ends the daemon and returns when its home is free', async () => {
  const daemon = await TestDaemon.start();
  const ended = once(daemon.process, 'exit');
  const { status, stdout } = runSallyport(daemon.place, ['stop', '--json']);
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout), { stopped: true, pid: daemon.process.pid });
  assert.ok(!existsSync(join(daemon.place.home, 'run/daemon.lock')));
  assert.deepEqual(await ended, [0, null]);
  const again = await TestDaemon.start(daemon.place);
  assert.match(runSallyport(daemon.place, ['stop']).stdout, /^Stopped\.\n$/);
  await again.remove();
});

test('a stop does not wait for somebody who follows the log', async (t) => {
  const daemon = await TestDaemon.start();
  t.after(() => daemon.remove());
  const follower = spawn(process.execPath, [program, 'audit', 'tail', '-n', '1', '--follow', '--json'], {
    env: environmentOf(daemon.place),
  });
  t.after(() => follower.kill('SIGKILL'));
  await once(follower.stdout, 'data');
  const startedMs = performance.now();
  await daemon.kill('SIGTERM');
  // Open exchanges have ten seconds to finish.
  assert.ok(performance.now() - startedMs < 9900, `${performance.now() - startedMs} ms`);
});

test('audit tail --follow prints what happens as it happens, one JSON object a line', async (t) => {
  const daemon = await TestDaemon.start();
  t.after(() => daemon.remove());
  const child = spawn(process.execPath, [program, 'audit', 'tail', '-n', '0', '--follow', '--json'], {
    env: environmentOf(daemon.place),
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  while (output.split('\n').length < 3) {
    await daemon.call('files.list', { path: '.' });
    await Promise.race([once(child.stdout, 'data'), new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => Number((JSON.parse(line) as { index: string }).index));
  assert.deepEqual(
    lines,
    lines.map((_, at) => (lines[0] ?? 0) + at),
    'each record once, in order',
  );
  const ended = once(child, 'exit');
  await daemon.kill('SIGTERM');
  assert.deepEqual((await ended)[0], 2, 'it ends with the daemon');
});

test('a user without a home folder is told what to set', { skip: process.getuid?.() !== 0 && 'needs root' }, () => {
  // A number without an entry in /etc/passwd, as containers use them.
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'up'], {
    env: { PATH: process.env['PATH'] },
    cwd: '/',
    encoding: 'utf8',
    uid: 48_123,
    gid: 48_123,
  });
  assert.equal(
    stdout + stderr,
    'Error  This user has no home folder.\n       Set HOME, or name a folder with SALLYPORT_HOME.\n',
  );
  assert.equal(status, 1);
});
