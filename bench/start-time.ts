import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import type { Budget } from './measure.ts';
import { newPlaceOn, removePlace } from './places.ts';
import { readMemory } from './read-memory.ts';
import { readThreadTimes } from './thread-times.ts';

const mostStartMs = 300;
const mostIdleMb = 100;
/** By then the log has been verified and indexed, and what that took is given back. */
const settleMs = 25_000;

interface Started {
  readonly pid: number;
  readonly ms: number;
  /** Of the processors, by all of its threads, in microseconds. */
  readonly cpu: number;
  readonly stop: () => Promise<void>;
}

/** From the start of the process until the daemon says that it serves, against a Node that does nothing but say so. */
export function startTime(): Budget {
  let place: Place;
  return {
    name: 'a start of the daemon, until it serves, tmpfs',
    bar: `≤ ${mostStartMs} ms`,
    meets: (_ratio, { subject }) => subject <= mostStartMs,
    roundSeconds: 0.5,
    // The first start in a home makes it, and keeps what it has compiled. The rounds measure every other one.
    setUp: async () => {
      place = newPlaceOn('tmpfs');
      return async () => removePlace(place);
    },
    round: async () => {
      const [bare, daemon] = [await measureStart(startBare), await measureStart(() => startDaemon(place))];
      return {
        floor: bare.ms,
        subject: daemon.ms,
        unit: 'ms',
        cpu: { floor: bare.cpu, subject: daemon.cpu },
        details: { 'CPU of all threads: ms': daemon.cpu / 1000, 'resident when it serves: MB': daemon.mb },
      };
    },
  };
}

/** What a daemon holds after it has started and nobody has called it, against a Node that does nothing. */
export function idleDaemonMemory(): Budget {
  return {
    name: 'memory of an idle daemon',
    bar: `≤ ${mostIdleMb} MB resident`,
    meets: (_ratio, { subject }) => subject <= mostIdleMb,
    roundSeconds: settleMs / 1000,
    setUp: () => Promise.resolve(() => Promise.resolve()),
    round: async () => {
      const place = newPlaceOn('tmpfs');
      const daemon = await startDaemon(place);
      const bare = await startBare();
      try {
        await sleep(settleMs);
        const [held, heldByBare] = [readMemory(daemon.pid), readMemory(bare.pid)];
        return {
          floor: heldByBare.resident,
          subject: held.resident,
          unit: 'MB resident (floor: a bare Node)',
          details: { 'proportional: MB': held.proportional, 'its own alone: MB': held.own },
        };
      } finally {
        await bare.stop();
        await daemon.stop();
        removePlace(place);
      }
    },
  };
}

async function measureStart(start: () => Promise<Started>): Promise<Pick<Started, 'ms' | 'cpu'> & { mb: number }> {
  const { pid, ms, cpu, stop } = await start();
  const mb = readMemory(pid).resident;
  await stop();
  return { ms, cpu, mb };
}

async function startDaemon(place: Place): Promise<Started> {
  const startedAtMs = performance.now();
  const daemon = await TestDaemon.start(place);
  const ms = performance.now() - startedAtMs;
  const pid = daemon.process.pid ?? 0;
  return { pid, ms, cpu: readThreadTimes(pid).all, stop: () => daemon.kill('SIGTERM') };
}

async function startBare(): Promise<Started> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log("ready")']);
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const ms = performance.now() - startedAtMs;
  const pid = child.pid ?? 0;
  return {
    ...{ pid, ms, cpu: readThreadTimes(pid).all },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
