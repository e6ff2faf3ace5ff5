import { readFileSync } from 'node:fs';
import { TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { longLogRecords, openLongLog } from './long-log.ts';
import type { Budget, Round } from './measure.ts';

const hourMs = 3_600_000;
const ticksPerSecond = 100;

/** What the console's page on usage asks, of a daemon that has just started and has counted nothing yet. */
export function usageTime(): Budget {
  return askBudget('usage of a day', async (daemon) => {
    const { json } = await daemon.post('sallyport.v1.OperatorService/GetUsage', { hours: 24 });
    const { countedFromMs = '0' } = json as { countedFromMs?: string };
    if (countedFromMs !== '0') throw new Error('the log was too long to count all of it');
  });
}

export function replayTime(): Budget {
  return askBudget('policy replay of a day', async (daemon) => {
    const since = new Date(Date.now() - 24 * hourMs).toISOString();
    const answer = await daemon.call('policy.replay', { since });
    const { records } = JSON.parse(answer.success?.outputJson ?? '{}') as { records?: number };
    if (records === undefined || records < longLogRecords) throw new Error(`not replayed: ${JSON.stringify(answer)}`);
  });
}

/** One question, from the request to the answer, in seconds of a core of the daemon. */
function askBudget(name: string, ask: (daemon: TestDaemon) => Promise<void>): Budget {
  let place: Place;
  return {
    name: `${name}, over ${longLogRecords} records`,
    bar: '≤ 1 s of one core',
    meets: (_ratio, { subject }) => subject <= 1,
    setUp: async () => {
      place = await openLongLog();
      return async () => undefined;
    },
    round: async () => {
      const daemon = await TestDaemon.start(place);
      try {
        return await measureAsking(daemon, ask);
      } finally {
        await daemon.kill('SIGTERM');
      }
    },
  };
}

async function measureAsking(daemon: TestDaemon, ask: (daemon: TestDaemon) => Promise<void>): Promise<Round> {
  const processId = daemon.process.pid ?? 0;
  const floorFrom = readMainThreadSeconds(processId);
  await daemon.status();
  const floor = Math.max(readMainThreadSeconds(processId) - floorFrom, 1 / ticksPerSecond);
  const [from, startedAtMs] = [readMainThreadSeconds(processId), performance.now()];
  await ask(daemon);
  return {
    floor,
    subject: readMainThreadSeconds(processId) - from,
    unit: 's of CPU of the main thread (floor: the status)',
    details: { 'wall s': (performance.now() - startedAtMs) / 1000 },
  };
}

/** Time in user and kernel mode of the thread that has the number of its process. */
function readMainThreadSeconds(processId: number): number {
  const stat = readFileSync(`/proc/${processId}/task/${processId}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
