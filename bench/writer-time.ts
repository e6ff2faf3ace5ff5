import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigningKey } from '../packages/log/src/checkpoint.ts';
import { ownText } from '../packages/gateway/src/call/redacted.ts';
import { openSqliteStore } from '../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../packages/gateway/src/storage/stores.ts';
import { generateLoad } from './generate-load.ts';
import type { Budget } from './measure.ts';

const inFlight = 32;
/** Bytes to hash before each write: about the 100 µs a call that the main thread of a daemon takes for all the rest. */
const workBetween = 80_000;
const work = randomBytes(workBetween);
const mostTurns = 4;
const warmUpCalls = 10_000;
const mostWarmUpMs = 10_000;
const minuteMs = 60_000;
const rulesHash = hash('sha256', 'rules');
const session = { id: randomUUIDv7(), leaseId: randomUUIDv7(), agent: 'bench' };
const reservations = [minuteMs, 60 * minuteMs, 1440 * minuteMs].map((windowMs) => ({
  key: 'rates files.* bench',
  windowMs,
  limit: Number.MAX_SAFE_INTEGER,
  rule: 'rates.files',
}));

interface Bench {
  readonly folder: string;
  readonly store: Store;
  readonly echo: ChildProcess;
  readonly echoSocket: string;
}

/**
 * Processor time of the writer thread for one call, which is an intent and an outcome, with limits and spending, while
 * 32 calls are in flight; against that of a bare gRPC echo.
 */
export function writerTime(where: 'tmpfs' | 'disk'): Budget {
  let bench: Bench;
  return {
    name: `the writer's own time, ${where}`,
    bar: '≤ 1 × the CPU of a bare grpc-js echo',
    meets: (ratio) => ratio <= 1,
    setUp: async () => {
      bench = await openBench(where);
      await warmUp(bench);
      return () => closeBench(bench);
    },
    round: async (seconds) => {
      const floor = await measureEcho(bench, seconds);
      const busy = await measureStore(bench, seconds, workBetween);
      const idle = await measureStore(bench, seconds / 2, 0);
      return {
        floor,
        subject: busy.writer,
        unit: 'µs of CPU',
        details: { 'writer µs/call, nothing else to do': idle.writer, 'main thread µs/call then': idle.main },
      };
    },
  };
}

async function openBench(where: 'tmpfs' | 'disk'): Promise<Bench> {
  const folder = mkdtempSync(join(where === 'tmpfs' ? '/dev/shm' : tmpdir(), 'sallyport-writer-'));
  mkdirSync(join(folder, 'audit'));
  const store = await openSqliteStore({
    databaseFile: join(folder, 'sallyport.db'),
    signingKey: createSigningKey('sallyport/bench').privateKey,
    origin: 'sallyport/bench',
    checkpointFile: join(folder, 'audit', 'checkpoint'),
    reserveFile: join(folder, 'reserve'),
    reserveBytes: 64 * 1024,
    stateKey: randomBytes(32).toString('base64'),
    adoptState: true,
  });
  await store.createSession({
    id: session.id,
    principal: 'agent',
    agent: session.agent,
    tokenSha256: hash('sha256', session.id),
    createdAtMs: Date.now(),
    workingDirectory: folder,
    lease: { id: session.leaseId, tools: ['files.*'] },
  });
  const echoSocket = join(folder, 'echo.sock');
  const echo = spawn(process.execPath, [join(import.meta.dirname, 'echo-server.ts'), `unix:${echoSocket}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(echo.stdout ?? echo, 'data');
  const message = Buffer.alloc(5 + 1024, 'x');
  message.writeUInt8(0, 0);
  message.writeUInt32BE(1024, 1);
  writeFileSync(join(folder, 'echo.grpc'), message);
  return { folder, store, echo, echoSocket };
}

/** Makes calls until the code is compiled; on a slow disk it stops after a while. */
async function warmUp(bench: Bench): Promise<void> {
  const endsAt = performance.now() + mostWarmUpMs;
  for (let calls = 0; calls < warmUpCalls && performance.now() < endsAt; calls += inFlight) {
    await Promise.all(Array.from({ length: inFlight }, () => makeCall(bench.store, 0)));
  }
}

async function closeBench({ folder, store, echo }: Bench): Promise<void> {
  const ended = once(echo, 'exit');
  echo.kill();
  await ended;
  await store.close();
  rmSync(folder, { recursive: true });
}

/** Microseconds of the echo's main thread for one call. */
async function measureEcho({ folder, echo, echoSocket }: Bench, seconds: number): Promise<number> {
  const { pid = 0 } = echo;
  const before = processorMicros(pid, String(pid));
  const { succeeded } = await generateLoad({
    url: 'http://localhost/bench.Echo/Echo',
    socket: echoSocket,
    protocol: 'h2c',
    bodyFile: join(folder, 'echo.grpc'),
    headers: { 'content-type': 'application/grpc', te: 'trailers' },
    inFlight,
    requests: Math.round(seconds * 20_000),
  });
  return (processorMicros(pid, String(pid)) - before) / succeeded;
}

/** Microseconds of both threads for one call. What is done between the writes decides how many share a commit. */
async function measureStore(
  { store }: Bench,
  seconds: number,
  bytesToHash: number,
): Promise<{ readonly writer: number; readonly main: number }> {
  const [main, writer] = [String(process.pid), findWriter()];
  const before = { main: processorMicros(process.pid, main), writer: processorMicros(process.pid, writer) };
  const endsAt = performance.now() + seconds * 1000;
  let calls = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await makeCall(store, bytesToHash);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return {
    main: (processorMicros(process.pid, main) - before.main) / calls,
    writer: (processorMicros(process.pid, writer) - before.writer) / calls,
  };
}

/** Calls get out of step, as they do in a daemon: there about 16 operations share a commit. */
async function doTheRest(bytesToHash: number): Promise<void> {
  for (let turns = Math.floor(Math.random() * mostTurns); turns >= 0; turns--) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (bytesToHash > 0) hash('sha256', work);
}

async function makeCall(store: Store, bytesToHash: number): Promise<void> {
  await doTheRest(bytesToHash);
  const callId = randomUUIDv7();
  const startedAtMs = Date.now();
  const record = { callId, sessionId: session.id, rulesHash };
  const admitted = await store.admit({
    sessionId: session.id,
    leaseId: session.leaseId,
    basedOn: Number.MAX_SAFE_INTEGER,
    tool: 'files.read',
    intent: { ...record, kind: 'intent', result: 'none', timeMs: startedAtMs, payload: ownText(intentOf(callId)) },
    reservations,
  });
  if (!admitted.admitted) throw new Error(`the call was not admitted: ${admitted.because}`);
  await doTheRest(bytesToHash);
  await store.settle({
    outcome: {
      ...record,
      kind: 'outcome',
      result: 'ok',
      timeMs: Date.now(),
      payload: ownText(outcomeOf(admitted.intentIndex, startedAtMs)),
    },
    charge: { sessionId: session.id, leaseId: session.leaseId, activeMs: 1, tokens: 0, costMicros: 0 },
  });
}

// As long as those of a governed read.
const intentOf = (callId: string): string =>
  `{"request_id":"${callId}","trace_id":"${rulesHash.slice(32)}","door":"http","agent":"bench","principal":"agent",` +
  `"workspace":"/home/bench/work","tool":"files.read","version":"1.0.0","arguments_sha256":"${rulesHash}",` +
  '"arguments":{"path":"kilobyte.txt"},"mode":"NORMAL","decision":{"effect":"allow","rule_id":"read-workspace",' +
  '"reason":"Reading in the workspace is allowed."}}';

const outcomeOf = (intent: number, startedAtMs: number): string =>
  `{"intent":${intent},"tool":"files.read","agent":"bench","summary":"read kilobyte.txt, 1024 bytes",` +
  `"started_at_ms":${startedAtMs},"duration_ms":2,"usage":{"cpuMs":0}}`;

/** Node names its threads. */
function findWriter(): string {
  const tasks = readdirSync('/proc/self/task');
  const named = tasks.find((task) =>
    readFileSync(`/proc/self/task/${task}/comm`, 'utf8').startsWith('sallyport-write'),
  );
  if (named === undefined) throw new Error('the writer thread is not among the threads of this process');
  return named;
}

/** From the scheduler, which counts nanoseconds. */
function processorMicros(pid: number, task: string): number {
  return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
