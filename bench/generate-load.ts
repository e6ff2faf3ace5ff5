import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Load {
  /** `http://127.0.0.1:4780/path`, or with `socket` any host. */
  readonly url: string;
  /** Path of a unix socket to connect to instead of the host of `url`. */
  readonly socket?: string;
  readonly protocol: 'http/1.1' | 'h2c';
  readonly bodyFile: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly inFlight: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly meanMs: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** A native load generator: one written in Node would measure itself. */
export async function generateLoad(load: Load): Promise<LoadResult> {
  installGenerator();
  // HTTP/1.1 has one request a connection in flight; HTTP/2 carries them all over few.
  const clients = load.protocol === 'http/1.1' ? load.inFlight : Math.min(4, load.inFlight);
  const args = [
    `--no-tls-proto=${load.protocol}`,
    `--clients=${clients}`,
    `--max-concurrent-streams=${Math.max(1, Math.round(load.inFlight / clients))}`,
    '--threads=1',
    `--duration=${load.seconds}`,
    `--data=${load.bodyFile}`,
    ...Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(load.socket === undefined ? [] : ['-B', `unix:${load.socket}`]),
    load.url,
  ];
  const { stdout } = await run('h2load', args, { maxBuffer: 1 << 24 });
  const perSecond = Number(/finished in [\d.]+\w+, ([\d.]+) req\/s/.exec(stdout)?.[1] ?? NaN);
  const counts = /(\d+) succeeded, (\d+) failed/.exec(stdout);
  const status = /status codes: (\d+) 2xx/.exec(stdout);
  const mean = /time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)/.exec(stdout);
  const scale = { us: 0.001, ms: 1, s: 1000 }[mean?.[2] ?? 'ms'] ?? 1;
  const succeeded = Math.min(Number(counts?.[1] ?? 0), Number(status?.[1] ?? 0));
  if (succeeded === 0) throw new Error(`the load generator had no success:\n${stdout}`);
  return { perSecond, meanMs: Number(mean?.[1] ?? NaN) * scale, succeeded, failed: Number(counts?.[2] ?? 0) };
}

function installGenerator(): void {
  if (spawnSync('h2load', ['--version']).status === 0) return;
  if (process.getuid?.() !== 0)
    throw new Error('h2load is missing; install it with: sudo apt-get install nghttp2-client');
  execFileSync('apt-get', ['install', '-y', '-qq', 'nghttp2-client'], { stdio: 'ignore' });
}
