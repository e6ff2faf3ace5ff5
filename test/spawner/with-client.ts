import assert from 'node:assert/strict';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import type { SpawnerOptions } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { listLeftovers } from './programs.ts';

/** A spawner for the time of a test. Nothing of it may be left when it is closed. */
export async function withClient(
  options: SpawnerOptions,
  use: (client: SpawnerClient) => Promise<void>,
): Promise<void> {
  const client = new SpawnerClient(options);
  const pids: (number | undefined)[] = [];
  try {
    await client.abilities;
    pids.push(client.spawnerPid);
    await use(client);
    pids.push(client.spawnerPid);
  } finally {
    await client.close();
  }
  assert.deepEqual(listLeftovers(pids), []);
}
