import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { ExecuteToolRequestSchema } from '@sallyport/contract';
import { TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { generateLoad } from './generate-load.ts';
import type { Load, LoadResult } from './generate-load.ts';
import type { Budget, Round } from './measure.ts';
import { newPlaceOn, removePlace } from './places.ts';
import type { Medium } from './places.ts';
import { perCall, readThreadTimes } from './thread-times.ts';
import type { ThreadTimes } from './thread-times.ts';

const manyInFlight = 32;
/** Calls until the compiler has done most of its work, on a busy machine as on a quiet one. */
const callsToWarmUp = 30_000;

type Protocol = 'http' | 'grpc';

/** One side of the comparison: a process, and how it is called. */
interface Arm {
  readonly pid: number;
  readonly load: Omit<Load, 'inFlight' | 'requests'>;
}

interface Bench {
  readonly floor: Arm;
  readonly subject: Arm;
  readonly close: () => Promise<void>;
}

/** Calls a second of a governed, durably audited read of 1 KB, and of a gRPC echo; both get calls the same way. */
export function governedRead(protocol: Protocol, medium: Medium): Budget {
  const least = protocol === 'http' ? 0.6 : 0.45;
  return {
    name: `governed read, ${protocol === 'http' ? 'HTTP' : 'unary gRPC'}, throughput, ${medium}`,
    bar: `≥ ${least} × a bare grpc-js echo`,
    meets: (ratio) => ratio >= least,
    ...rounds({ protocol, medium, inFlight: manyInFlight }, ({ perSecond }) => perSecond, 'calls/s'),
  };
}

/** How long one call takes when no other is under way. */
export function governedReadAlone(medium: Medium): Budget {
  const most = 500;
  return {
    name: `governed read, HTTP, one at a time, ${medium}`,
    bar: `p50 ≤ ${most} µs`,
    meets: (_ratio, { subject }) => subject <= most,
    ...rounds({ protocol: 'http', medium, inFlight: 1 }, ({ p50Us }) => p50Us, 'µs p50'),
  };
}

function rounds(
  how: { readonly protocol: Protocol; readonly medium: Medium; readonly inFlight: number },
  figure: (result: LoadResult) => number,
  unit: string,
): Pick<Budget, 'setUp' | 'round' | 'roundSeconds'> {
  const { inFlight } = how;
  let bench: Bench;
  /** By arm, so that a round takes the time it should. */
  const rates = new Map<Arm, number>();
  const loadArm = async (arm: Arm, requests: number) => {
    const before = readThreadTimes(arm.pid);
    const result = await generateLoad({ ...arm.load, inFlight, requests });
    rates.set(arm, result.perSecond);
    return { result, cpu: perCall(before, readThreadTimes(arm.pid), result.succeeded) };
  };
  return {
    roundSeconds: 0.25,
    setUp: async () => {
      bench = await openBench(how);
      for (const arm of [bench.floor, bench.subject]) await loadArm(arm, callsToWarmUp);
      return bench.close;
    },
    round: async (seconds) => {
      const requestsFor = (arm: Arm): number => Math.max(10 * inFlight, Math.round((rates.get(arm) ?? 0) * seconds));
      const floor = await loadArm(bench.floor, requestsFor(bench.floor));
      const subject = await loadArm(bench.subject, requestsFor(bench.subject));
      return {
        floor: figure(floor.result),
        subject: figure(subject.result),
        unit,
        cpu: { floor: floor.cpu.all, subject: subject.cpu.all },
        details: describe(floor, subject),
      };
    },
  };
}

interface Loaded {
  readonly result: LoadResult;
  readonly cpu: ThreadTimes;
}

function describe(floor: Loaded, subject: Loaded): Round['details'] {
  return {
    'main thread, µs of CPU a call': subject.cpu.main,
    'writer, µs of CPU a call': subject.cpu.writer,
    'all threads, µs of CPU a call': subject.cpu.all,
    'echo, main thread, µs of CPU a call': floor.cpu.main,
    'echo, all threads, µs of CPU a call': floor.cpu.all,
    'p50 µs': subject.result.p50Us,
    'p99 µs': subject.result.p99Us,
    failed: subject.result.failed,
  };
}

async function openBench({ protocol, medium }: { protocol: Protocol; medium: Medium }): Promise<Bench> {
  const place = liftLimits(newPlaceOn(medium));
  const stopChanging = keepChanging(join(place.workspace, 'kilobyte.txt'));
  const daemon = await TestDaemon.start(place);
  const stop = (): void => void daemon.process.kill('SIGTERM');
  process.once('exit', stop);
  const token = await daemon.newAgent('bench');
  const check = await daemon.call('files.read', { path: 'kilobyte.txt' }, { token });
  if (check.success === undefined) throw new Error(`the call to measure does not succeed: ${JSON.stringify(check)}`);
  const echo = await startEcho(place);
  return {
    floor: { pid: echo.process.pid ?? 0, load: echo.load },
    subject: { pid: daemon.process.pid ?? 0, load: loadOf(place, protocol, token) },
    close: async () => {
      stopChanging();
      const ended = once(echo.process, 'exit');
      echo.process.kill();
      await ended;
      process.off('exit', stop);
      await daemon.kill('SIGTERM');
      removePlace(place);
    },
  };
}

/** Another kilobyte every few milliseconds: the same result again and again would be stopped as a loop. */
export function keepChanging(file: string): () => void {
  let times = 0;
  const change = (): void => {
    writeFileSync(`${file}.new`, String(times++).padEnd(1024, 'x'));
    renameSync(`${file}.new`, file);
  };
  change();
  const timer = setInterval(change, 5);
  return () => clearInterval(timer);
}

export async function startEcho({ folder }: Place): Promise<{ process: ChildProcess; load: Arm['load'] }> {
  const socket = join(folder, 'echo.sock');
  const echo = spawn(process.execPath, [join(import.meta.dirname, 'echo-server.ts'), `unix:${socket}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(echo.stdout, 'data');
  const bodyFile = join(folder, 'echo.grpc');
  writeFileSync(bodyFile, frame(Buffer.alloc(1024, 'x')));
  const headers = { 'content-type': 'application/grpc', te: 'trailers' };
  return {
    process: echo,
    load: { url: 'http://localhost/bench.Echo/Echo', socket, protocol: 'h2c', bodyFile, headers },
  };
}

function loadOf({ folder, home }: Place, protocol: Protocol, token: string): Arm['load'] {
  const call = { name: 'files.read', inputJson: '{"path":"kilobyte.txt"}' };
  const bodyFile = join(folder, 'call');
  const common = {
    url: 'http://localhost/sallyport.v1.ToolService/ExecuteTool',
    socket: join(home, 'run', 'agent', 'sallyport.sock'),
    bodyFile,
  };
  const authorization = `Bearer ${token}`;
  if (protocol === 'http') {
    writeFileSync(bodyFile, JSON.stringify(call));
    return { ...common, protocol: 'http/1.1', headers: { 'content-type': 'application/json', authorization } };
  }
  writeFileSync(bodyFile, frame(toBinary(ExecuteToolRequestSchema, create(ExecuteToolRequestSchema, call))));
  return {
    ...common,
    protocol: 'h2c',
    headers: { 'content-type': 'application/grpc', te: 'trailers', authorization },
  };
}

/** The five bytes that gRPC puts before a message. */
function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
