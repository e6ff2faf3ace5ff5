import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '../../packages/sandbox/src/limits/read-process.ts';
import type { Program } from '../../packages/sandbox/src/program.ts';
import { eventually, findProcesses, finish, listLeftovers, shell, uniqueSeconds } from './programs.ts';
import { withClient } from './with-client.ts';
import type { Changes } from './programs.ts';

/** Says when its process 1 was started, what it was given, and what it finds in its own folder. The mark finds it. */
const asking = (mark: string, changes: Changes = {}): Program =>
  shell(`cut -d" " -f22 /proc/1/stat; cat; ls /tmp; touch /tmp/used; : ${mark}`, changes);

/** When the waiting processes were started, in the words of the kernel. */
const startsOf = (mark: string): readonly string[] =>
  findProcesses(`: ${mark}`).flatMap((pid) => readProcess(pid)?.startTicks ?? []);

const isConfined = (pid: number): boolean => /\/program-\d+$/m.test(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));

/** Two processes of the sandbox wait: the one outside and the one that will become the first inside. */
async function becomeReady(mark: string): Promise<readonly string[]> {
  await eventually(() => startsOf(mark).length === 2 && findProcesses(`: ${mark}`).some(isConfined), 'a sandbox waits');
  // Until the client has heard.
  await sleep(100);
  return startsOf(mark);
}

const key = { preparedKey: 'key' };

test('a sandbox that was built ahead serves one run, in which nothing had run before, and is never used again', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    assert.ok(client.prepareSandbox('key', asking(mark)));
    const first = await becomeReady(mark);
    const { stdout, how } = await finish(client, asking(mark, { stdin: 'one' }), key);
    assert.deepEqual(how, { kind: 'exited', code: 0 });
    const [started = '', said] = stdout.split('\n');
    assert.ok(first.includes(started), 'its sandbox had been built before');
    assert.equal(said, 'one');
    const second = await becomeReady(mark);
    assert.ok(!second.some((ticks) => first.includes(ticks)), 'the next one is another');
    const again = await finish(client, asking(mark, { stdin: 'two' }), key);
    // Nothing of the first run is left: neither its input nor its files.
    assert.equal(again.stdout.slice(again.stdout.indexOf('\n')), '\ntwo');
    assert.ok(second.includes(again.stdout.split('\n')[0] ?? ''));
  });
});

test('its input is a file like that of any program, however large', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const counting = (stdin: string) => shell(`test -f /dev/stdin && wc -c < /dev/stdin; : ${mark}`, { stdin });
    for (const size of [0, 1, 5 * 1024 * 1024]) {
      client.prepareSandbox('key', counting(''));
      await becomeReady(mark);
      const { stdout } = await finish(client, counting('x'.repeat(size)), key);
      assert.equal(Number(stdout), size);
    }
  });
});

test('a program that differs in anything but its input gets a sandbox of its own', async () => {
  const changes: readonly Changes[] = [
    { environment: { SECRET: 'of another call' } },
    { workingDirectory: '/usr' },
    { limits: { processes: 10 } },
    { mounts: [{ source: '/usr/bin', target: '/shown', access: 'read' }] },
    { unixSockets: true },
    { isolation: 'none' },
  ];
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    for (const change of changes) {
      client.prepareSandbox('key', asking(mark));
      const waiting = await becomeReady(mark);
      const { stdout } = await finish(client, asking(mark, change), key);
      assert.ok(!waiting.includes(stdout.split('\n')[0] ?? ''), JSON.stringify(change));
      await client.dropWarm();
    }
  });
});

test('two runs at once do not share a sandbox', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    client.prepareSandbox('key', asking(mark));
    await becomeReady(mark);
    const outputs = await Promise.all(['a', 'b', 'c'].map((stdin) => finish(client, asking(mark, { stdin }), key)));
    const started = outputs.map(({ stdout }) => stdout.split('\n')[0]);
    assert.deepEqual(
      outputs.map(({ stdout }) => stdout.split('\n')[1]),
      ['a', 'b', 'c'],
    );
    assert.equal(
      startsOf(mark).some((ticks) => started.includes(ticks)),
      false,
    );
  });
});

test('a folder that was exchanged after the sandbox was built is shown as it is now', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-prepared-'));
  try {
    const source = join(folder, 'tool');
    const place = (text: string): void => {
      mkdirSync(source);
      writeFileSync(join(source, 'file'), text);
    };
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: 0o755 });
    place('accepted');
    await withClient({}, async (client) => {
      const mark = uniqueSeconds();
      const mounts = [{ source, target: '/tool', access: 'read' }] as const;
      const reading = shell(`cat /tool/file; : ${mark}`, { mounts });
      assert.ok(client.prepareSandbox('key', reading));
      await becomeReady(mark);
      renameSync(source, `${source}-before`);
      place('changed');
      assert.equal((await finish(client, reading, key)).stdout, 'changed');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('nothing waits that may change a folder, reach a host or a socket, or has something hidden from it', async () => {
  await withClient({}, async (client) => {
    const mount = { source: '/usr/share', target: '/shown', access: 'read' } as const;
    const refused: readonly Changes[] = [
      { mounts: [{ ...mount, access: 'write' }] },
      { mounts: [{ ...mount, hidden: ['/usr/share/doc'] }] },
      { mounts: [{ ...mount, frozen: ['/usr/share/doc'] }] },
      { hosts: ['example.com'] },
      { unixSockets: true },
      { isolation: 'none' },
    ];
    for (const change of refused) {
      assert.equal(client.prepareSandbox('key', shell('true', change)), false, JSON.stringify(change));
      assert.equal(client.prepare('key', shell('true', change)), false, JSON.stringify(change));
    }
  });
});

test('sandboxes that wait are dropped by their key, by age and by number', async () => {
  await withClient({ prepared: { maxIdle: 2, maxAgeMs: 1500 } }, async (client) => {
    const marks = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()] as const;
    client.prepareSandbox('old rules', asking(marks[0]));
    await becomeReady(marks[0]);
    await client.dropWarm((each) => each === 'old rules');
    assert.deepEqual(startsOf(marks[0]), []);
    for (const mark of marks) client.prepareSandbox(mark, asking(mark));
    await becomeReady(marks[2]);
    await eventually(() => startsOf(marks[0]).length === 0, 'the one that waited longest makes room');
    await eventually(() => marks.every((mark) => startsOf(mark).length === 0), 'all become too old');
  });
});

test('a run whose key was dropped while it went on leaves no sandbox behind', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const slow = shell(`sleep 0.5; : ${mark}`);
    client.prepareSandbox('key', slow);
    await becomeReady(mark);
    const running = finish(client, slow, key);
    await client.dropWarm();
    assert.deepEqual((await running).how, { kind: 'exited', code: 0 });
    // As long as building one takes at most.
    await finish(client, shell('sleep 0.3'));
    assert.deepEqual(startsOf(mark), []);
  });
});

test('a sandbox that was killed while it waited is replaced by a fresh one', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    for (const isInside of [true, false]) {
      client.prepareSandbox('key', asking(mark));
      await becomeReady(mark);
      const victim = findProcesses(`: ${mark}`).find((pid) => isConfined(pid) === isInside) as number;
      process.kill(victim, 'SIGKILL');
      // What happens to the one inside is known to nobody when the run comes at once.
      if (!isInside) await eventually(() => startsOf(mark).length === 0, 'it is gone').then(() => sleep(100));
      const { how, stdout } = await finish(client, asking(mark, { stdin: 'all the same' }), key);
      assert.deepEqual(how, { kind: 'exited', code: 0 });
      assert.equal(stdout.split('\n')[1], 'all the same');
      await client.dropWarm();
    }
  });
});

test('an abort ends the program that a waiting sandbox was to run', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const slow = shell(`sleep 1000; : ${mark}`);
    for (const delayMs of [0, 100]) {
      client.prepareSandbox('key', slow);
      await becomeReady(mark);
      const { how } = await finish(client, slow, { ...key, signal: AbortSignal.timeout(delayMs) });
      assert.deepEqual(how, { kind: 'aborted' });
      await client.dropWarm();
      assert.deepEqual(startsOf(mark), []);
    }
  });
});

test('limits hold in a sandbox that was built ahead, and its usage is that of the program', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const greedy = shell(`perl -e 'my $x = "x" x (400 << 20)'; : ${mark}`, { limits: { memoryBytes: 64 << 20 } });
    client.prepareSandbox('key', greedy);
    await becomeReady(mark);
    const { how, usage } = await finish(client, greedy, key);
    assert.deepEqual(how, { kind: 'limit', limit: 'memoryBytes' });
    assert.equal(usage.measuredBy, 'cgroup');
  });
});

for (const victim of ['spawner', 'daemon'] as const) {
  test(`a sandbox that waits is gone when the ${victim} is killed`, async () => {
    const mark = uniqueSeconds();
    const script = `
      import { SpawnerClient } from '${join(import.meta.dirname, '../../packages/sandbox/src/spawner/spawner-client.ts')}';
      import { shell } from '${join(import.meta.dirname, 'programs.ts')}';
      const client = new SpawnerClient();
      await client.abilities;
      client.prepareSandbox('key', shell('echo never; : ' + process.argv[1]));
      console.log(client.spawnerPid);`;
    const daemon = spawn(process.execPath, ['--input-type=module', '--eval', script, mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(daemon, 'exit');
    const [said] = (await once(daemon.stdout, 'data')) as [Buffer];
    const spawnerPid = Number(said.toString());
    // The mark is also in the command line of the process that stands for the daemon.
    await eventually(() => findProcesses(`: ${mark}`).length === 2, 'a sandbox waits');
    process.kill(victim === 'spawner' ? spawnerPid : (daemon.pid as number), 'SIGKILL');
    await eventually(() => findProcesses(`: ${mark}`).length === 0, 'the sandbox is gone');
    daemon.kill('SIGKILL');
    await ended;
    await eventually(() => listLeftovers([spawnerPid]).length === 0, 'all control groups and folders are gone');
  });
}
