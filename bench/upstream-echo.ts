import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { liftLimits } from '../test/harness/lift-limits.ts';
import { runSallyport } from '../test/harness/run-sallyport.ts';
import type { Budget } from './measure.ts';
import { percentile, timeEach } from './spawn-bench.ts';

const stdioServer = join(import.meta.dirname, '../test/mcp/upstream/stdio-server.mjs');
const httpServer = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const mostMoreMs = 5;
const rule = `rules:
  - id: bench-server
    effect: allow
    tools: ['bench.*']
    origins: [upstream]
    approval: waived
`;

interface Bench {
  readonly callDirect: () => Promise<void>;
  readonly callThrough: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** An echo of an MCP server through the gate, with all gates and the durable log, against the same server direct. */
export function upstreamEcho(how: 'stdio' | 'http'): Budget {
  let bench: Bench;
  return {
    name: `MCP echo through the gate, upstream over ${how}`,
    bar: `p50 ≤ the same server direct + ${mostMoreMs} ms`,
    meets: (_ratio, { floor, subject }) => subject <= floor + mostMoreMs,
    setUp: async () => {
      bench = await openBench(how);
      return () => bench.close();
    },
    round: async (seconds) => {
      const { direct, through } = await timeEach({ direct: bench.callDirect, through: bench.callThrough }, seconds);
      return {
        floor: percentile(direct, 50),
        subject: percentile(through, 50),
        unit: 'ms p50, one at a time',
        details: { 'direct p99': percentile(direct, 99), 'through p99': percentile(through, 99) },
      };
    },
  };
}

async function openBench(how: 'stdio' | 'http'): Promise<Bench> {
  const place = liftLimits(newPlace());
  const rules = join(place.home, 'governance', 'tools.yaml');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^rules:\n/m, rule));
  const daemon = await TestDaemon.start(place);
  const server = how === 'stdio' ? prepareStdio(place) : await startHttp();
  add(place, server.options);
  const token = await daemon.newAgent('bench');
  const direct = new Client({ name: 'bench', version: '1' });
  await direct.connect(server.transport());
  const through = new Client({ name: 'bench', version: '1' });
  const url = new URL('/mcp', daemon.address);
  const authorization = `Bearer ${token}`;
  await through.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
  return {
    callDirect: () => echo(direct, 'echo'),
    callThrough: () => echo(through, 'bench_echo'),
    close: async () => {
      await Promise.all([direct.close(), through.close()]);
      await server.close();
      await daemon.remove();
    },
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

function prepareStdio(place: Place) {
  const script = join(place.folder, 'server.mjs');
  chmodSync(place.folder, 0o755);
  cpSync(stdioServer, script);
  return {
    options: ['--read', script, '--', 'node', script],
    transport: () => new StdioClientTransport({ command: process.execPath, args: [script] }),
    close: () => Promise.resolve(),
  };
}

async function startHttp() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const child = spawn(process.execPath, [httpServer, 'streamableHttp'], {
    env: { PORT: String(port), PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(child.stderr, 'data');
  child.stderr.resume();
  const url = `http://127.0.0.1:${port}/mcp`;
  return {
    options: ['--url', url],
    transport: () => new StreamableHTTPClientTransport(new URL(url)),
    close: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
