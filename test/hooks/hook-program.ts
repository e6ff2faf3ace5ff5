import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

export interface HookEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sallyport hook CLIENT` as a client does: the payload on standard input. */
export async function runHook(
  client: string,
  payload: object | string,
  environment: Readonly<Record<string, string>>,
  cwd = process.cwd(),
): Promise<HookEnd> {
  const child = spawn(process.execPath, [program, 'hook', client], {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...environment },
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { exitCode: await exited, stdout, stderr };
}
