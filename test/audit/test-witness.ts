import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../packages/log/src/main.ts');

/** A witness in a process of its own, as it runs on another machine. */
export class TestWitness {
  readonly key: string;
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(key: string, url: string, child: ChildProcess, folder: string) {
    this.key = key;
    this.url = url;
    this.#process = child;
    this.#folder = folder;
  }

  /** `logKey`: the public key of the log, or the file that holds it. */
  static async start(logKey: string): Promise<TestWitness> {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-witness-'));
    const args = ['witness', folder, '--name', 'w.example', '--log', logKey, '--listen', '127.0.0.1:0'];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const [, key = '', url = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
      const read = (data: Buffer): void => {
        said += data.toString();
        const found = /Key: (\S+)\nWitnessing \S+ at (\S+)\n/.exec(said);
        if (found !== null) resolve(found);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => reject(new Error(`the witness ended: ${said}`)));
    });
    return new TestWitness(key, url, child, folder);
  }

  async remove(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
