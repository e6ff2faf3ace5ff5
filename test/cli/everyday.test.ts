import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentOf, newPlace, TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { runSallyport, runSallyportBeside } from '../harness/run-sallyport.ts';
import type { Place } from '../harness/daemon.ts';

function succeed(place: Place, ...args: string[]): string {
  const { status, stdout, stderr } = runSallyport(place, args);
  assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

test('a gate is backed up while it works, and goes on from the backup with its log whole and no session alive', async (t) => {
  requirement('PKG-5');
  const daemon = await TestDaemon.start();
  t.after(() => daemon.remove());
  const token = await daemon.newAgent('coder');
  succeed(daemon.place, 'policy', 'init');
  writeFileSync(join(daemon.place.home, 'governance/tools.yaml'), '# mine\n', { flag: 'a' });
  succeed(daemon.place, 'policy', 'apply', '--yes');
  await daemon.call('secrets.set', { name: 'key', value: 'hunter2-hunter2' });
  const file = join(daemon.place.folder, 'gate.backup');
  let isDone = false;
  const working = (async () => {
    for (let at = 0; !isDone; at++) {
      await daemon.call('files.write', { path: `f${at % 5}.txt`, content: String(at) }, { token });
    }
  })();
  const made = await runSallyportBeside(daemon.place, ['backup', file, '--json']);
  isDone = true;
  await working;
  const { records } = JSON.parse(made.stdout) as { records: number };
  assert.ok(records > 3);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(runSallyport(daemon.place, ['backup', file]).status, 1, 'a backup is not overwritten');

  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  const told = succeed(place, 'restore', file);
  assert.match(told.replaceAll(/\s+/g, ' '), /Never run the gate it was copied from again/);
  assert.equal(runSallyport(place, ['restore', file]).status, 1, 'a home is not overwritten');
  const restored = await TestDaemon.start({ ...place, workspace: daemon.place.workspace });
  try {
    assert.match(succeed(place, 'audit', 'verify'), /intact/i);
    const events = await restored.records(records);
    assert.ok(events.some(({ payload }) => payload['event'] === 'gate_restored'));
    const refused = await restored
      .call('files.list', { path: '.' }, { token })
      .catch((error: unknown) => String(error));
    assert.match(JSON.stringify(refused), /The session was ended/);
    assert.match(succeed(place, 'secret', 'list'), /key/);
    assert.match(succeed(place, 'policy', 'status'), /as they are in force/);
  } finally {
    await restored.kill('SIGTERM');
  }
  const again = await TestDaemon.start({ ...place, workspace: daemon.place.workspace });
  const restores = (await again.records()).filter(({ payload }) => payload['event'] === 'gate_restored');
  await again.kill('SIGTERM');
  assert.equal(restores.length, 1, 'it is restored once');
});

test('what is no backup makes no home', (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  writeFileSync(join(place.folder, 'junk'), 'junk');
  for (const file of ['junk', 'absent']) {
    const { status, stderr } = runSallyport(place, ['restore', join(place.folder, file)]);
    assert.deepEqual([status, /at file:|node:internal/.test(stderr)], [1, false]);
  }
  assert.ok(!existsSync(place.home));
});

test('restart runs the program on disk in the same workspace, and logs show what the daemon wrote', async (t) => {
  const place = newPlace();
  mkdirSync(join(place.folder, 'elsewhere'));
  const daemon = await TestDaemon.start(place);
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  const before = await daemon.status();
  const environment = { SALLYPORT_WORKSPACE: join(place.folder, 'elsewhere') };
  const { status, stdout, stderr } = runSallyport(place, ['restart', '--json'], environment);
  assert.equal(status, 0, `${stdout}${stderr}`);
  const { pid } = JSON.parse(stdout) as { pid: number };
  try {
    assert.notEqual(pid, before['pid']);
    assert.match(succeed(place, 'status'), new RegExp(`workspace +${place.workspace}`));
    const lines = succeed(place, 'logs', '-n', '3').trimEnd().split('\n');
    assert.equal(lines.length, 3);
    assert.match(lines.join('\n'), /info {3}started/);
  } finally {
    succeed(place, 'stop');
  }
  // Also when the daemon is down.
  assert.match(succeed(place, 'logs'), /started/);
});

test('status says that the files on disk are of another program than the one that runs', async (t) => {
  // A build of its own: nobody else runs from it.
  const root = join(import.meta.dirname, '../..');
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  const program = join(place.folder, 'program');
  const record = JSON.parse(readFileSync(join(root, 'packages/cli/dist/current.json'), 'utf8')) as { folder: string };
  for (const name of ['bin', 'templates', 'package.json']) {
    cpSync(join(root, 'packages/cli', name), join(program, name), { recursive: true });
  }
  cpSync(join(root, 'packages/cli/dist', record.folder), join(program, 'dist', record.folder), { recursive: true });
  cpSync(join(root, 'config'), join(program, 'config'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(program, 'node_modules'));
  const current = join(program, 'dist/current.json');
  writeFileSync(current, JSON.stringify({ folder: record.folder }));
  const child = spawn(process.execPath, [join(program, 'bin/sallyport.mjs'), 'up', '--json'], {
    env: environmentOf(place),
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout, 'data');
    assert.doesNotMatch(succeed(place, 'status'), /was updated/);
    writeFileSync(current, JSON.stringify({ folder: '0123456789abcdef' }));
    assert.match(
      succeed(place, 'status').replaceAll(/\s+/g, ' '),
      /The program on disk was updated .* `sallyport restart`/,
    );
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
});
