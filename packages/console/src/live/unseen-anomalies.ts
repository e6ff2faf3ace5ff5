import type { Anomaly } from '../daemon/messages.ts';
import { Observable } from './observable.ts';

export interface UnseenView {
  /** False until the daemon has said what nobody has seen. */
  readonly isLoaded: boolean;
  /** Oldest first, without their calls. */
  readonly unseen: readonly Anomaly[];
  /** Counts the news: what was listed before may be old. */
  readonly turn: number;
}

const showEveryMs = 250;

/** Anomalies that nobody has seen yet. */
export class UnseenAnomalies {
  readonly view = new Observable<UnseenView>({ isLoaded: false, unseen: [], turn: 0 });
  #known = new Map<string, Anomaly>();
  #isSettled = false;
  #showing: ReturnType<typeof setTimeout> | undefined;

  /** The daemon is about to tell all of them: what it leaves out was seen while nobody listened. */
  begin(): void {
    this.#known = new Map();
    this.#isSettled = false;
  }

  settle(): void {
    this.#isSettled = true;
    this.#show();
  }

  hear(event: string, anomaly: Anomaly): void {
    if (event === 'seen') this.#known.delete(anomaly.id);
    else this.#known.set(anomaly.id, anomaly);
    // Many at once are shown together.
    if (this.#isSettled) this.#showing ??= setTimeout(() => this.#show(), showEveryMs);
  }

  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    // A new stream has begun meanwhile.
    if (!this.#isSettled) return;
    this.view.set({ isLoaded: true, unseen: [...this.#known.values()], turn: this.view.get().turn + 1 });
  }
}
