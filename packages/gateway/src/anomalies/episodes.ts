import type { AnomalyProgress } from '../storage/stores.ts';

/** An anomaly that goes on. */
export interface Episode {
  readonly id: string;
  lastSteadyMs: number;
  lastAtMs: number;
  sightings: number;
  /** It raised the mode. */
  raisedMode: boolean;
  /** The store does not know yet how it went on. */
  isChanged: boolean;
}

/** More than so many go on at once only if somebody makes agents without end; then the oldest are forgotten. */
const mostEpisodes = 50_000;

/** Which anomalies go on now, by agent and detector. In memory; how they go on is noted in the store from time to time. */
export class Episodes {
  readonly #episodes = new Map<string, Episode>();

  /** One that is over is not found. */
  find(agent: string, detector: string, steadyMs: number, quietMs: number): Episode | undefined {
    const key = keyOf(agent, detector);
    const episode = this.#episodes.get(key);
    if (episode === undefined || steadyMs - episode.lastSteadyMs < quietMs) return episode;
    if (episode.isChanged) this.#ended.push(progressOf(episode));
    this.#episodes.delete(key);
    return undefined;
  }

  readonly #ended: AnomalyProgress[] = [];

  begin(agent: string, detector: string, episode: Pick<Episode, 'id' | 'lastSteadyMs' | 'lastAtMs'>): Episode {
    const begun: Episode = { ...episode, sightings: 1, raisedMode: false, isChanged: false };
    const [oldest] = this.#episodes.size >= mostEpisodes ? this.#episodes.keys() : [];
    if (oldest !== undefined) this.#episodes.delete(oldest);
    this.#episodes.set(keyOf(agent, detector), begun);
    return begun;
  }

  /** It could not be recorded: the next sighting begins it anew. */
  drop(agent: string, detector: string, episode: Episode): void {
    const key = keyOf(agent, detector);
    if (this.#episodes.get(key) === episode) this.#episodes.delete(key);
  }

  /** Forgets those that are over, and returns what the store does not know yet. */
  sweep(steadyMs: number, quietMs: number): readonly AnomalyProgress[] {
    const changed = this.#ended.splice(0);
    for (const [key, episode] of this.#episodes) {
      if (episode.isChanged) changed.push(progressOf(episode));
      episode.isChanged = false;
      if (steadyMs - episode.lastSteadyMs >= quietMs) this.#episodes.delete(key);
    }
    return changed;
  }

  /** Whether one goes on for which the mode was raised. */
  hold(steadyMs: number, quietMs: number): boolean {
    return this.#episodes.values().some(({ raisedMode, lastSteadyMs }) => {
      return raisedMode && steadyMs - lastSteadyMs < quietMs;
    });
  }
}

function progressOf({ id, lastAtMs, sightings }: Episode): AnomalyProgress {
  return { id, lastAtMs, sightings };
}

/** Names of agents have no line ends. */
function keyOf(agent: string, detector: string): string {
  return `${agent}\n${detector}`;
}
