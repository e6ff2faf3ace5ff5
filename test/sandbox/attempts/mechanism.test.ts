import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { probeSandbox } from '../../../packages/sandbox/src/launch/probe-sandbox.ts';
import type { SandboxProbe } from '../../../packages/sandbox/src/launch/probe-sandbox.ts';
import { SpawnerClient } from '../../../packages/sandbox/src/spawner/spawner-client.ts';
import { defaultProgramLimits } from '../../../packages/sandbox/src/program.ts';

function makeFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bwrap-'));
  chmodSync(folder, 0o755);
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function putScript(path: string, script: string): string {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

function assertUnusable(probe: SandboxProbe, reason: RegExp, remedy: RegExp): void {
  assert.ok(!probe.usable);
  assert.match(probe.reason, reason);
  assert.match(probe.remedy, remedy);
}

/** Only root can make a file that is root's; for others every file of their own is rejected for that. */
const isRoot = process.getuid?.() === 0;
const install = /(?:install|add|-S) bubblewrap|Install bubblewrap/;
const upgrade = /bubblewrap/;

test('38: this machine has a sandbox that passes its test', async () => {
  const probe = await probeSandbox();
  assert.ok(probe.usable, JSON.stringify(probe));
  assert.equal(probe.machine.mechanism, 'bubblewrap');
});

test('38: where bubblewrap is missing, the command that installs it is named', async (context) => {
  assertUnusable(await probeSandbox({ places: [join(makeFolder(context), 'bwrap')] }), /not installed/, install);
});

test('38: a bubblewrap that others could exchange is not used', async (context) => {
  const bwrap = putScript(join(makeFolder(context), 'bwrap'), 'echo bubblewrap 0.11.0');
  chmodSync(bwrap, 0o777);
  assertUnusable(await probeSandbox({ places: [bwrap] }), /not root's alone/, install);
  chmodSync(bwrap, 0o755);
  if (isRoot) chownSync(bwrap, 54_321, 54_321);
  assertUnusable(await probeSandbox({ places: [bwrap] }), /not root's alone/, install);
});

test('38: an old bubblewrap, and one that does not say its version, are not used', async (context) => {
  const folder = makeFolder(context);
  for (const [name, says] of Object.entries({
    old: 'bubblewrap 0.4.1',
    odd: 'something',
    almost: 'bubblewrap 0.7.9',
  })) {
    const bwrap = putScript(join(folder, name), `echo ${says}`);
    assertUnusable(await probeSandbox({ places: [bwrap] }), isRoot ? /is version/ : /not root's alone/, upgrade);
  }
});

test('38: a bubblewrap that confines nothing is found out', async (context) => {
  const folder = makeFolder(context);
  const pretender = putScript(
    join(folder, 'bwrap'),
    '[ "$1" = --version ] && { echo bubblewrap 0.11.0; exit; }; while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  );
  const reason = isRoot ? /inside the sandbox system calls are not filtered/ : /not root's alone/;
  assertUnusable(await probeSandbox({ places: [pretender] }), reason, upgrade);
});

test('38: another bubblewrap that comes first on the PATH is never run', async (context) => {
  const folder = makeFolder(context);
  putScript(join(folder, 'bwrap'), `touch ${folder}/was-run; exec /usr/bin/bwrap "$@"`);
  symlinkSync('/usr/bin/bwrap', join(folder, 'link'));
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder}:${before}`;
  try {
    const probe = await probeSandbox();
    assert.ok(probe.usable && probe.machine.mechanism === 'bubblewrap');
    assert.equal(probe.machine.bwrap, '/usr/bin/bwrap');
    const throughLink = await probeSandbox({ places: [join(folder, 'link')] });
    assert.ok(throughLink.usable && throughLink.machine.mechanism === 'bubblewrap');
    assert.equal(throughLink.machine.bwrap, '/usr/bin/bwrap', 'a link is followed once, not at every start');
  } finally {
    process.env['PATH'] = before;
  }
  assert.ok(!existsSync(join(folder, 'was-run')));
});

test('without a usable sandbox no confined program starts, and the answer says what to do', async (context) => {
  const probe = await probeSandbox({ places: [join(makeFolder(context), 'bwrap')] });
  const client = new SpawnerClient({ sandbox: probe, enforcement: 'sampled' });
  context.after(() => client.close());
  const program = {
    argv: ['/bin/echo', 'ran'] as const,
    environment: {},
    workingDirectory: '/',
    stdin: new Uint8Array(),
    mounts: [],
    hosts: [],
    limits: defaultProgramLimits,
  };
  let printed = '';
  const options = {
    signal: AbortSignal.timeout(10_000),
    onStdout: (chunk: Uint8Array) => void (printed += Buffer.from(chunk).toString()),
    onStderr: () => undefined,
  };
  await assert.rejects(client.run({ ...program, isolation: 'sandbox' }, options), {
    code: 'SANDBOX_UNAVAILABLE',
    remedy: install,
  });
  assert.equal(printed, '');
  const { how } = await client.run({ ...program, isolation: 'none' }, options);
  assert.deepEqual(how, { kind: 'exited', code: 0 });
  assert.equal(printed, 'ran\n');
});
