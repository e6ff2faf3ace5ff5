import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Launch } from './launch.ts';
import { withResolvers } from '../with-resolvers.ts';

/** Missing from `fs.constants`, and the same number on every Linux. */
const O_PATH = 0o10000000;
const maxOutputBytes = 256 * 1024;

export interface LaunchEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a launch without limits or control group, to try the sandbox itself: programs of calls go through the spawner.
 * Rejects when nothing could be started or it took too long; then nothing is left running.
 */
export async function runLaunch(launch: Launch, options: { readonly timeoutMs: number }): Promise<LaunchEnd> {
  const opened: number[] = [];
  let child: ChildProcess;
  try {
    const more = launch.descriptors.map((descriptor) => {
      if (descriptor.kind !== 'path') return 'pipe' as const;
      const fd = openUnlinked(descriptor.path);
      opened.push(fd);
      return fd;
    });
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', ...more];
    child = spawn(launch.file, launch.args, { cwd: '/', env: launch.environment, stdio, ...launch.user });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
  return attend(child, launch, options.timeoutMs);
}

async function attend(child: ChildProcess, launch: Launch, timeoutMs: number): Promise<LaunchEnd> {
  const { promise, resolve, reject } = withResolvers<LaunchEnd>();
  // A sandbox that gives up leaves pipes unread, which is no failure of its own.
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  launch.descriptors.forEach((descriptor, index) => {
    const stream = child.stdio[3 + index];
    if (descriptor.kind === 'bytes') (stream as Writable).end(descriptor.bytes);
    if (descriptor.kind === 'release') (stream as Writable).end('\n');
    if (descriptor.kind === 'status') (stream as Readable).resume();
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    reject(new Error(`it did not end within ${timeoutMs} ms`));
  }, timeoutMs);
  child.once('error', reject);
  child.once('close', (exitCode) => resolve({ exitCode, stdout: stdout(), stderr: stderr() }));
  return promise.finally(() => clearTimeout(timer));
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxOutputBytes) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString();
}

function openUnlinked(path: string): number {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  // A link on the way shows in the kernel's own name for what is open, and one at the end is open itself.
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new Error(`${path} changed while it was opened`);
}
