import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { readThreadTimes } from './thread-times.ts';
import { longLogRecords, openLongLog } from './long-log.ts';
import type { Budget, Round } from './measure.ts';

const hourMs = 3_600_000;
/** What a daemon does first, such as compiling schemas and reading its log, is measured elsewhere. */
const settleMs = 5000;

/** Of a daemon that has just started and has read nothing yet, with an index that was built before. */
export function usageTime(): Budget {
  const ask = async (daemon: TestDaemon): Promise<number> => {
    const { json } = await daemon.post('sallyport.v1.OperatorService/GetUsage', { hours: 24 });
    const { indexedSize = '0', logSize } = json as { indexedSize?: string; logSize: string };
    return Number(logSize) - Number(indexedSize);
  };
  const askCounted = async (daemon: TestDaemon): Promise<void> => {
    const behind = await ask(daemon);
    if (behind > 0) throw new Error(`${behind} records are not counted`);
  };
  const buildIndex = async (place: Place): Promise<void> => {
    const daemon = await TestDaemon.start(place);
    while ((await ask(daemon)) > 0) await sleep(200);
    await daemon.kill('SIGTERM');
  };
  return askBudget('usage of a day', askCounted, buildIndex);
}

export function replayTime(): Budget {
  return askBudget('policy replay of a day', async (daemon) => {
    const since = new Date(Date.now() - 24 * hourMs).toISOString();
    const answer = await daemon.call('policy.replay', { since });
    const { span } = JSON.parse(answer.success?.outputJson ?? '{}') as { span?: { records: number } };
    if (span === undefined || span.records < longLogRecords) throw new Error(`not replayed: ${JSON.stringify(answer)}`);
  });
}

/** What the gate knows of installed tools, of which it has one here. It has nothing to do with the length of the log. */
export function toolStatusTime(): Budget {
  const askStatus = async (daemon: TestDaemon): Promise<void> => {
    const { success, ...problem } = await daemon.call('tools.status', {});
    if (success?.outputJson.includes('bench_hello') !== true) throw new Error(`no status: ${JSON.stringify(problem)}`);
  };
  const install = async ({ home }: Place): Promise<void> => {
    const schema = {
      name: 'bench_hello',
      version: '1.0.0',
      description: 'Says hello.',
      input_schema: { type: 'object' },
    };
    const script = `#!/bin/sh\necho '${JSON.stringify(schema)}'\n`;
    mkdirSync(join(home, 'tools', 'bin'), { recursive: true });
    writeFileSync(join(home, 'tools', 'bin', 'bench_hello'), script, { mode: 0o755 });
  };
  return askBudget('tool status', askStatus, install);
}

/** One question, from the request to the answer. */
function askBudget(
  name: string,
  ask: (daemon: TestDaemon) => Promise<void>,
  prepare?: (place: Place) => Promise<void>,
): Budget {
  let place: Place;
  return {
    name: `${name}, over ${longLogRecords} records`,
    bar: '≤ 1 s',
    meets: (_ratio, { subject }) => subject <= 1,
    roundSeconds: 5,
    setUp: async () => {
      place = await openLongLog();
      await prepare?.(place);
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
  const before = readThreadTimes(processId).main;
  const startedAtMs = performance.now();
  await ask(daemon);
  const subject = (performance.now() - startedAtMs) / 1000;
  const mainSeconds = (readThreadTimes(processId).main - before) / 1e6;
  const askedAtMs = performance.now();
  await daemon.status();
  return {
    floor: (performance.now() - askedAtMs) / 1000,
    subject,
    unit: 's (floor: the status)',
    details: { 'main thread, s of CPU': mainSeconds },
  };
}
