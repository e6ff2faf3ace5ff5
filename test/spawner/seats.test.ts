import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ProgramLost, ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import { readProcess } from '../../packages/sandbox/src/limits/read-process.ts';
import type { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, findProcesses, finish, perl, shell, uniqueSeconds } from './programs.ts';
import { withClient } from './with-client.ts';

const withoutHelper = { perl: '/nonexistent/perl' };
const isConfined = (pid: number): boolean => /\/program-\d+$/m.test(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
const groupOf = (pid: number): string => readFileSync(`/proc/${pid}/cgroup`, 'utf8');
const isAlive = (pid: number): boolean => readProcess(pid)?.isZombie === false;

const findHelper = (client: SpawnerClient): number =>
  findProcesses('PR_SET_PDEATHSIG').find((pid) => readProcess(pid)?.parentPid === client.spawnerPid) as number;

/** Processes that were forked ahead and are nothing yet. */
const findSeats = (client: SpawnerClient): number[] =>
  findProcesses('PR_SET_PDEATHSIG').filter((pid) => readProcess(pid)?.parentPid === findHelper(client));

/** Also when one has just been used. */
async function awaitSeats(client: SpawnerClient): Promise<number[]> {
  await eventually(
    () => findSeats(client).filter(isConfined).length === 2,
    'two processes wait in groups of their own',
  );
  return findSeats(client);
}

test('a process that was forked ahead waits in a group of its own, becomes one program, and is never used again', async () => {
  await withClient({}, async (client) => {
    const used = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      const seats = await awaitSeats(client);
      assert.equal(new Set(seats.map(groupOf)).size, 2, 'no two share a group');
      assert.ok(seats.every((pid) => !used.has(pid)));
      const seconds = uniqueSeconds();
      const stopping = new AbortController();
      const running = finish(client, shell(`sleep ${seconds}; true`), { signal: stopping.signal });
      await eventually(() => findProcesses(`sleep\0${seconds}`).length === 1, 'the program runs');
      const processes = findProcesses(seconds);
      const [seat] = seats.filter((pid) => processes.includes(pid));
      assert.ok(seat !== undefined, 'one of them has become the sandbox');
      // The process outside as well: nothing of a program is ever anywhere else.
      assert.deepEqual([...new Set(processes.map(groupOf))], [groupOf(seat)]);
      used.add(seat);
      stopping.abort();
      await running;
      assert.deepEqual(processes.filter(isAlive), []);
    }
  });
});

test('a program may have as many processes as without, and those before it do not change that', async () => {
  const count = perl('$n = 1; while (defined($p = fork)) { if (!$p) { sleep 60; exit } $n++ } print $n', {
    limits: { processes: 7 },
  });
  const few = { limits: { processes: 3, memoryBytes: 64 * 1024 * 1024 } };
  for (const options of [{}, withoutHelper]) {
    await withClient(options, async (client) => {
      if (options !== withoutHelper) await awaitSeats(client);
      await finish(client, shell('true', few));
      if (options !== withoutHelper) await awaitSeats(client);
      for (const isolation of ['sandbox', 'none'] as const) {
        const { stdout } = await finish(client, { ...count, isolation });
        assert.equal(stdout, '7', isolation);
      }
    });
  }
});

test('a process that ends while it waits becomes no program, whenever that is noticed', async () => {
  await withClient({}, async (client) => {
    for (const isolation of ['sandbox', 'none'] as const) {
      for (const pid of await awaitSeats(client)) process.kill(pid, 'SIGKILL');
      // Two may have been promised one each by then. They are told that nothing ran.
      const ends = await Promise.allSettled([1, 2, 3].map(() => finish(client, shell('echo works', { isolation }))));
      for (const end of ends) {
        if (end.status === 'fulfilled') assert.equal(end.value.stdout, 'works\n');
        else assert.ok(end.reason instanceof ProgramNotStarted && end.reason.isTransient);
      }
      assert.equal(ends.at(-1)?.status, 'fulfilled');
      assert.equal((await finish(client, shell('echo works', { isolation }))).stdout, 'works\n');
    }
  });
});

test('what waits is gone with the helper and with the spawner, even if it was stopped', async () => {
  for (const whom of ['helper', 'spawner'] as const) {
    await withClient({}, async (client) => {
      const seats = await awaitSeats(client);
      for (const pid of seats) process.kill(pid, 'SIGSTOP');
      const seconds = uniqueSeconds();
      const lost = finish(client, shell(`sleep ${seconds}`));
      process.kill(whom === 'helper' ? findHelper(client) : (client.spawnerPid as number), 'SIGKILL');
      await assert.rejects(lost, ProgramLost);
      assert.deepEqual(seats.filter(isAlive), []);
      assert.deepEqual(findProcesses(seconds), []);
    });
  }
});

test('a program sees nothing of the process that it was', async () => {
  await withClient({}, async (client) => {
    await awaitSeats(client);
    const script =
      'cat /proc/1/environ /proc/1/cmdline /proc/self/environ; cat /proc/self/cgroup; ls /proc/1/fd | wc -l';
    const { stdout } = await finish(client, shell(script));
    assert.doesNotMatch(stdout, /perl|PDEATHSIG|sallyport-\d/);
    assert.match(stdout, /^0::\/$/m);
  });
});
