import { AnomalyService, dropUndefined, spellCount } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { anomalyKinds } from '../call/anomaly.ts';
import type { Anomaly } from '../call/anomaly.ts';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import type { AnomalyRepository } from '../storage/stores.ts';
import type { AnomalyNewsWatch } from './anomaly-news.ts';
import { describeAnomaly } from './describe-anomaly.ts';
import * as schema from '../registry/schemas/schema.ts';

export interface AnomalyToolParts {
  readonly store: Pick<AnomalyRepository, 'listAnomalies' | 'findAnomaly' | 'acknowledgeAnomaly'>;
  readonly news: AnomalyNewsWatch;
  /** Has the store know how anomalies have gone on until now. */
  readonly noteProgress: () => Promise<void>;
  /** Undefined: none is named. */
  readonly seniorOf: (agent: string) => string | undefined;
}

const dayMs = 86_400_000;
const reportedDays = 7;
const mostReported = 500;
const anomalyProperty = schema.id('As anomalies.list shows it.');
const sinceProperty = schema.count('Only those that went on at this time or later, in milliseconds since 1970.');

/** Looking at what was out of the ordinary. For operators, in every mode. */
export function anomalyTools(parts: AnomalyToolParts): readonly AnyTool[] {
  return [listTool(parts), showTool(parts), acknowledgeTool(parts), reportTool(parts)];
}

function listTool({ store, noteProgress }: AnomalyToolParts) {
  return defineOperatorTool({
    name: 'anomalies.list',
    description: 'Lists what was out of the ordinary in the calls of agents, newest first.',
    mutates: false,
    properties: {
      agent: schema.string('Only of this agent.', { minLength: 1, maxLength: 128 }),
      kind: { enum: anomalyKinds },
      session_id: schema.id('Only of this session.'),
      since_ms: sinceProperty,
      unseen: schema.flag('Only those that nobody has seen.'),
      after: schema.id('Only those after this one in the list.'),
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    },
    answers: AnomalyService.method.listAnomalies,
    argumentsOf: ({ since_ms: since, limit = 50, ...filters }) => ({
      ...filters,
      ...readSince(since),
      limit: Math.min(Number(limit), 200),
    }),
    run: async ({ session_id: sessionId, since_ms: sinceMs, limit, ...filters }) => {
      await noteProgress();
      const found = await store.listAnomalies({
        ...filters,
        ...dropUndefined({ sessionId, sinceMs }),
        limit: limit + 1,
      });
      const anomalies = found.slice(0, limit).map((anomaly) => describeAnomaly({ ...anomaly, calls: [] }));
      return { anomalies, more: found.length > limit };
    },
    summarize: (_args, { anomalies }) => spellCount(anomalies.length, 'anomaly', 'anomalies'),
  });
}

function showTool({ store, noteProgress }: AnomalyToolParts) {
  return defineOperatorTool({
    name: 'anomalies.show',
    description: 'Shows one anomaly with the calls behind it and what was done.',
    mutates: false,
    properties: { anomaly_id: anomalyProperty },
    required: ['anomaly_id'],
    answers: AnomalyService.method.getAnomaly,
    argumentsOf: ({ id }) => ({ anomaly_id: id }),
    run: async ({ anomaly_id: id }) => {
      await noteProgress();
      return { anomaly: describeAnomaly(known(await store.findAnomaly(id), id)) };
    },
    summarize: ({ anomaly_id: id }) => `showed anomaly ${id}`,
  });
}

function acknowledgeTool({ store, news }: AnomalyToolParts) {
  return defineOperatorTool({
    name: 'anomalies.acknowledge',
    description: 'Says that you have seen an anomaly. The first person stays on record.',
    mutates: true,
    risk: 'low',
    idempotent: true,
    properties: { anomaly_id: anomalyProperty },
    required: ['anomaly_id'],
    answers: AnomalyService.method.acknowledgeAnomaly,
    argumentsOf: ({ id }) => ({ anomaly_id: id }),
    run: async ({ anomaly_id: id }, { session }) => {
      const anomaly = known(await store.acknowledgeAnomaly(id, session.agent, Date.now()), id);
      news.tell({ kind: 'seen', anomaly });
      return { anomaly: describeAnomaly(anomaly) };
    },
    summarize: ({ anomaly_id: id }) => `saw anomaly ${id}`,
  });
}

function reportTool({ store, seniorOf, noteProgress }: AnomalyToolParts) {
  return defineOperatorTool({
    name: 'anomalies.report',
    description: 'Reports what was out of the ordinary, agent by agent, with the calls behind it and what was done.',
    mutates: false,
    properties: { since_ms: { ...sinceProperty, description: `${sinceProperty.description} Absent: a week ago.` } },
    answers: AnomalyService.method.reportAnomalies,
    argumentsOf: ({ since_ms: since }) => readSince(since),
    run: async ({ since_ms: since }) => {
      const toMs = Date.now();
      const fromMs = since ?? toMs - reportedDays * dayMs;
      await noteProgress();
      const found = await store.listAnomalies({ sinceMs: fromMs, limit: mostReported + 1 });
      const byAgent = Map.groupBy(found.slice(0, mostReported).toReversed(), ({ agent }) => agent);
      const agents = [...byAgent]
        .map(([agent, anomalies]) => ({
          agent,
          senior: seniorOf(agent) ?? '',
          anomalies: anomalies.map(describeAnomaly),
        }))
        .sort((a, b) => b.anomalies.length - a.anomalies.length);
      return { fromMs: String(fromMs), toMs: String(toMs), agents, cut: found.length > mostReported };
    },
    summarize: (_args, { agents }) => `reported ${spellCount(agents.length, 'agent')}`,
  });
}

function readSince(since: Json | undefined): { readonly since_ms?: number } {
  return since === undefined ? {} : { since_ms: Number(since) };
}

function known(anomaly: Anomaly | undefined, id: string): Anomaly {
  if (anomaly !== undefined) return anomaly;
  throw new ToolFailure('NOT_FOUND', `There is no anomaly ${id}.`, {
    forOperators: '`sallyport anomalies list` shows them.',
  });
}
