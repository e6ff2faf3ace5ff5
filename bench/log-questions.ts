import { setTimeout as sleep } from 'node:timers/promises';
import { TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { readThreadTimes } from './thread-times.ts';
import { longLogRecords, openLongLog } from './long-log.ts';
import type { Budget, Round } from './measure.ts';

const hourMs = 3_600_000;
/** What a daemon does first, such as compiling schemas and reading its log, is measured elsewhere. */
const settleMs = 5000;

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
    const { span } = JSON.parse(answer.success?.outputJson ?? '{}') as { span?: { records: number } };
    if (span === undefined || span.records < longLogRecords) throw new Error(`not replayed: ${JSON.stringify(answer)}`);
  });
}

/** One question, from the request to the answer, in seconds of a core of the daemon. */
function askBudget(name: string, ask: (daemon: TestDaemon) => Promise<void>): Budget {
  let place: Place;
  return {
    name: `${name}, over ${longLogRecords} records`,
    bar: '≤ 1 s of one core',
    meets: (_ratio, { subject }) => subject <= 1,
    roundSeconds: 5,
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
  await sleep(settleMs);
  const ranUs = async (run: () => Promise<unknown>): Promise<number> => {
    const before = readThreadTimes(processId).main;
    await run();
    return readThreadTimes(processId).main - before;
  };
  const floor = await ranUs(() => daemon.status());
  const startedAtMs = performance.now();
  const subject = await ranUs(() => ask(daemon));
  return {
    floor: floor / 1e6,
    subject: subject / 1e6,
    unit: 's of CPU of the main thread (floor: the status)',
    details: { 'wall s': (performance.now() - startedAtMs) / 1000 },
  };
}
