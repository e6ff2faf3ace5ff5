import { setTimeout } from 'node:timers/promises';
import { describeAbilities } from '@sallyport/gateway';
import type { Check } from '@sallyport/gateway';
import { SpawnerClient } from '@sallyport/sandbox';

const patienceMs = 20_000;

/** Starts the service that runs programs, as the daemon does, and asks what it can do here. */
export async function checkExecutor(): Promise<readonly Check[]> {
  const troubles: string[] = [];
  const client = new SpawnerClient({ enforcement: 'sampled', onTrouble: (message) => void troubles.push(message) });
  try {
    const abilities = await Promise.race([client.abilities, setTimeout(patienceMs, undefined, { ref: false })]);
    if (abilities !== undefined) return describeAbilities(abilities);
    const message = troubles[0] ?? `The spawner was not ready after ${patienceMs / 1000} s.`;
    return [{ name: 'sandbox', state: 'fail', message }];
  } finally {
    await client.close();
  }
}
