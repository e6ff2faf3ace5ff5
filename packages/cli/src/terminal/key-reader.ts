import { StoppedByPerson } from '../client/failure.ts';
import { Questions } from './questions.ts';
import type { Terminal } from './terminal.ts';

const interruptKey = '\u0003';
const endKey = '\u0004';

/** Reads single keys from a person at the terminal. One reader at a time; must be closed. */
export class KeyReader implements Disposable {
  readonly #waiting: ((key: string) => void)[] = [];
  readonly #terminal: Terminal;
  readonly #onData = (data: Buffer): void => this.#take(data.toString('utf8'));

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#listen();
  }

  /** The next key that is pressed from now on: keys pressed before nobody waited for are gone. `q` for Ctrl-C. */
  next(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const finish = (key?: string): void => {
        const at = this.#waiting.indexOf(finish);
        if (at >= 0) this.#waiting.splice(at, 1);
        signal.removeEventListener('abort', leave);
        resolve(key);
      };
      const leave = (): void => finish();
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(finish);
      if (signal.aborted) leave();
    });
  }

  /** A line of text. Undefined: the person thought better of it. */
  async ask(question: string): Promise<string | undefined> {
    this.#stop();
    const questions = new Questions(this.#terminal);
    try {
      return (await questions.ask(question))?.trim() || undefined;
    } catch (error) {
      if (error instanceof StoppedByPerson) return undefined;
      throw error;
    } finally {
      questions[Symbol.dispose]();
      this.#listen();
    }
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #listen(): void {
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#onData);
    process.stdin.resume();
  }

  #stop(): void {
    process.stdin.off('data', this.#onData);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }

  /** What is pasted is no decision: of several keys at once none counts. */
  #take(keys: string): void {
    const key = keys === interruptKey || keys === endKey ? 'q' : [...keys].length === 1 ? keys : '';
    for (const finish of this.#waiting.slice()) finish(key);
  }
}
