import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, findProcesses, finish, perl, program, shell, uniqueSeconds } from './programs.ts';

const client = new SpawnerClient();
after(() => client.close());

for (const isolation of ['sandbox', 'none'] as const) {
  test(`${isolation}: a program gets its arguments, input and environment, and nothing else`, async () => {
    const given = { isolation, environment: { GREETING: 'good day' }, stdin: 'from the caller' };
    const { stdout, how } = await finish(client, program(['/usr/bin/env'], given));
    const names = stdout.split('\n').flatMap((line) => line.split('=')[0] || []);
    assert.deepEqual(how, { kind: 'exited', code: 0 });
    assert.ok(stdout.includes('GREETING=good day'), stdout);
    assert.deepEqual(
      names.filter((name) => !['GREETING', 'PATH', 'HOME', 'LANG', 'PWD'].includes(name)),
      [],
    );
    const echoed = await finish(client, program(['/bin/cat'], given));
    assert.equal(echoed.stdout, 'from the caller');
  });

  test(`${isolation}: stdin, stdout and stderr can be opened by name`, async () => {
    const { stdout, stderr } = await finish(
      client,
      shell('cat /dev/stdin > /dev/stdout; echo trouble > /dev/stderr', { isolation, stdin: 'through' }),
    );
    assert.deepEqual([stdout, stderr], ['through', 'trouble\n']);
  });

  test(`${isolation}: an exit code other than zero is an ending`, async () => {
    assert.deepEqual((await finish(client, shell('exit 3', { isolation }))).how, { kind: 'exited', code: 3 });
  });

  test(`${isolation}: a missing program did not start`, async () => {
    await assert.rejects(
      finish(client, program(['/bin/no-such-program'], { isolation })),
      (error) => error instanceof ProgramNotStarted && error.code === 'TOOL_MISSING' && !error.isTransient,
    );
  });

  test(`${isolation}: megabytes of input and output pass whole`, async () => {
    const stdin = 'x'.repeat(3_000_000);
    const { stdout } = await finish(client, program(['/bin/cat'], { isolation, stdin }));
    assert.equal(stdout.length, stdin.length);
  });

  test(`${isolation}: input that nobody reads harms nothing`, async () => {
    const { how } = await finish(client, program(['/bin/true'], { isolation, stdin: 'x'.repeat(3_000_000) }));
    assert.deepEqual(how, { kind: 'exited', code: 0 });
  });

  test(`${isolation}: processes that fork twice, leave the session and ignore signals end with the program`, async () => {
    const seconds = uniqueSeconds();
    const script = `trap '' TERM HUP INT; sleep ${seconds} & (setsid sleep ${seconds} &); setsid sh -c 'sleep ${seconds} & sleep ${seconds}' & exit 4`;
    const { how } = await finish(client, shell(script, { isolation }));
    assert.deepEqual(how, { kind: 'exited', code: 4 });
    assert.deepEqual(findProcesses(seconds), []);
  });

  test(`${isolation}: an abort kills every process before it is answered`, async () => {
    const seconds = uniqueSeconds();
    const abort = new AbortController();
    const script = `trap '' TERM HUP INT; (setsid sleep ${seconds} &); setsid sleep ${seconds} & sleep ${seconds}`;
    const running = finish(client, shell(script, { isolation }), { signal: abort.signal });
    await eventually(() => findProcesses(`sleep\0${seconds}`).length === 3, 'three processes sleep');
    abort.abort();
    assert.deepEqual((await running).how, { kind: 'aborted' });
    assert.deepEqual(findProcesses(seconds), []);
  });

  test(`${isolation}: an output held open after the exit does not hold up the ending`, async () => {
    const seconds = uniqueSeconds();
    const { stdout, how } = await finish(client, shell(`echo done; sleep ${seconds} & exit 0`, { isolation }));
    assert.deepEqual(how, { kind: 'exited', code: 0 });
    assert.equal(stdout, 'done\n');
  });

  test(`${isolation}: children that are not waited for do not hide the exit`, async () => {
    const script = '$SIG{CHLD} = "IGNORE"; for (1..5) { fork or exit 9 } exit 7';
    assert.deepEqual((await finish(client, perl(script, { isolation }))).how, { kind: 'exited', code: 7 });
  });
}

test('a program without isolation runs in its folder, and not in one that is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-folder-'));
  try {
    mkdirSync(join(folder, 'work'));
    const here = { isolation: 'none', workingDirectory: join(folder, 'work') } as const;
    assert.equal((await finish(client, program(['/bin/pwd'], here))).stdout, `${here.workingDirectory}\n`);
    rmSync(join(folder, 'work'), { recursive: true });
    await assert.rejects(finish(client, program(['/bin/pwd'], here)), { code: 'EXECUTION_ERROR' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a program without isolation that kills itself ends by that signal', async () => {
  const { how } = await finish(client, shell('kill -9 $$', { isolation: 'none' }));
  assert.deepEqual(how, { kind: 'killed', signal: 'SIGKILL' });
});

test('a slow consumer stops the program, and nothing piles up', async () => {
  const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
  let takenBytes = 0;
  const total = 20_000_000;
  const running = finish(client, shell(`head -c ${total} /dev/zero`), {
    onStdout: (bytes) => {
      takenBytes += bytes.length;
      return blocked;
    },
  });
  const find = (): number | undefined => findProcesses(`head\0-c\0${total}`)[0];
  await eventually(() => find() !== undefined && takenBytes > 0, 'the program writes');
  let writtenBytes = -1;
  await eventually(() => writtenBytes === (writtenBytes = readWrittenBytes(find())), 'the program waits for its pipe');
  assert.ok(writtenBytes < 1_000_000, `${writtenBytes} bytes were taken from the program`);
  assert.ok(takenBytes <= 64 * 1024, 'one chunk is open, and no further one is handed out');
  unblock();
  await running;
  assert.equal(takenBytes, total);
});

function readWrittenBytes(pid: number | undefined): number {
  return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

test('a consumer that never answers does not hold up an abort', async () => {
  const abort = new AbortController();
  const { promise: taken, resolve: onTaken } = Promise.withResolvers<void>();
  const running = finish(client, shell('echo one; sleep 1000'), {
    signal: abort.signal,
    onStdout: () => {
      onTaken();
      return new Promise(() => undefined);
    },
  });
  await taken;
  abort.abort();
  assert.deepEqual((await running).how, { kind: 'aborted' });
});

test('a consumer that fails ends the program and is told of its own failure', async () => {
  const seconds = uniqueSeconds();
  const running = finish(client, shell(`echo one; sleep ${seconds}`), {
    onStdout: () => Promise.reject(new Error('no room')),
  });
  await assert.rejects(running, /no room/);
  assert.deepEqual(findProcesses(seconds), []);
});

test('a run that is aborted before it starts never starts', async () => {
  const one = new SpawnerClient({ maxRunning: 1 });
  try {
    const abort = new AbortController();
    const seconds = uniqueSeconds();
    const first = finish(one, shell('sleep 0.3'));
    const waiting = finish(one, shell(`sleep ${seconds}`), { signal: abort.signal });
    abort.abort();
    assert.deepEqual((await waiting).how, { kind: 'aborted' });
    assert.deepEqual((await finish(one, shell('true'), { signal: AbortSignal.abort() })).how, { kind: 'aborted' });
    assert.deepEqual((await first).how, { kind: 'exited', code: 0 });
    assert.deepEqual(findProcesses(seconds), []);
  } finally {
    await one.close();
  }
});

test('without a usable sandbox, programs that need one are refused with what to do', async () => {
  const without = new SpawnerClient({ sandbox: { usable: false, reason: 'none is here.', remedy: 'Get one.' } });
  try {
    await assert.rejects(
      finish(without, shell('true')),
      (error) =>
        error instanceof ProgramNotStarted &&
        error.code === 'SANDBOX_UNAVAILABLE' &&
        /Get one/.test(error.remedy ?? ''),
    );
    assert.deepEqual((await finish(without, shell('true', { isolation: 'none' }))).how, { kind: 'exited', code: 0 });
  } finally {
    await without.close();
  }
});

test('unix sockets exist where they are granted, and nowhere else', async () => {
  const script = `use Socket;
    print socket(my $s, PF_UNIX, SOCK_STREAM, 0) ? "socket " : "none ";
    print socketpair(my $a, my $b, PF_UNIX, SOCK_SEQPACKET, 0) ? "pair " : "none ";
    print defined $s && bind($s, pack_sockaddr_un("/tmp/own")) && listen($s, 1) ? "bound" : "none";`;
  assert.equal((await finish(client, perl(script))).stdout, 'none none none');
  assert.equal((await finish(client, perl(script, { unixSockets: true }))).stdout, 'socket pair bound');
});
