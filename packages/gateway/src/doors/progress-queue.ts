import type { Progress } from '../call/tool.ts';

/** Progress as the wire says it. */
export interface ProgressMessage {
  readonly stderr?: string;
  readonly done?: bigint;
  readonly total?: bigint;
  readonly message?: string;
}

/** What happens while a caller waits for an answer. */
export type CallNews =
  | { readonly case: 'progress'; readonly value: ProgressMessage }
  | { readonly case: 'pending'; readonly value: { readonly taskId: string; readonly link: string } };

const mostWaitingCharacters = 256 * 1024;
const dropped = '[output dropped: the reader is too slow]\n';

/**
 * What a running call tells, for a reader who may be slow. Progress is no result: what a slow reader leaves lying is
 * dropped, and said to be, rather than kept without bound or made to hold up the call.
 */
export class ProgressQueue implements AsyncIterable<CallNews> {
  #pending: CallNews | undefined;
  #stderr = '';
  #step: ProgressMessage | undefined;
  #ended = false;
  #wake: () => void = () => undefined;

  tell(progress: Progress): void {
    if (progress.kind === 'step') {
      const { done, total = 0, message } = progress;
      this.#step = { done: BigInt(done), total: BigInt(total), message };
    } else if (this.#stderr.length + progress.text.length <= mostWaitingCharacters) {
      this.#stderr += progress.text;
    } else if (!this.#stderr.endsWith(dropped)) {
      this.#stderr += dropped;
    }
    this.#wake();
  }

  /** The call waits for a person, who decides there. */
  tellPending(taskId: string, link: string): void {
    this.#pending = { case: 'pending', value: { taskId, link } };
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CallNews> {
    for (;;) {
      const { pending, stderr, step } = { pending: this.#pending, stderr: this.#stderr, step: this.#step };
      this.#pending = undefined;
      this.#stderr = '';
      this.#step = undefined;
      if (pending !== undefined) yield pending;
      if (stderr !== '') yield { case: 'progress', value: { stderr } };
      if (step !== undefined) yield { case: 'progress', value: step };
      if (pending !== undefined || stderr !== '' || step !== undefined) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
