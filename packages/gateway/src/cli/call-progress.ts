import type { CommandContext } from './command-context.ts';
import { makeVisible } from './visible-text.ts';
import type { ProgressJson } from './wire-json.ts';

const quietMs = 1000;

/** Shows a person that a call goes on: what its program says as it comes, and otherwise how long it has been running. */
export class CallProgress implements Disposable {
  readonly #context: CommandContext;
  readonly #tool: string;
  readonly #startedAtMs = Date.now();
  readonly #ticking: NodeJS.Timeout;
  #step = '';
  #isMidLine = false;

  constructor(tool: string, context: CommandContext) {
    this.#tool = tool;
    this.#context = context;
    this.#ticking = setInterval(() => this.#show(), quietMs);
  }

  hear({ stderr = '', message = '', done, total }: ProgressJson): void {
    const { terminal } = this.#context;
    if (stderr !== '') {
      terminal.progress('');
      terminal.noteText(makeVisible(stderr));
      this.#isMidLine = !stderr.endsWith('\n');
    } else {
      this.#step = `${total === undefined ? '' : `${done ?? '0'} of ${total} `}${makeVisible(message)}`;
      this.#show();
    }
  }

  #show(): void {
    // A line that the program has not ended yet is not to be overwritten.
    if (this.#isMidLine || this.#context.json) return;
    const seconds = Math.round((Date.now() - this.#startedAtMs) / 1000);
    const step = this.#step === '' ? '' : `: ${this.#step}`;
    this.#context.terminal.progress(`${this.#tool} is running, ${seconds} s${step} (Ctrl-C cancels)`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
    if (this.#isMidLine) this.#context.terminal.note('');
    else this.#context.terminal.progress('');
  }
}
