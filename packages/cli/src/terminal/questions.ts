import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { interrupted } from '../client/failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks the person at the terminal, one question after the other; what is typed ahead answers the next ones. While it is
 * open, Ctrl-C leaves the command instead of reaching the process, so it is to be closed before anything runs that
 * Ctrl-C should end.
 */
export class Questions implements Disposable {
  readonly #lines: Interface;
  readonly #typed: string[] = [];
  readonly #onEnd: () => void;
  #wake: () => void = () => undefined;
  #state: 'open' | 'ended' | 'left' = 'open';

  constructor(terminal: Terminal) {
    this.#lines = createInterface({ input: process.stdin, output: process.stdout });
    this.#lines.on('line', (line) => {
      this.#typed.push(line);
      this.#wake();
    });
    this.#lines.on('SIGINT', () => {
      this.#state = 'left';
      this.#wake();
    });
    this.#onEnd = () => {
      if (this.#state === 'open') this.#state = 'ended';
      terminal.print('');
      this.#wake();
    };
    this.#lines.once('close', this.#onEnd);
  }

  /** What was typed. Undefined at the end of input, and when the signal aborts. Ctrl-C throws. */
  async ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#state === 'open') {
      this.#lines.setPrompt(question);
      this.#lines.prompt();
    }
    const onAbort = (): void => this.#wake();
    signal?.addEventListener('abort', onAbort);
    try {
      for (;;) {
        if (this.#state === 'left') throw interrupted();
        const typed = this.#typed.shift();
        if (typed !== undefined || this.#state === 'ended' || signal?.aborted) return typed;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Only a plain yes is one. */
  async agrees(question: string): Promise<boolean> {
    return /^(y|yes)$/i.test((await this.ask(`${question} [y/N] `))?.trim() ?? '');
  }

  [Symbol.dispose](): void {
    this.#lines.off('close', this.#onEnd);
    this.#lines.close();
  }
}
