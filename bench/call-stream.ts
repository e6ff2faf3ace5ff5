import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TestDaemon } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { keepChanging, startEcho } from './governed-read.ts';
import type { Budget } from './measure.ts';
import { newPlaceOn, removePlace } from './places.ts';
import { perCall, readThreadTimes } from './thread-times.ts';

const least = 1.2;
const callsToWarmUp = 30_000;

/** A client in a process of its own. */
interface Arm {
  /** Calls a second. */
  readonly load: (calls: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Governed reads over the stream of the SDK, and empty unary calls of grpc-js; both clients are written for Node. */
export function callStream(): Budget {
  let arms: { readonly floor: Arm; readonly subject: Arm };
  let daemonPid = 0;
  return {
    name: 'governed read, stream of the SDK, throughput, tmpfs',
    bar: `≥ ${least} × an empty unary call of grpc-js`,
    meets: (ratio) => ratio >= least,
    setUp: async () => {
      const place = liftLimits(newPlaceOn('tmpfs'));
      const stopChanging = keepChanging(join(place.workspace, 'kilobyte.txt'));
      const daemon = await TestDaemon.start(place);
      daemonPid = daemon.process.pid ?? 0;
      const echo = await startEcho(place);
      const token = await daemon.newAgent('bench');
      arms = {
        floor: openArm('echo', echo.load.socket),
        subject: openArm('gate', join(place.home, 'run', 'agent', 'sallyport.sock'), token),
      };
      for (const arm of [arms.floor, arms.subject]) await arm.load(callsToWarmUp);
      return async () => {
        await arms.floor.close();
        await arms.subject.close();
        stopChanging();
        const ended = once(echo.process, 'exit');
        echo.process.kill();
        await ended;
        await daemon.kill('SIGTERM');
        removePlace(place);
      };
    },
    round: async (seconds) => {
      const calls = Math.round(6000 * seconds);
      const floor = await arms.floor.load(calls);
      const before = readThreadTimes(daemonPid);
      const subject = await arms.subject.load(calls);
      const { main, writer } = perCall(before, readThreadTimes(daemonPid), calls);
      return {
        ...{ floor, subject, unit: 'calls/s' },
        details: { 'main thread, µs of CPU a call': main, 'writer, µs of CPU a call': writer },
      };
    },
  };
}

function openArm(...args: readonly string[]): Arm {
  const client = spawn(process.execPath, [join(import.meta.dirname, 'stream-client.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const rates = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  return {
    load: async (calls) => {
      client.stdin.write(`${calls}\n`);
      const { value, done } = await rates.next();
      if (done === true) throw new Error('the client ended before its calls');
      return Number(value);
    },
    close: async () => {
      const ended = once(client, 'exit');
      client.stdin.end();
      await ended;
    },
  };
}
