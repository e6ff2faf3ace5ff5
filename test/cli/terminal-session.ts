import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { environmentOf } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

/** For a test that would otherwise never end. */
const patienceMs = 60_000;

/** The command line at a real terminal of 80 columns, with someone who reads and types. */
export class TerminalSession {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  #screen = '';
  #seen = 0;

  constructor(place: Place, args: readonly string[], environment: Record<string, string> = {}) {
    const quoted = [process.execPath, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const command = `stty cols 80 rows 24; exec ${quoted.join(' ')}`;
    this.#child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...environmentOf(place), TERM: 'xterm', SHELL: '/bin/sh', ...environment },
      cwd: place.folder,
    });
    this.#child.stdout.on('data', (data: Buffer) => (this.#screen += data.toString('utf8')));
    this.#ended = once(this.#child, 'exit');
  }

  /** Everything written so far, with the line ends of a file. */
  get screen(): string {
    return this.#screen.replaceAll('\r\n', '\n');
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Resolves when the text has appeared after what was waited for before. */
  async waitFor(text: string): Promise<void> {
    for (;;) {
      const at = this.#screen.indexOf(text, this.#seen);
      if (at >= 0) {
        this.#seen = at + text.length;
        return;
      }
      const late = AbortSignal.timeout(patienceMs);
      const more = await Promise.race([
        once(this.#child.stdout, 'data', { signal: late }).catch(() => undefined),
        this.#ended.then(() => undefined),
      ]);
      if (more === undefined && !this.#screen.includes(text, this.#seen)) {
        const how = late.aborted ? 'went on' : 'ended';
        throw new Error(`the command ${how} without showing ${JSON.stringify(text)}:\n${this.#screen}`);
      }
    }
  }

  async exitCode(): Promise<number | null> {
    await this.#ended;
    this.#child.stdin.destroy();
    return this.#child.exitCode;
  }

  /** For a test that failed half way. */
  kill(): void {
    this.#child.stdin.destroy();
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
  }
}
