import { HostRefused } from './host-refused.ts';

/** What the gate did for a call. Of each kind, each target is told once, and at most 20 of them. */
export interface EgressEvent {
  readonly kind: 'connected' | 'refused' | 'unreachable' | 'limited';
  /** `host:port`; for `limited`, which limit. */
  readonly target: string;
  /** Absent for `connected`. */
  readonly reason?: string;
}

const mostTargets = 20;

/** Counts and remembers, within bounds: a program can ask as often as it likes. */
export class EgressRecord {
  readonly #told: Record<EgressEvent['kind'], Set<string>> = {
    connected: new Set(),
    refused: new Set(),
    unreachable: new Set(),
    limited: new Set(),
  };
  readonly #onEvent: (event: EgressEvent) => void;
  #connections = 0;

  constructor(onEvent: (event: EgressEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Connections that were opened to granted hosts. */
  get connections(): number {
    return this.#connections;
  }

  get refusedHosts(): readonly string[] {
    return [...this.#told.refused];
  }

  countConnection(target: string): void {
    this.#connections += 1;
    this.#tell({ kind: 'connected', target });
  }

  noteFailure(target: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof HostRefused) this.#tell({ kind: 'refused', target: error.target, reason });
    else this.#tell({ kind: 'unreachable', target, reason });
  }

  noteLimit(target: string, reason: string): void {
    this.#tell({ kind: 'limited', target, reason });
  }

  #tell(event: EgressEvent): void {
    const told = this.#told[event.kind];
    if (told.size >= mostTargets || told.has(event.target)) return;
    told.add(event.target);
    this.#onEvent(event);
  }
}
