import type { ApprovalTask } from '../model/approval.ts';

/** What happened to a task. */
export type ApprovalNews = {
  readonly kind: 'pending' | 'reminder' | 'decided' | 'expired';
  readonly task: ApprovalTask;
};

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Tells whoever listens in this daemon what happens to approvals. What must survive a restart is in the store. */
export class ApprovalWatch {
  readonly #listeners = new Set<(news: ApprovalNews) => void>();

  tell(news: ApprovalNews): void {
    for (const listener of this.#listeners) listener(news);
  }

  /** Returns how to stop. A listener must not throw. */
  listen(listener: (news: ApprovalNews) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when somebody decides or nobody did in time; undefined when the wait or the caller ends before that. */
  awaitEnd(taskId: string, { timeoutMs, signal }: WaitOptions): Promise<ApprovalTask | undefined> {
    return new Promise((resolve) => {
      const finish = (task?: ApprovalTask): void => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener('abort', leave);
        resolve(task);
      };
      const leave = (): void => finish();
      const timer = setTimeout(finish, timeoutMs);
      const stop = this.listen(({ kind, task }) => {
        if (task.id === taskId && (kind === 'decided' || kind === 'expired')) finish(task);
      });
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }
}
