import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { environmentOf } from '../test/harness/daemon.ts';
import type { Place, TestDaemon } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { loadMcp, openMcpSession } from './mcp-load.ts';
import type { McpTarget } from './mcp-load.ts';
import type { Budget } from './measure.ts';
import { newPlaceOn, removePlace } from './places.ts';
import type { Medium } from './places.ts';
import { readMemory, readMemoryOfAll } from './read-memory.ts';
import { installRivals, programOf } from './rivals/install-rivals.ts';
import { startListening } from './rivals/start-rival.ts';
import { percentile, timeEach } from './spawn-bench.ts';
import { perCall, readThreadTimes } from './thread-times.ts';

const root = join(import.meta.dirname, '..');
/** In a checkout. */
const program = 'packages/cli/bin/sallyport.mjs';
const stdioServer = join(root, 'test/mcp/upstream/stdio-server.mjs');
const httpServer = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const quiet = ['--logLevel', 'none'];
/** What a start leaves behind is given back by then. */
const settleMs = 20_000;
const mostMoreMs = { stdio: 1, http: 5 };
const leastTimesRival = 1.2;
const leastTimesBefore = 3;
const mostIdleMb = 150;
const manyInFlight = 16;
const warmUpSeconds = 4;
/** Another checkout, built, to compare with: the gate as it was. */
const before = process.env['SALLYPORT_BEFORE'];
const rule = `rules:
  - id: bench-server
    effect: allow
    tools: ['bench.*']
    origins: [upstream]
    approval: waived
`;

/** The same echo, each by its own way. */
type Ways = Readonly<Record<string, () => Promise<void>>>;

type Release = () => Promise<void>;

/**
 * An echo of an MCP server through the gate, with all gates and the durable log, against the same server direct and
 * behind proxies that pass everything on and keep nothing.
 */
export function upstreamEcho(how: 'stdio' | 'http', medium: Medium): Budget {
  const floorName = how === 'stdio' ? 'supergateway' : 'direct';
  let ways: Ways;
  return {
    name: `MCP echo through the gate, upstream over ${how}, ${medium}`,
    bar: `p50 ≤ ${how === 'stdio' ? 'supergateway' : 'the same server direct'} + ${mostMoreMs[how]} ms`,
    meets: (_ratio, { floor, subject }) => subject <= floor + mostMoreMs[how],
    setUp: () =>
      setUpWith(async (releases) => {
        ways = await openWays(how, medium, releases);
      }),
    round: async (seconds) => {
      const times = await timeEach(ways, seconds / 2);
      const rates = await rateEach(ways, seconds / 2);
      const floor = percentile(times[floorName] ?? [], 50);
      const details: Record<string, number> = {};
      for (const [name, each] of Object.entries(times)) {
        details[`${name}: ms p50`] = percentile(each, 50);
        details[`${name}: ms p99`] = percentile(each, 99);
        details[`${name}: calls/s, 1 in flight`] = (1000 * each.length) / each.reduce((sum, ms) => sum + ms, 0);
        details[`${name}: calls/s, ${manyInFlight} in flight`] = rates[name] ?? NaN;
      }
      return { floor, subject: percentile(times['through'] ?? [], 50), unit: 'ms p50, one at a time', details };
    },
  };
}

/** Many echoes at once, called by a native load generator, against the better of the proxies that pass everything on. */
export function manyUpstreamEchoes(medium: Medium): Budget {
  const targets = new Map<string, McpTarget>();
  let gatePid = 0;
  return {
    name: `MCP echo through the gate, ${manyInFlight} in flight, ${medium}`,
    bar: `≥ ${leastTimesRival} × supergateway and mcp-proxy`,
    meets: (ratio) => ratio >= leastTimesRival,
    roundSeconds: 4,
    setUp: () =>
      setUpWith(async (releases) => {
        const bench = await openGate(releases, medium);
        const script = addStdioServer(bench, releases);
        const rivals = await openRivals(script, releases);
        targets.set('through', await openMcpSession(bench.url, 'bench_echo', bench.bearer));
        for (const [name, url] of Object.entries(rivals)) targets.set(name, await openMcpSession(url, 'echo'));
        gatePid = bench.pid;
        // Until the compilers have done most of their work, for all alike.
        for (const target of targets.values()) await loadMcp(target, manyInFlight, warmUpSeconds);
      }),
    round: async (seconds) => {
      const rates = new Map<string, number>();
      const armSeconds = seconds / targets.size;
      const earlier = readThreadTimes(gatePid);
      for (const [name, target] of targets) rates.set(name, await loadMcp(target, manyInFlight, armSeconds));
      const { through: subject = NaN, ...rivals } = Object.fromEntries(rates);
      const { main, writer } = perCall(
        earlier,
        readThreadTimes(gatePid),
        subject * Math.max(1, Math.round(armSeconds)),
      );
      const details = {
        ...Object.fromEntries([...rates].map(([name, rate]) => [`${name}: calls/s`, rate])),
        'main thread, µs of CPU a call': main,
        'writer, µs of CPU a call': writer,
      };
      return { floor: Math.max(...Object.values(rivals)), subject, unit: 'calls/s', details };
    },
  };
}

/** Many echoes at once of a client on standard input and output, against the gate as it was. */
export function manyStdioEchoes(): Budget {
  let ways: Ways;
  return {
    name: `MCP echo, client on stdio, ${manyInFlight} in flight, tmpfs`,
    bar: `≥ ${leastTimesBefore} × the checkout in SALLYPORT_BEFORE`,
    // Without another checkout the bar cannot be met: there is nothing to compare with.
    meets: (ratio) => ratio >= leastTimesBefore,
    setUp: () =>
      setUpWith(async (releases) => {
        const open = async (checkout: string): Promise<() => Promise<void>> => {
          const bench = await openGate(releases, 'tmpfs', checkout);
          addStdioServer(bench, releases);
          return connect(bridgeTo(bench), releases, 'bench_echo');
        };
        ways = { through: await open(root), ...(before === undefined ? {} : { before: await open(before) }) };
      }),
    round: async (seconds) => {
      const { through = NaN, before: was = NaN } = await rateEach(ways, seconds);
      return { floor: was, subject: through, unit: 'calls/s', details: {} };
    },
  };
}

/** What all processes of the gate hold while one server is connected and nothing happens. The server is not counted. */
export function idleMemory(): Budget {
  return {
    name: 'memory of an idle gate with one MCP server',
    bar: `≤ ${mostIdleMb} MB, all processes`,
    meets: (_ratio, { subject }) => subject <= mostIdleMb,
    setUp: () => Promise.resolve(() => Promise.resolve()),
    round: async () => {
      const releases: Release[] = [];
      const release = await setUpWith(() => Promise.resolve(), releases);
      try {
        const bench = await openGate(releases, 'disk');
        addStdioServer(bench, releases);
        await sleep(settleMs);
        const [daemon, all] = [readMemory(bench.pid), readMemoryOfAll(bench.pid)];
        return {
          floor: mostIdleMb,
          subject: all.resident,
          unit: 'MB resident (floor: the bar)',
          details: {
            'proportional: MB': all.proportional,
            'daemon: MB resident': daemon.resident,
            'daemon: MB proportional': daemon.proportional,
          },
        };
      } finally {
        await release();
      }
    },
  };
}

async function setUpWith(
  open: (releases: Release[]) => Promise<void>,
  releases: Release[] = [],
): Promise<() => Promise<void>> {
  await installRivals();
  const release = async (): Promise<void> => {
    for (const each of releases.splice(0).reverse()) await each();
  };
  try {
    await open(releases);
  } catch (error) {
    await release();
    throw error;
  }
  return release;
}

/** Calls a second of each with many in flight, in short turns, so that a noisy machine disturbs all alike. */
async function rateEach(ways: Ways, seconds: number): Promise<Readonly<Record<string, number>>> {
  const turns = 3;
  const turnMs = (seconds * 1000) / turns / Object.keys(ways).length;
  const calls = new Map<string, { made: number; ms: number }>();
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, call] of Object.entries(ways)) {
      const counted = calls.get(name) ?? { made: 0, ms: 0 };
      const startedAt = performance.now();
      const repeat = async (): Promise<void> => {
        for (; performance.now() - startedAt < turnMs; counted.made++) await call();
      };
      await Promise.all(Array.from({ length: manyInFlight }, repeat));
      counted.ms += performance.now() - startedAt;
      calls.set(name, counted);
    }
  }
  return Object.fromEntries([...calls].map(([name, { made, ms }]) => [name, (1000 * made) / ms]));
}

/** A daemon that lets everyone call the server `bench`. */
interface BenchGate {
  readonly place: Place;
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  readonly bearer: Record<string, string>;
  readonly checkout: string;
}

async function openGate(releases: Release[], medium: Medium, checkout = root): Promise<BenchGate> {
  const place = liftLimits(newPlaceOn(medium), checkout);
  const rules = join(place.home, 'governance', 'tools.yaml');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^rules:\n/m, rule));
  const { TestDaemon: Daemon } = (await import(join(checkout, 'test/harness/daemon.ts'))) as {
    readonly TestDaemon: typeof TestDaemon;
  };
  const daemon = await Daemon.start(place);
  const stop = (): void => void daemon.process.kill('SIGTERM');
  process.once('exit', stop);
  releases.push(async () => {
    process.off('exit', stop);
    await daemon.kill('SIGTERM');
    removePlace(place);
  });
  const token = await daemon.newAgent('bench');
  const url = new URL('/mcp', daemon.address).href;
  return { place, pid: daemon.process.pid ?? 0, url, token, bearer: { authorization: `Bearer ${token}` }, checkout };
}

/** Returns the script, which runs without the gate as well. */
function addStdioServer({ place, checkout }: BenchGate, releases: Release[]): string {
  // Programs are given nothing that lies in shared memory.
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-server-'));
  releases.push(async () => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'server.mjs');
  chmodSync(folder, 0o755);
  cpSync(stdioServer, script);
  add(place, checkout, ['--read', script, '--', 'node', script]);
  return script;
}

async function connect(transport: Transport, releases: Release[], tool = 'echo'): Promise<() => Promise<void>> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  releases.push(() => client.close());
  return () => echo(client, tool);
}

function overHttp(url: string, headers: Record<string, string> = {}): Transport {
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

function overStdio(
  args: readonly string[],
  env: Record<string, string> = { PATH: process.env['PATH'] ?? '' },
): Transport {
  return new StdioClientTransport({ command: process.execPath, args: [...args], env, stderr: 'ignore' });
}

function bridgeTo({ place, token, checkout }: BenchGate): Transport {
  return overStdio([join(checkout, program), 'mcp'], environmentOf(place, { SALLYPORT_TOKEN: token }));
}

async function listen(argsFor: (port: number) => readonly string[], releases: Release[]): Promise<string> {
  const { url, close } = await startListening(argsFor);
  releases.push(close);
  return url;
}

/** Proxies that pass everything on to a program. */
async function openRivals(script: string, releases: Release[]): Promise<Readonly<Record<string, string>>> {
  const server = [process.execPath, script];
  const proxy = await listen(
    (port) => [
      programOf('mcp-proxy'),
      ...['--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--', ...server],
    ],
    releases,
  );
  const other = await listen(
    (port) => [
      ...[programOf('supergateway'), ...quiet, '--stdio', server.join(' '), '--port', `${port}`],
      // Otherwise it starts a server for every request.
      ...['--outputTransport', 'streamableHttp', '--stateful'],
    ],
    releases,
  );
  return { 'mcp-proxy': proxy, supergateway: other };
}

async function openWays(how: 'stdio' | 'http', medium: Medium, releases: Release[]): Promise<Ways> {
  const bench = await openGate(releases, medium);
  const { place, url: gate, bearer } = bench;
  if (how === 'stdio') {
    const script = addStdioServer(bench, releases);
    const rivals = await openRivals(script, releases);
    return {
      direct: await connect(overStdio([script]), releases),
      through: await connect(overHttp(gate, bearer), releases, 'bench_echo'),
      'through, client on stdio': await connect(bridgeTo(bench), releases, 'bench_echo'),
      'mcp-proxy': await connect(overHttp(rivals['mcp-proxy'] ?? ''), releases),
      supergateway: await connect(overHttp(rivals['supergateway'] ?? ''), releases),
    };
  }
  const url = await listen(() => [httpServer, 'streamableHttp'], releases);
  add(place, root, ['--url', url]);
  // mcp-proxy takes programs only, so that it has no part in this one.
  const supergateway = [programOf('supergateway'), ...quiet, '--streamableHttp', url];
  return {
    direct: await connect(overHttp(url), releases),
    through: await connect(overHttp(gate, bearer), releases, 'bench_echo'),
    'through, client on stdio': await connect(bridgeTo(bench), releases, 'bench_echo'),
    'supergateway, client on stdio': await connect(overStdio(supergateway), releases),
  };
}

let said = 0;

async function echo(client: Client, name: string): Promise<void> {
  said += 1;
  const text = `this is ${said}`;
  const { isError, content } = await client.callTool({ name, arguments: { text, message: text } });
  if (isError === true || !JSON.stringify(content).includes(text)) throw new Error(JSON.stringify(content));
}

function add(place: Place, checkout: string, options: readonly string[]): void {
  for (const args of [
    ['upstream', 'add', 'bench', '--yes', ...options],
    ['upstream', 'test', 'bench'],
    ['upstream', 'accept', 'bench', '--yes'],
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, program), ...args], {
      env: environmentOf(place),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stdout + stderr);
  }
}
