import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { environmentOf, newPlace, TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { runSallyport } from '../test/harness/run-sallyport.ts';
import type { Budget } from './measure.ts';
import { installRivals, programOf } from './rivals/install-rivals.ts';
import { startListening } from './rivals/start-rival.ts';
import { percentile, timeEach } from './spawn-bench.ts';

const sallyport = join(import.meta.dirname, '../packages/cli/bin/sallyport.mjs');
const stdioServer = join(import.meta.dirname, '../test/mcp/upstream/stdio-server.mjs');
const httpServer = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const mostMoreMs = 5;
const manyInFlight = 16;
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
export function upstreamEcho(how: 'stdio' | 'http'): Budget {
  let ways: Ways;
  return {
    name: `MCP echo through the gate, upstream over ${how}`,
    bar: `p50 ≤ the same server direct + ${mostMoreMs} ms`,
    meets: (_ratio, { floor, subject }) => subject <= floor + mostMoreMs,
    setUp: async () => {
      await installRivals();
      const releases: Release[] = [];
      const release = async (): Promise<void> => {
        for (const each of releases.splice(0).reverse()) await each();
      };
      try {
        ways = await openWays(how, releases);
      } catch (error) {
        await release();
        throw error;
      }
      return release;
    },
    round: async (seconds) => {
      const times = await timeEach(ways, seconds / 2);
      const rates = await rateEach(ways, seconds / 2);
      const floor = percentile(times['direct'] ?? [], 50);
      const details: Record<string, number> = {};
      for (const [name, each] of Object.entries(times)) {
        details[`${name}: ms p50`] = percentile(each, 50);
        details[`${name}: times direct at p50`] = percentile(each, 50) / floor;
        details[`${name}: ms p99`] = percentile(each, 99);
        details[`${name}: calls/s, 1 in flight`] = (1000 * each.length) / each.reduce((sum, ms) => sum + ms, 0);
        details[`${name}: calls/s, ${manyInFlight} in flight`] = rates[name] ?? NaN;
      }
      return { floor, subject: percentile(times['through'] ?? [], 50), unit: 'ms p50, one at a time', details };
    },
  };
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

async function openWays(how: 'stdio' | 'http', releases: Release[]): Promise<Ways> {
  const place = liftLimits(newPlace());
  const rules = join(place.home, 'governance', 'tools.yaml');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^rules:\n/m, rule));
  const daemon = await TestDaemon.start(place);
  const stop = (): void => void daemon.process.kill('SIGTERM');
  process.once('exit', stop);
  releases.push(() => {
    process.off('exit', stop);
    return daemon.remove();
  });
  const connect = async (transport: Transport, tool = 'echo'): Promise<() => Promise<void>> => {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(transport);
    releases.push(() => client.close());
    return () => echo(client, tool);
  };
  const listen = async (argsFor: (port: number) => readonly string[]): Promise<string> => {
    const { url, close } = await startListening(argsFor);
    releases.push(close);
    return url;
  };
  const overHttp = (url: string | URL, headers: Record<string, string> = {}): Transport =>
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const overStdio = (args: readonly string[], env = environmentOf(place)): Transport =>
    new StdioClientTransport({ command: process.execPath, args: [...args], env, stderr: 'ignore' });

  const token = await daemon.newAgent('bench');
  const gate = new URL('/mcp', daemon.address);
  const bearer = { authorization: `Bearer ${token}` };
  const supergateway = [programOf('supergateway'), '--logLevel', 'none'];
  if (how === 'stdio') {
    const script = join(place.folder, 'server.mjs');
    chmodSync(place.folder, 0o755);
    cpSync(stdioServer, script);
    add(place, ['--read', script, '--', 'node', script]);
    const server = `${process.execPath} ${script}`;
    const proxy = await listen((port) => [
      programOf('mcp-proxy'),
      ...['--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--', process.execPath, script],
    ]);
    const other = await listen((port) => [
      ...[...supergateway, '--stdio', server, '--port', `${port}`],
      // Otherwise it starts a server for every request.
      ...['--outputTransport', 'streamableHttp', '--stateful'],
    ]);
    return {
      direct: await connect(overStdio([script])),
      through: await connect(overHttp(gate, bearer), 'bench_echo'),
      'mcp-proxy': await connect(overHttp(proxy)),
      supergateway: await connect(overHttp(other)),
    };
  }
  const url = await listen(() => [httpServer, 'streamableHttp']);
  add(place, ['--url', url]);
  // mcp-proxy takes programs only, so that it has no part in this one.
  return {
    direct: await connect(overHttp(url)),
    through: await connect(overHttp(gate, bearer), 'bench_echo'),
    'through, client on stdio': await connect(
      overStdio([sallyport, 'mcp'], environmentOf(place, { SALLYPORT_TOKEN: token })),
      'bench_echo',
    ),
    'supergateway, client on stdio': await connect(overStdio([...supergateway, '--streamableHttp', url])),
  };
}

let said = 0;

async function echo(client: Client, name: string): Promise<void> {
  said += 1;
  const text = `this is ${said}`;
  const { isError, content } = await client.callTool({ name, arguments: { text, message: text } });
  if (isError === true || !JSON.stringify(content).includes(text)) throw new Error(JSON.stringify(content));
}

function add(place: Place, options: readonly string[]): void {
  for (const args of [
    ['upstream', 'add', 'bench', '--yes', ...options],
    ['upstream', 'test', 'bench'],
    ['upstream', 'accept', 'bench', '--yes'],
  ]) {
    const { status, stdout, stderr } = runSallyport(place, args);
    if (status !== 0) throw new Error(stdout + stderr);
  }
}
