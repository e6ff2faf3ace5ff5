import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import { eventually, finish, listLeftovers, shell } from './programs.ts';

const never = new AbortController().signal;

test('a program that goes on is written to, answers, and is gone when it is killed', async () => {
  const client = new SpawnerClient({ maxRunning: 1 });
  await client.abilities;
  const pid = client.spawnerPid;
  let said = '';
  const open = client.open(shell('while read line; do echo "got $line"; done'), {
    signal: never,
    onStdout: (bytes) => void (said += Buffer.from(bytes).toString()),
    onStderr: () => undefined,
  });
  await open.started;
  open.write(Buffer.from('one\n'));
  await eventually(() => said === 'got one\n', 'the first answer');
  // It takes no place among the runs.
  assert.equal((await finish(client, shell('echo beside'))).stdout, 'beside\n');
  open.write(Buffer.from('two\nthree\n'));
  await eventually(() => said === 'got one\ngot two\ngot three\n', 'the other answers');
  open.kill();
  assert.equal((await open.ended).how.kind, 'aborted');
  await client.close();
  assert.deepEqual(listLeftovers([pid]), []);
});

test('a program that reads nothing of what it is sent is ended', async () => {
  const client = new SpawnerClient();
  await client.abilities;
  const quiet = { signal: never, onStdout: () => undefined, onStderr: () => undefined };
  const open = client.open(shell('sleep 1000'), quiet);
  await open.started;
  for (let sent = 0; sent < 20; sent++) open.write(Buffer.alloc(1024 * 1024));
  assert.equal((await open.ended).how.kind, 'aborted');
  await client.close();
  await assert.rejects(client.open(shell('true'), quiet).ended, ProgramNotStarted);
});

test('a program that closes its output and goes on can still be ended', async () => {
  const client = new SpawnerClient();
  await client.abilities;
  let said = '';
  const open = client.open(shell('echo last; exec >&-; sleep 1000'), {
    signal: never,
    onStdout: (bytes) => void (said += Buffer.from(bytes).toString()),
    onStderr: () => undefined,
  });
  await eventually(() => said === 'last\n', 'what it said before');
  open.kill();
  assert.equal((await open.ended).how.kind, 'aborted');
  await client.close();
});

test('a program that floods waits for its reader, and everything it said arrives before its end', async () => {
  const client = new SpawnerClient();
  await client.abilities;
  const flood = 'head -c 20000000 /dev/zero; echo end; exit 7';
  let [taken, mostAtOnce] = [0, 0];
  let isTaking = false;
  const open = client.open(shell(flood), {
    signal: never,
    onStdout: async (bytes) => {
      assert.equal(isTaking, false, 'one after the other');
      isTaking = true;
      taken += bytes.length;
      mostAtOnce = Math.max(mostAtOnce, bytes.length);
      await nextTurn();
      isTaking = false;
    },
    onStderr: () => undefined,
  });
  const { how } = await open.ended;
  assert.deepEqual(how, { kind: 'exited', code: 7 });
  assert.equal(taken, 20_000_004);
  assert.ok(mostAtOnce <= 256 * 1024, `${mostAtOnce} bytes at once`);
  await client.close();
});

test('the pipes of programs that have ended are closed on both sides', async () => {
  const client = new SpawnerClient();
  await client.abilities;
  const pid = client.spawnerPid as number;
  const runOne = async (): Promise<void> => {
    const quiet = { signal: never, onStdout: () => undefined, onStderr: () => undefined };
    const open = client.open(shell('read line; echo done'), quiet);
    await open.started;
    open.write(Buffer.from('go\n'));
    await open.ended;
  };
  await runOne();
  const count = (of: string): number => readdirSync(`/proc/${of}/fd`).length;
  const before = [count('self'), count(String(pid))];
  for (let times = 0; times < 10; times++) await runOne();
  await eventually(() => count('self') <= (before[0] ?? 0), 'our ends are closed');
  // The spawner makes pipes ahead, up to a hundred or two; it must not keep those that it handed over as well.
  await eventually(() => count(String(pid)) <= (before[1] ?? 0) + 160, 'its ends are closed');
  await client.close();
});

test('a program that goes on is lost with its spawner', async () => {
  const client = new SpawnerClient();
  await client.abilities;
  const open = client.open(shell('sleep 1000'), {
    signal: never,
    onStdout: () => undefined,
    onStderr: () => undefined,
  });
  await open.started;
  process.kill(client.spawnerPid as number, 'SIGKILL');
  await assert.rejects(open.ended, { code: 'EXECUTOR_LOST' });
  await client.close();
});
