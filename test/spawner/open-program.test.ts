import assert from 'node:assert/strict';
import { test } from 'node:test';
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
