import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import type { SpawnerOptions } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, findProcesses, finish, listLeftovers, shell, uniqueSeconds } from './programs.ts';
import type { Changes } from './programs.ts';

async function withClient(options: SpawnerOptions, use: (client: SpawnerClient) => Promise<void>): Promise<void> {
  const client = new SpawnerClient(options);
  const pid = client.spawnerPid;
  try {
    await client.abilities;
    await use(client);
  } finally {
    await client.close();
  }
  assert.deepEqual(listLeftovers([pid]), []);
}

/** Says when it was started, then answers its input. The mark finds its process. */
const answering = (mark: string, changes: Changes = {}) =>
  shell(`started=$(date +%s%N); read -r line; echo "$line $started $$"; : ${mark}`, changes);

/** The number of `read` among the system calls. */
const readCall = process.arch === 'arm64' ? 63 : 0;

const isWaiting = (mark: string): boolean => findProcesses(`: ${mark}`).length > 0;

/** Until the shell inside reads its input, and not only the sandbox stands. */
async function becomeWarm(mark: string): Promise<void> {
  await eventually(() => findProcesses(`: ${mark}`).some(readsInput), 'a program waits for its input');
}

/** In the kernel, in the call `read` of descriptor 0. */
function readsInput(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/syscall`, 'utf8').startsWith(`${readCall} 0x0 `);
  } catch {
    return false;
  }
}

test('a prepared program waits, serves one run, and is never used again', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    assert.ok(client.prepare('key', answering(mark)));
    /** That it waits is known here a moment later than it does; a run in between gets a program of its own. */
    const runWarm = async (word: string): Promise<string> => {
      for (let left = 50; ; left--) {
        assert.ok(left > 0, 'no run was served by a program that had been started before');
        await becomeWarm(mark);
        const nowNs = BigInt(Date.now()) * 1_000_000n;
        const { stdout } = await finish(client, answering(mark, { stdin: `${word}\n` }), { warmKey: 'key' });
        const [line, startedNs = ''] = stdout.split(' ');
        assert.equal(line, word);
        if (BigInt(startedNs) < nowNs) return startedNs;
      }
    };
    const startedNs = await runWarm('one');
    assert.notEqual(await runWarm('two'), startedNs, 'the second run has a program of its own');
  });
});

test('a program that differs in anything but its input is started afresh', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    client.prepare('key', answering(mark));
    await becomeWarm(mark);
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const changed = answering(mark, { stdin: 'x\n', environment: { SECRET: 'of another call' } });
    const { stdout } = await finish(client, changed, { warmKey: 'key' });
    assert.ok(BigInt(stdout.split(' ')[1] ?? 0) >= nowNs, 'it was started for this run');
  });
});

test('programs with a writable folder, hosts or no isolation are not kept waiting', async () => {
  await withClient({}, async (client) => {
    const mount = { source: '/tmp', target: '/workspace', access: 'write' } as const;
    assert.equal(client.prepare('a', shell('cat', { mounts: [mount] })), false);
    assert.equal(client.prepare('b', shell('cat', { hosts: ['example.com'] })), false);
    assert.equal(client.prepare('c', shell('cat', { isolation: 'none' })), false);
  });
});

test('dropped programs are gone, those of other keys stay', async () => {
  await withClient({}, async (client) => {
    const [dropped, kept] = [uniqueSeconds(), uniqueSeconds()];
    client.prepare('old policy', answering(dropped));
    client.prepare('new policy', answering(kept));
    await becomeWarm(dropped);
    await becomeWarm(kept);
    await client.dropWarm((key) => key === 'old policy');
    assert.equal(isWaiting(dropped), false);
    assert.equal(isWaiting(kept), true);
    await client.dropWarm();
    assert.equal(isWaiting(kept), false);
  });
});

test('there are never more than the limit', async () => {
  await withClient({ warm: { maxIdle: 2, maxAgeMs: 600_000 } }, async (client) => {
    const [oldest, ...others] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()] as const;
    for (const mark of [oldest, ...others]) client.prepare(mark, answering(mark));
    for (const mark of others) await becomeWarm(mark);
    await eventually(() => !isWaiting(oldest), 'the oldest made room');
    assert.ok(others.every(isWaiting));
  });
});

test('none becomes old', async () => {
  let wasSeen = false;
  // On a busy machine, one that may not become old may be gone before anybody sees it.
  for (let maxAgeMs = 1000; !wasSeen; maxAgeMs *= 2) {
    await withClient({ warm: { maxIdle: 2, maxAgeMs } }, async (client) => {
      const mark = uniqueSeconds();
      const endsAt = Date.now() + maxAgeMs;
      client.prepare('key', answering(mark));
      await eventually(() => isWaiting(mark) || Date.now() > endsAt, 'it is started');
      wasSeen = isWaiting(mark);
      await eventually(() => !isWaiting(mark), 'it became too old');
    });
  }
});

test('a program that speaks before it is asked is not used', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const talker = (stdin: string) => shell(`sleep 0.5; echo early; read -r line; echo "$line"; : ${mark}`, { stdin });
    client.prepare('key', talker(''));
    await eventually(() => isWaiting(mark), 'it starts');
    await eventually(() => !isWaiting(mark), 'it is ended for speaking');
    assert.equal((await finish(client, talker('late\n'), { warmKey: 'key' })).stdout, 'early\nlate\n');
  });
});

test('an abort of a run with a waiting program kills it', async () => {
  await withClient({}, async (client) => {
    const mark = uniqueSeconds();
    const slow = shell(`read -r line; sleep 1000; : ${mark}`, { stdin: 'go\n' });
    client.prepare('key', slow);
    await becomeWarm(mark);
    const abort = new AbortController();
    const running = finish(client, slow, { warmKey: 'key', signal: abort.signal });
    abort.abort();
    assert.deepEqual((await running).how, { kind: 'aborted' });
  });
});

test('an input larger than every buffer arrives whole, and one that is not read does not keep the program', async () => {
  await withClient({}, async (client) => {
    const [counting, deaf] = [uniqueSeconds(), uniqueSeconds()];
    const count = shell(`read -r line; echo "$line"; wc -c; : ${counting}`);
    const ignore = shell(`read -r line; echo "$line"; : ${deaf}`);
    const stdin = Buffer.from(`first\n${'x'.repeat(3_000_000)}`);
    client.prepare('count', count);
    client.prepare('deaf', ignore);
    await Promise.all([becomeWarm(counting), becomeWarm(deaf)]);
    // That it waits is known here a moment later.
    await sleep(200);
    const { stdout } = await finish(client, { ...count, stdin }, { warmKey: 'count' });
    assert.match(stdout, /^first\n\s*3000000\n$/);
    const deafs = findProcesses(`: ${deaf}`);
    const { how, stdout: said } = await finish(client, { ...ignore, stdin }, { warmKey: 'deaf' });
    assert.deepEqual([how, said], [{ kind: 'exited', code: 0 }, 'first\n']);
    assert.ok(deafs.every((pid) => !findProcesses(`: ${deaf}`).includes(pid)));
  });
});

test('output that waits behind a pipe on its way to the daemon stays what it is', async () => {
  await withClient({}, async (client) => {
    client.prepare('key', answering(uniqueSeconds()));
    const said = finish(client, shell('sleep 1; echo first; sleep 0.3; echo second'));
    // Nobody takes the pipes of the one that is prepared, so that everything after them waits in the spawner.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    assert.equal((await said).stdout, 'first\nsecond\n');
  });
});
