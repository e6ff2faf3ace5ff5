import { NetworkLog } from '../network-log.ts';
import type { NetworkEvent, NetworkOutcome } from '../network-log.ts';
import { HostRefused, showTarget } from './host-refused.ts';

/** A program can send any number of requests, so they are reported in groups. */
const tellEveryMs = 50;

/** Counts what the gate did for a program, and reports it soon, also for a program that is killed or runs for days. */
export class EgressRecord {
  /** All requests so far. */
  readonly log = new NetworkLog();
  readonly #onEvents: (events: readonly NetworkEvent[]) => void;
  #untold = new NetworkLog();
  #timer: NodeJS.Timeout | undefined;
  #connections = 0;

  constructor(onEvents: (events: readonly NetworkEvent[]) => void) {
    this.#onEvents = onEvents;
  }

  /** Connections that were opened to granted hosts. */
  get connections(): number {
    return this.#connections;
  }

  countConnection(target: string): void {
    this.#connections += 1;
    this.#note('connected', target);
  }

  noteFailure(target: string, error: unknown): void {
    if (error instanceof HostRefused) this.#note('refused', error.target);
    else this.#note('unreachable', showTarget(target));
  }

  /** For a request without an acceptable host. Nothing else of it is kept, because it may contain anything. */
  noteBadRequest(url: string): void {
    const [, authority] = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#@]+)/i.exec(url) ?? [];
    this.#note('refused', authority === undefined ? 'unreadable request' : showTarget(authority));
  }

  noteLimit(target: string): void {
    this.#note('limited', target);
  }

  /** Reports what was not reported yet. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { events } = this.#untold;
    this.#untold = new NetworkLog();
    if (events.length > 0) this.#onEvents(events);
  }

  #note(outcome: NetworkOutcome, target: string): void {
    const event = { outcome, target, times: 1 };
    this.log.add(event);
    this.#untold.add(event);
    this.#timer ??= setTimeout(() => this.flush(), tellEveryMs).unref();
  }
}
