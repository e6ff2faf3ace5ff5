import type { AttemptCounter } from '../../audit/attempt-counter.ts';
import { KeyedLock } from '../../call/keyed-lock.ts';
import type { PastCall } from '../../call/verdict.ts';
import { filesWrite } from '../../catalogue/files/files-write.ts';
import { CallNetworks } from '../../execution/call-networks.ts';
import { openContent } from '../../execution/open-content.ts';
import { createToolContexts } from '../../execution/tool-context.ts';
import { buildGateway, buildRehearsal } from '../../gateway.ts';
import { LoopMemory } from '../../policy/judge/loop-memory.ts';
import { SessionHistory } from '../../policy/judge/session-history.ts';
import type { Turnstiles } from '../../stages/await-turn.ts';
import type { Store } from '../../storage/stores.ts';
import { watchSpace } from '../machine/space-gauge.ts';
import { openSubmit } from '../submit.ts';
import type { Submitting } from '../submit.ts';
import type { DaemonParts } from './daemon-parts.ts';
import type { StartingTools } from './starting-tools.ts';

export interface CallParts {
  readonly turnstiles: Turnstiles;
  readonly attempts: AttemptCounter;
  readonly starting: StartingTools;
}

const neverAborts = new AbortController().signal;

/** Puts together the way of a call: its gates, and what the tool behind them may use. */
export function openCalls(parts: DaemonParts, { turnstiles, attempts, starting }: CallParts): Submitting {
  const { home, store, registry, redactor, log, telemetry, content, secrets } = parts;
  const { executor, leavings, modes, organisation, approvals, anomalies } = parts;
  const networks = new CallNetworks();
  const createContext = createToolContexts({
    trashFolder: home.trashFolder,
    journal: store,
    programs: executor.programs,
    areLimitsWatched: () => executor.sandbox.explainWatched() !== undefined,
    writeTool: filesWrite.definition,
    sweeps: leavings.sweeps,
    networks,
    redact: redactor.redactText,
    traceparentOf: telemetry.traceparentOf,
    content: openContent(content, store),
    secrets,
  });
  const gateway = buildGateway({
    ...{ store, registry, redactor, turnstiles, attempts, createContext, networks, log },
    isStarting: starting.isStarting,
    currentRules: parts.currentRules,
    rulesFor: parts.rulesFor,
    loops: new LoopMemory(),
    history: new SessionHistory(readPastCalls(store)),
    keys: new KeyedLock(),
    space: watchSpace(home.folder),
    ...modes.forGateway,
    abuse: organisation.abuse,
    anomalies: anomalies.forGateway,
    sandbox: executor.sandbox,
    approvals: approvals.forGateway,
    results: { keep: (sessionId, bytes) => content.put({ sessionId, source: [bytes], signal: neverAborts }) },
    resultSeal: secrets.resultSeal(),
    events: telemetry.events,
    metrics: telemetry.metrics,
    tracer: telemetry.tracer,
  });
  const rehearsal = buildRehearsal(gateway, createContext);
  const { running } = modes;
  return openSubmit({ gateway, rehearsal, redactor, store, running, watch: approvals.watch });
}

/** What a session did before this daemon was started, for rules that ask about it: however much others did since. */
export function readPastCalls(store: Pick<Store, 'listToolUses'>): (sessionId: string) => Promise<readonly PastCall[]> {
  return async (sessionId) =>
    (await store.listToolUses(sessionId)).map(({ tool, lastMs }) => ({ tool, startedAtMs: lastMs }));
}
