import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readProcess, readResidentBytes } from '../../packages/sandbox/src/limits/read-process.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { finish, program } from './programs.ts';

const mebibyte = 1024 * 1024;

/** Runs so many programs, so many at a time. Each must end well. */
export async function runMany(client: SpawnerClient, runs: number, inFlight: number): Promise<void> {
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started < runs) {
      started += 1;
      const { how, stdout } = await finish(client, program(['/bin/cat'], { stdin: `run ${started}` }));
      assert.deepEqual(how, { kind: 'exited', code: 0 });
      assert.match(stdout, /^run \d+$/);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

/** Open descriptors and children of the spawner, and the memory of both sides. */
export function readHoldings(
  client: SpawnerClient,
): Record<'descriptors' | 'children' | 'spawnerBytes' | 'ownBytes', number> {
  const pid = client.spawnerPid as number;
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length + readdirSync('/proc/self/fd').length,
    children: readdirSync('/proc').filter((name) => readProcess(Number(name))?.parentPid === pid).length,
    spawnerBytes: readResidentBytes(pid),
    ownBytes: readResidentBytes(process.pid),
  };
}

/** Compares with what was held after a first few runs. The stock of pipes goes up and down by a batch. */
export function checkHoldings(before: ReturnType<typeof readHoldings>, after: ReturnType<typeof readHoldings>): void {
  assert.ok(
    after.descriptors <= before.descriptors + 250,
    `descriptors: ${before.descriptors}, then ${after.descriptors}`,
  );
  assert.ok(after.children <= before.children, `children: ${before.children}, then ${after.children}`);
  assert.ok(after.spawnerBytes <= before.spawnerBytes + 30 * mebibyte, `spawner: ${after.spawnerBytes} bytes`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '10000' } } });
  const client = new SpawnerClient();
  try {
    await runMany(client, 200, 16);
    const before = readHoldings(client);
    await runMany(client, Number(values.runs), 16);
    const after = readHoldings(client);
    process.stdout.write(`${JSON.stringify({ before, after })}\n`);
    checkHoldings(before, after);
  } finally {
    await client.close();
  }
}
