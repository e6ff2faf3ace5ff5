import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { percentile } from './measure.ts';

const run = promisify(execFile);

export interface Load {
  /** Any host: the connection goes to `socket`. */
  readonly url: string;
  readonly socket: string;
  readonly protocol: 'http/1.1' | 'h2c';
  readonly bodyFile: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly inFlight: number;
  /** A number, not a duration: calls that a duration cuts off cost time and are counted nowhere. */
  readonly requests: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** A native load generator: one written in Node would measure itself. */
export async function generateLoad(load: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-load-'));
  const logFile = join(folder, 'requests');
  // HTTP/1.1 has one request a connection in flight; HTTP/2 carries them all over few.
  const clients = load.protocol === 'http/1.1' ? load.inFlight : Math.min(4, load.inFlight);
  const args = [
    `--no-tls-proto=${load.protocol}`,
    `--clients=${clients}`,
    `--max-concurrent-streams=${Math.max(1, Math.round(load.inFlight / clients))}`,
    '--threads=1',
    `--requests=${load.requests}`,
    `--data=${load.bodyFile}`,
    `--log-file=${logFile}`,
    ...Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    '-B',
    `unix:${load.socket}`,
    load.url,
  ];
  try {
    const { stdout } = await run('h2load', args, { maxBuffer: 1 << 24 });
    return read(stdout, readFileSync(logFile, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(summary: string, log: string): LoadResult {
  // Start, status, and microseconds until the end of the answer.
  const rows = log
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map(Number));
  const times = rows.filter(([, status]) => status === 200).map(([, , us = NaN]) => us);
  if (times.length === 0) throw new Error(`the load generator had no success:\n${summary}`);
  const perSecond = Number(/finished in [\d.]+\w+, ([\d.]+) req\/s/.exec(summary)?.[1] ?? NaN);
  return {
    perSecond: (perSecond * times.length) / rows.length,
    p50Us: percentile(times, 50),
    p99Us: percentile(times, 99),
    succeeded: times.length,
    failed: rows.length - times.length,
  };
}
