import type { CommandContext } from '../command-context.ts';
import { makeVisible, makeVisibleLine } from '../terminal/visible-text.ts';
import type { ApprovalNeedJson, ProgressJson } from '@sallyport/contract';

const quietMs = 1000;

/** Shows a person that a call goes on: what its program says as it comes, and otherwise how long it has been running. */
export class CallProgress implements Disposable {
  readonly #context: CommandContext;
  readonly #tool: string;
  readonly #startedAtMs = Date.now();
  readonly #ticking: NodeJS.Timeout;
  #state = 'is running';
  #step = '';
  #isMidLine = false;
  #stderr = '';

  constructor(tool: string, context: CommandContext) {
    this.#tool = tool;
    this.#context = context;
    this.#ticking = setInterval(() => this.#show(), quietMs);
  }

  hear({ stderr = '', message = '', done, total }: ProgressJson): void {
    const { terminal } = this.#context;
    this.#state = 'is running';
    if (stderr !== '') {
      terminal.progress('');
      this.#stderr += stderr;
      terminal.noteText(makeVisible(stderr));
      this.#isMidLine = !stderr.endsWith('\n');
    } else {
      this.#step = `${total === undefined ? '' : `${done ?? '0'} of ${total} `}${makeVisible(message)}`;
      this.#show();
    }
  }

  /** What the program wrote, which a person at this terminal has seen. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Says where somebody can decide, once: the line that counts the seconds is overwritten. */
  hearPending({ taskId = '', link = '' }: ApprovalNeedJson): void {
    const { terminal, commandName, json } = this.#context;
    this.#state = 'waits for a person';
    if (json) return;
    terminal.progress('');
    terminal.note(
      `${terminal.paintNote('yellow', 'Waits for a person')}  ${makeVisibleLine(this.#tool)}`,
      `  ${commandName} approvals approve ${makeVisibleLine(taskId)}`,
      ...(link === '' ? [] : [`  ${makeVisibleLine(link)}`]),
    );
    this.#show();
  }

  #show(): void {
    // A line that the program has not ended yet is not to be overwritten.
    if (this.#isMidLine || this.#context.json) return;
    const seconds = Math.round((Date.now() - this.#startedAtMs) / 1000);
    const step = this.#step === '' ? '' : `: ${this.#step}`;
    this.#context.terminal.progress(`${this.#tool} ${this.#state}, ${seconds} s${step} (Ctrl-C cancels)`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
    if (this.#isMidLine) this.#context.terminal.note('');
    else this.#context.terminal.progress('');
  }
}
