import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import type { Answer } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import type { Budget } from './measure.ts';
import type { ProbeOptions } from './probe-calls.ts';

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
  // Ready before others call: what it takes to spell them is not the daemon's time.
  const bodies = Array.from({ length: writes }, (_, nth) => {
    return JSON.stringify({ name: 'files.write', inputJson: JSON.stringify({ path: `${nth}.txt`, content }) });
  });
  const workerData: ProbeOptions = { address: daemon.address, token: other, path: 'small.txt', everyMs: probeEveryMs };
  const prober = new Worker(new URL('probe-calls.ts', import.meta.url), { workerData });
  await once(prober, 'message');
  const probed = once(prober, 'message') as Promise<[number[]]>;
  const sent = bodies.map((body, nth) => {
    return daemon.post('sallyport.v1.ToolService/ExecuteTool', body, tokens[nth % writers] ?? '');
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
  const answers = await Promise.all(sent).finally(() => prober.postMessage('end'));
  const [waits] = await probed;
  const failed = answers.find(({ json }) => (json as Answer).success === undefined);
  if (failed !== undefined) throw new Error(`not written: ${JSON.stringify(failed).slice(0, 500)}`);
  return waits;
}

function readMebibytes({ process }: TestDaemon, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
