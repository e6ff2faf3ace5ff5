import { countEnding } from './closers/count-ending.ts';
import { noticeAnomalies } from './closers/notice-anomalies.ts';
import type { AnomalyParts } from './closers/notice-anomalies.ts';
import { recordOutcome } from './closers/record-outcome.ts';
import { releaseHolds } from './closers/release-holds.ts';
import { reportAbuse } from './closers/report-abuse.ts';
import type { AbuseReports } from './closers/report-abuse.ts';
import { reportEnding } from './closers/report-ending.ts';
import type { AttemptCounter } from './audit/attempt-counter.ts';
import type { Redactor } from './redaction/redact.ts';
import type { CallNetworks } from './execution/call-networks.ts';
import type { ToolContextFactory } from './execution/tool-context.ts';
import type { SessionHistory } from './policy/judge/session-history.ts';
import type { LoopMemory } from './policy/judge/loop-memory.ts';
import type { Begun, Chained } from './call/call.ts';
import type { Rules } from './call/verdict.ts';
import type { CallGauge } from './modes/call-gauge.ts';
import type { ModeGate } from './modes/mode-refusal.ts';
import type { KeyedLock } from './call/keyed-lock.ts';
import { StageLine } from './call/stage-line.ts';
import type { ResultSeal } from './secrets/result-seal.ts';
import type { Registry } from './registry/registry.ts';
import { admitCall } from './stages/admit-call.ts';
import { awaitTurn } from './stages/await-turn.ts';
import type { Turnstiles } from './stages/await-turn.ts';
import { breakLoop } from './stages/break-loop.ts';
import { checkArguments } from './stages/check-arguments.ts';
import { checkLease } from './stages/check-lease.ts';
import { checkLimits } from './stages/check-limits.ts';
import type { LimitCircumstances, SpaceGauge } from './stages/check-limits.ts';
import { checkMode } from './stages/check-mode.ts';
import { checkPermission } from './stages/check-permission.ts';
import { checkSandbox } from './stages/check-sandbox.ts';
import type { SandboxState } from './stages/check-sandbox.ts';
import { checkResult } from './stages/check-result.ts';
import { compareResult } from './stages/compare-result.ts';
import { confirmStanding } from './stages/confirm-standing.ts';
import { decodeCall } from './stages/decode-call.ts';
import { executeTool } from './stages/execute-tool.ts';
import { judgeCall } from './stages/judge-call.ts';
import type { RulesFor } from './stages/judge-call.ts';
import { openSession } from './stages/open-session.ts';
import { previewCall } from './stages/preview-effect.ts';
import { readArguments } from './stages/read-arguments.ts';
import { reportStart } from './stages/report-start.ts';
import { resolveTool } from './stages/resolve-tool.ts';
import { reuseResult } from './stages/reuse-result.ts';
import { seekApproval } from './stages/seek-approval.ts';
import type { ApprovalParts } from './stages/approval/approval-parts.ts';
import { storeContent } from './stages/store-content.ts';
import type { ResultStore } from './stages/store-content.ts';
import type { Store } from './storage/stores.ts';
import type { CallEvents } from './telemetry/call-events.ts';
import type { EventLog } from './telemetry/event-log.ts';
import type { CallMetrics } from './telemetry/metrics/call-metrics.ts';
import type { Tracer } from './telemetry/tracer.ts';

export interface GatewayParts {
  readonly store: Store;
  readonly registry: Registry;
  /** Whether an accepted tool of this name is not there yet, because the daemon has just started. */
  readonly isStarting: (toolName: string) => boolean;
  readonly currentRules: () => Rules;
  readonly rulesFor: RulesFor;
  readonly redactor: Redactor;
  readonly history: SessionHistory;
  readonly loops: LoopMemory;
  readonly keys: KeyedLock;
  readonly turnstiles: Turnstiles;
  readonly space: SpaceGauge;
  readonly modes: ModeGate & LimitCircumstances;
  readonly calls: CallGauge;
  readonly abuse: AbuseReports;
  readonly anomalies: AnomalyParts;
  readonly sandbox: SandboxState;
  readonly results: ResultStore;
  readonly resultSeal: ResultSeal;
  readonly approvals: ApprovalParts;
  readonly attempts: AttemptCounter;
  readonly createContext: ToolContextFactory;
  readonly networks: CallNetworks;
  readonly log: EventLog;
  readonly events: CallEvents;
  readonly metrics: CallMetrics;
  /** Absent: nobody wants spans. */
  readonly tracer?: Tracer | undefined;
}

/** The one way in: every call, from every door, runs these stages in this order. */
export function buildGateway(parts: GatewayParts) {
  const { store, registry, currentRules, redactor, history, loops, modes, createContext, log, events, tracer } = parts;
  return (
    StageLine.from<Begun & Chained>((closer, error) => log.error('closer_failed', { closer, error }), tracer?.timeStage)
      .stage(decodeCall(redactor))
      .stage(openSession(store))
      // Between these marks are the gates that look at a call and change nothing.
      .mark('known')
      .stage(readArguments({ maxArgumentBytes: () => currentRules().limits.maxArgumentBytes }))
      .stage(resolveTool(registry, parts.isStarting))
      .stage(checkArguments(registry))
      .stage(checkLease)
      .stage(checkPermission(() => store.readOrganisation()))
      .stage(checkMode(store, modes))
      .stage(judgeCall(parts.rulesFor, history, (error) => log.error('rule_failed', { error })))
      .stage(checkSandbox(parts.sandbox))
      .stage(breakLoop(loops))
      .stage(reuseResult(store, parts.keys, parts.resultSeal))
      .stage(checkLimits(store, parts.space, modes))
      .mark('permitted')
      .stage(seekApproval(createContext, redactor, parts.approvals, () => registry.find('files.read')?.tool.definition))
      .stage(awaitTurn(parts.turnstiles))
      .stage(admitCall(store, redactor, history))
      .stage(confirmStanding(store, parts.rulesFor))
      .stage(reportStart(events))
      .stage(executeTool(createContext))
      .stage(checkResult(registry))
      .stage(storeContent(parts.results))
      .stage(compareResult(loops))
      .closer(recordOutcome({ ...parts, quarantine: () => currentRules().limits.quarantine }))
      .closer(releaseHolds)
      .closer(countEnding(parts.calls))
      .closer(reportAbuse(parts.abuse))
      .closer(noticeAnomalies(parts.anomalies))
      .closer(reportEnding({ log, events, metrics: parts.metrics, tracer }))
  );
}

/** What a call that is only planned would meet: the same gates, then its effect. Nothing is asked, charged or run. */
export function buildRehearsal(gateway: Gateway, createContext: ToolContextFactory) {
  return gateway.between('known', 'permitted').stage(previewCall(createContext));
}

export type Gateway = ReturnType<typeof buildGateway>;
export type Rehearsal = ReturnType<typeof buildRehearsal>;
