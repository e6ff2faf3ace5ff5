import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import type { Budget } from './measure.ts';

const mebibyte = 1024 * 1024;
const writes = 32;
const writers = 4;
const probeEveryMs = 20;

/** What the daemon holds at most while several agents send large files at once, and how long others wait meanwhile. */
export function largeWrites(of: 'memory' | 'others'): Budget {
  return {
    name: `${writes} writes of 15 MB at once, ${of === 'memory' ? 'memory' : 'calls of others'}`,
    bar: of === 'memory' ? '≤ 600 MiB' : 'p99 ≤ 100 ms',
    meets: (_ratio, { subject }) => subject <= (of === 'memory' ? 600 : 100),
    roundSeconds: 10,
    setUp: async () => async () => undefined,
    round: async () => {
      const daemon = await TestDaemon.start(liftLimits(newPlace()));
      try {
        const idle = readMebibytes(daemon, 'VmRSS');
        const waits = (await writeAll(daemon)).sort((a, b) => a - b);
        if (of === 'memory') {
          return {
            floor: idle,
            subject: readMebibytes(daemon, 'VmHWM'),
            unit: 'MiB at most (floor: idle)',
            details: {},
          };
        }
        const subject = waits[Math.floor(waits.length * 0.99)] ?? NaN;
        return { floor: waits[0] ?? NaN, subject, unit: 'ms at p99 (floor: the fastest)', details: {} };
      } finally {
        await daemon.remove();
      }
    },
  };
}

/** Returns how long each small call of another agent took in the meantime. */
async function writeAll(daemon: TestDaemon): Promise<number[]> {
  writeFileSync(join(daemon.place.workspace, 'small.txt'), 'content');
  const other = await daemon.newAgent('other');
  const tokens: string[] = [];
  for (let agent = 0; agent < writers; agent++) tokens.push(await daemon.newAgent(`writer-${agent}`));
  const content = 'abcdefghijklmno\n'.repeat((15 * mebibyte) / 16);
  const waits: number[] = [];
  let isDone = false;
  const probing = (async () => {
    for (let offset = 0; !isDone; offset++) {
      const startedAtMs = performance.now();
      await daemon.call('files.read', { path: 'small.txt', offset }, { token: other });
      waits.push(performance.now() - startedAtMs);
      await sleep(probeEveryMs);
    }
  })();
  const sent = Array.from({ length: writes }, (_, nth) => {
    return daemon.call('files.write', { path: `${nth}.txt`, content }, { token: tokens[nth % writers] ?? '' });
  });
  const answers = await Promise.all(sent).finally(() => (isDone = true));
  await probing;
  const failed = answers.find(({ success }) => success === undefined);
  if (failed !== undefined) throw new Error(`not written: ${JSON.stringify(failed).slice(0, 500)}`);
  return waits;
}

function readMebibytes({ process }: TestDaemon, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
