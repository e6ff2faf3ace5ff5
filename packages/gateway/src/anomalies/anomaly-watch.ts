import { randomUUIDv7 } from 'node:crypto';
import type { AnomalyPolicy } from '../call/verdict.ts';
import type { AnomalyRepository } from '../storage/stores.ts';
import { AnomalyDetector, detectorOf } from './anomaly-detector.ts';
import type { Sighting } from './anomaly-detector.ts';
import type { CallFact } from './call-fact.ts';
import { Episodes } from './episodes.ts';
import type { Episode } from './episodes.ts';

export interface AnomalyWatchParts {
  /** The one in force; another object when it has changed. */
  readonly policy: () => AnomalyPolicy;
  readonly store: Pick<AnomalyRepository, 'listAnomalies' | 'continueAnomalies'>;
  /** An episode begins: records it, tells people and does what the policy says. Resolves with whether the mode was raised. */
  readonly raise: (id: string, sighting: Sighting, policy: AnomalyPolicy) => Promise<boolean>;
  readonly onFault: (error: unknown) => void;
  /** Absent: the process's own. */
  readonly steadyMs?: () => number;
  readonly nowMs?: () => number;
}

/** How often the store learns how episodes go on. Shorter than any of them lasts. */
const noteEveryMs = 15_000;
/** So many calls are looked at before others get their turn. */
const atOnce = 1000;
const mostRestored = 10_000;

/** Looks at calls after they were answered, and begins an episode once for all that belongs to it. */
export class AnomalyWatch {
  readonly #parts: AnomalyWatchParts;
  readonly #steadyMs: () => number;
  readonly #nowMs: () => number;
  readonly #episodes = new Episodes();
  readonly #raising = new Set<Promise<void>>();
  #policy: AnomalyPolicy;
  #detector: AnomalyDetector;
  #unread: CallFact[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AnomalyWatchParts) {
    this.#parts = parts;
    this.#steadyMs = parts.steadyMs ?? (() => performance.now());
    this.#nowMs = parts.nowMs ?? Date.now;
    this.#policy = parts.policy();
    this.#detector = this.#openDetector();
  }

  /** Takes over a fact and returns at once. */
  note(fact: CallFact): void {
    this.#unread.push(fact);
    if (this.#unread.length === 1) setImmediate(() => this.#read());
  }

  /** Goes on with the episodes that went on when the last daemon stopped, however it stopped. */
  async start(): Promise<void> {
    const { quietMs } = this.#parts.policy();
    const [nowMs, steadyMs] = [this.#nowMs(), this.#steadyMs()];
    // They went on for as long as nobody noted it, at the most.
    const sinceMs = nowMs - quietMs - noteEveryMs;
    for (const anomaly of await this.#parts.store.listAnomalies({ sinceMs, limit: mostRestored })) {
      const lastAtMs = Math.min(nowMs, anomaly.lastAtMs + noteEveryMs);
      const detector = detectorOf(anomaly);
      const lastSteadyMs = steadyMs - (nowMs - lastAtMs);
      // The newest come first.
      if (this.#episodes.find(anomaly.agent, detector, steadyMs, quietMs) !== undefined) continue;
      const episode = this.#episodes.begin(anomaly.agent, detector, { id: anomaly.id, lastSteadyMs, lastAtMs });
      episode.sightings = anomaly.sightings;
      episode.raisedMode = anomaly.done.includes('raise_mode');
    }
    this.#timer = setInterval(() => void this.noteProgress(), noteEveryMs).unref();
  }

  /** Whether an episode goes on for which the mode was raised. */
  holdsMode(): boolean {
    return this.#episodes.hold(this.#steadyMs(), this.#policy.quietMs);
  }

  /** Resolves when all that was noted so far is looked at and recorded. */
  async settle(): Promise<void> {
    while (this.#unread.length > 0) this.#read();
    while (this.#raising.size > 0) await Promise.all(this.#raising);
  }

  async noteProgress(): Promise<void> {
    const { store, onFault } = this.#parts;
    const progress = this.#episodes.sweep(this.#steadyMs(), this.#policy.quietMs);
    if (progress.length > 0) await store.continueAnomalies(progress).catch(onFault);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.settle();
    await this.noteProgress();
  }

  #read(): void {
    const policy = this.#parts.policy();
    if (policy !== this.#policy) {
      this.#policy = policy;
      this.#detector = this.#openDetector();
    }
    const facts = this.#unread.length <= atOnce ? this.#unread : this.#unread.slice(0, atOnce);
    this.#unread = this.#unread.slice(facts.length);
    if (this.#unread.length > 0) setImmediate(() => this.#read());
    for (const fact of facts) for (const sighting of this.#detector.look(fact)) this.#see(sighting);
  }

  #see(sighting: Sighting): void {
    const { agent, atMs, steadyMs } = sighting.fact;
    const detector = detectorOf(sighting);
    const ongoing = this.#episodes.find(agent, detector, steadyMs, this.#policy.quietMs);
    if (ongoing !== undefined) {
      ongoing.lastSteadyMs = Math.max(ongoing.lastSteadyMs, steadyMs);
      ongoing.lastAtMs = atMs;
      ongoing.sightings++;
      ongoing.isChanged = true;
      return;
    }
    const id = randomUUIDv7();
    const episode = this.#episodes.begin(agent, detector, { id, lastSteadyMs: steadyMs, lastAtMs: atMs });
    const raising = this.#raise(episode, sighting);
    this.#raising.add(raising);
    void raising.finally(() => this.#raising.delete(raising));
  }

  async #raise(episode: Episode, sighting: Sighting): Promise<void> {
    const { raise, onFault } = this.#parts;
    try {
      episode.raisedMode = await raise(episode.id, sighting, this.#policy);
    } catch (error) {
      this.#episodes.drop(sighting.fact.agent, detectorOf(sighting), episode);
      onFault(error);
    }
  }

  #openDetector(): AnomalyDetector {
    return new AnomalyDetector(this.#policy, (agent, detector, steadyMs) => {
      return this.#episodes.find(agent, detector, steadyMs, this.#policy.quietMs) !== undefined;
    });
  }
}
