import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { ExecuteToolRequestSchema } from '@sallyport/contract';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { generateLoad } from './generate-load.ts';
import type { LoadResult } from './generate-load.ts';
import type { Budget, Round } from './measure.ts';

const inFlight = 32;

interface Bench {
  readonly daemon: TestDaemon;
  readonly echo: ChildProcess;
  readonly echoSocket: string;
  readonly token: string;
  readonly folder: string;
  readonly stopChanging: () => void;
}

/** A governed, durably audited read of 1 KB against a gRPC echo, both over a unix socket, both by the same generator. */
export function governedRead(how: 'http' | 'grpc'): Budget {
  let bench: Bench;
  return {
    name: how === 'http' ? 'governed read, HTTP, over the socket' : 'governed read, gRPC, over the socket',
    bar: how === 'http' ? '≥ 0.6 × a bare grpc-js echo' : '≥ 0.4 × a bare grpc-js echo',
    meets: (ratio) => ratio >= (how === 'http' ? 0.6 : 0.4),
    setUp: async () => {
      bench = await openBench();
      return () => closeBench(bench);
    },
    round: async (seconds) => {
      const floor = await loadEcho(bench, seconds);
      const before = readThreads(bench.daemon.process.pid ?? 0);
      const subject = how === 'http' ? await loadHttp(bench, seconds) : await loadGrpc(bench, seconds);
      return describeRound(floor, subject, before, readThreads(bench.daemon.process.pid ?? 0));
    },
  };
}

async function openBench(): Promise<Bench> {
  const place = liftLimits(newPlace());
  const { folder } = place;
  const stopChanging = keepChanging(join(place.workspace, 'kilobyte.txt'));
  const daemon = await TestDaemon.start(place);
  const token = await daemon.newAgent('bench');
  const echoSocket = join(folder, 'echo.sock');
  const echo = spawn(process.execPath, [join(import.meta.dirname, 'echo-server.ts'), `unix:${echoSocket}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(echo.stdout ?? echo, 'data');
  const input = { name: 'files.read', inputJson: '{"path":"kilobyte.txt"}' };
  writeFileSync(join(folder, 'call.json'), JSON.stringify(input));
  writeFileSync(
    join(folder, 'call.grpc'),
    frame(toBinary(ExecuteToolRequestSchema, create(ExecuteToolRequestSchema, input))),
  );
  writeFileSync(join(folder, 'echo.grpc'), frame(Buffer.alloc(1024, 'x')));
  const check = await daemon.call('files.read', { path: 'kilobyte.txt' }, { token });
  if (check.success === undefined) throw new Error(`the call to measure does not succeed: ${JSON.stringify(check)}`);
  return { daemon, echo, echoSocket, token, folder, stopChanging };
}

/** Another kilobyte every few milliseconds: the same result again and again would be stopped as a loop. */
function keepChanging(file: string): () => void {
  let times = 0;
  const change = (): void => {
    writeFileSync(`${file}.new`, String(times++).padEnd(1024, 'x'));
    renameSync(`${file}.new`, file);
  };
  change();
  const timer = setInterval(change, 5);
  return () => clearInterval(timer);
}

async function closeBench({ daemon, echo, folder, stopChanging }: Bench): Promise<void> {
  stopChanging();
  const ended = once(echo, 'exit');
  echo.kill();
  await ended;
  await daemon.remove();
  rmSync(folder, { recursive: true, force: true });
}

function loadEcho({ folder, echoSocket }: Bench, seconds: number): Promise<LoadResult> {
  return generateLoad({
    url: 'http://localhost/bench.Echo/Echo',
    socket: echoSocket,
    protocol: 'h2c',
    bodyFile: join(folder, 'echo.grpc'),
    headers: { 'content-type': 'application/grpc', te: 'trailers' },
    inFlight,
    seconds,
  });
}

function loadHttp({ daemon, token, folder }: Bench, seconds: number): Promise<LoadResult> {
  return generateLoad({
    url: 'http://localhost/sallyport.v1.ToolService/ExecuteTool',
    socket: join(daemon.place.home, 'run', 'agent', 'sallyport.sock'),
    protocol: 'http/1.1',
    bodyFile: join(folder, 'call.json'),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    inFlight,
    seconds,
  });
}

function loadGrpc({ daemon, token, folder }: Bench, seconds: number): Promise<LoadResult> {
  return generateLoad({
    url: 'http://localhost/sallyport.v1.ToolService/ExecuteTool',
    socket: join(daemon.place.home, 'run', 'agent', 'sallyport.sock'),
    protocol: 'h2c',
    bodyFile: join(folder, 'call.grpc'),
    headers: { 'content-type': 'application/grpc', te: 'trailers', authorization: `Bearer ${token}` },
    inFlight,
    seconds,
  });
}

function describeRound(floor: LoadResult, subject: LoadResult, before: Threads, after: Threads): Round {
  const perCall = (name: string): number => (((after[name] ?? 0) - (before[name] ?? 0)) * 1e6) / subject.succeeded;
  return {
    floor: floor.perSecond,
    subject: subject.perSecond,
    unit: 'calls/s',
    details: {
      'main thread µs/call': perCall('main'),
      'writer µs/call': perCall('writer'),
      'mean ms': subject.meanMs,
      failed: subject.failed,
    },
  };
}

type Threads = Readonly<Record<string, number>>;

/** CPU seconds by thread. The writer is the busiest thread besides the main one. */
function readThreads(pid: number): Threads {
  const folder = `/proc/${pid}/task`;
  const seconds = (task: string): number => {
    const stat = readFileSync(join(folder, task, 'stat'), 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  const others = readdirSync(folder).filter((task) => task !== String(pid));
  return { main: seconds(String(pid)), writer: Math.max(0, ...others.map(seconds)) };
}

/** The five bytes that gRPC puts before a message. */
function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
