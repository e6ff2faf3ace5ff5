import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { writeSdkRuntime } from '../../packages/gateway/src/programs/run/sdk-runtime.ts';

/** A folder for programs, in which the SDK is found as in the sandbox: built, below node_modules. */
export class ToolFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'sallyport-tools-'));

  constructor() {
    const scope = join(this.path, 'node_modules', '@sallyport');
    mkdirSync(scope, { recursive: true });
    symlinkSync(writeSdkRuntime(join(this.path, 'sdk')), join(scope, 'sdk'));
  }

  /** Writes an executable file and returns its path. */
  add(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Runs a program the way the gate does: by its own first line, with little more than a PATH. */
export function runFile(file: string, args: readonly string[] = [], input: string | Uint8Array = '') {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    input,
    // Tools in TypeScript find the Node that runs the tests.
    env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), LANG: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** The answer to one call that must succeed. */
export function askFile(file: string, input: object): unknown {
  const { status, stdout, stderr } = runFile(file, [], JSON.stringify(input));
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
