import { randomUUIDv7 } from 'node:crypto';
import type { Anomaly } from '../call/anomaly.ts';
import type { AnomalyPolicy } from '../call/verdict.ts';
import type { ToolDefinition } from '../call/tool.ts';
import type { AnomalyFilter, AnomalyProgress } from '../storage/stores.ts';
import { detectorOf } from './anomaly-detector.ts';
import { AnomalyWatch } from './anomaly-watch.ts';
import type { CallFact } from './call-fact.ts';

export const minuteMs = 60_000;

export function factOf(atMs: number, more: Partial<CallFact> = {}): CallFact {
  const base = { agent: 'ada', sessionId: 's', callId: randomUUIDv7(), tool: 'files.read', result: 'ok' } as const;
  return { ...base, failed: false, atMs, steadyMs: atMs, ...more };
}

export const definitionNamed = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  ({ name, aliases: [], audience: 'everyone', ...more }) as unknown as ToolDefinition;

/** Anomalies kept in memory, so that another watch can go on from there. */
export class KeptAnomalies {
  readonly all: Anomaly[] = [];

  readonly listAnomalies = ({ sinceMs = 0 }: AnomalyFilter) =>
    Promise.resolve(this.all.filter(({ lastAtMs }) => lastAtMs >= sinceMs).toReversed());

  readonly continueAnomalies = async (progress: readonly AnomalyProgress[]): Promise<void> => {
    for (const { id, ...more } of progress) {
      const at = this.all.findIndex((each) => each.id === id);
      this.all[at] = { ...(this.all[at] as Anomaly), ...more };
    }
  };
}

/** A watch at a time of its own, and what it raised: `agent detector time`. */
export function watching(policy: AnomalyPolicy, kept = new KeptAnomalies()) {
  const world = { nowMs: 0 };
  const raised: string[] = [];
  const watch = new AnomalyWatch({
    policy: () => policy,
    store: kept,
    raise: async (id, { kind, detail, fact, calls }) => {
      raised.push(`${fact.agent} ${detectorOf({ kind, detail })} ${fact.atMs}`);
      kept.all.push({
        ...{ id, kind, detail, agent: fact.agent, sessionId: fact.sessionId },
        ...{ beganAtMs: fact.atMs, lastAtMs: fact.atMs, sightings: 1, done: [], senior: '' },
        summary: '' as Anomaly['summary'],
        calls: calls.map(({ callId, atMs, result }) => ({ callId, atMs, result, tool: '' as Anomaly['summary'] })),
      });
      return false;
    },
    onFault: (error) => {
      throw error;
    },
    steadyMs: () => world.nowMs,
    nowMs: () => world.nowMs,
  });
  const note = (...facts: readonly CallFact[]): void => {
    for (const fact of facts) {
      world.nowMs = fact.atMs;
      watch.note(fact);
    }
  };
  return { watch, raised, note, kept, world };
}
