import type { JsonObject } from '@sallyport/contract';
import type { Mode, Principal, Session } from '../../model/session.ts';
import type { Resources } from '../../model/tool.ts';
import type { Rules } from '../../model/verdict.ts';
import type { Registry } from '../../registry/registry.ts';
import type { StoredRecord } from '../../storage/stores.ts';

/** A recorded call that other rules would decide otherwise. */
export interface ChangedCall {
  readonly index: number;
  readonly tool: string;
  readonly agent: string;
  readonly was: { readonly effect: string; readonly ruleId: string };
  readonly would: { readonly effect: string; readonly ruleId: string; readonly reason: string };
}

export interface Replay {
  /** Calls that were decided again. */
  readonly decided: number;
  /** Calls whose tool is gone, or whose record does not hold enough to decide again. */
  readonly undecidable: number;
  readonly changed: readonly ChangedCall[];
}

interface RecordedCall {
  readonly tool?: string;
  readonly agent?: string;
  readonly principal?: Principal;
  readonly mode?: Mode;
  readonly arguments?: unknown;
  readonly decision?: { readonly effect: string; readonly rule_id: string };
  readonly refusal?: { readonly stage: string; readonly rule_id: string };
}

/** Recorded calls, decided again. Arguments are as the log keeps them: without secrets, and cut where they were long. */
export function replayRecords(
  records: Iterable<StoredRecord>,
  { judge }: Pick<Rules, 'judge'>,
  registry: Pick<Registry, 'find'>,
  workingDirectory: string,
): Replay {
  const changed: ChangedCall[] = [];
  let [decided, undecidable] = [0, 0];
  for (const { index, payload } of records) {
    const call = readCall(payload);
    if (call === undefined) continue;
    const { tool: name = '', agent = '', principal, mode, was } = call;
    const tool = registry.find(name)?.tool;
    const resources = tool && claim(() => tool.claim(call.arguments, { workingDirectory } as Session));
    if (tool === undefined || resources === undefined || principal === undefined || mode === undefined) {
      undecidable++;
      continue;
    }
    decided++;
    const args = call.arguments;
    const verdict = judge({ tool: tool.definition, principal, agent, mode, resources, arguments: args });
    if (verdict.effect === was.effect) continue;
    const would = { effect: verdict.effect, ruleId: verdict.rule.id, reason: verdict.reason };
    changed.push({ index, tool: name, agent, was, would });
  }
  return { decided, undecidable, changed };
}

/** Undefined for what is no call that the rules decided. */
function readCall(payload: string | undefined) {
  const recorded = parse(payload);
  const { decision, refusal, arguments: args } = recorded;
  if (typeof args !== 'object' || args === null) return undefined;
  const known = { ...recorded, arguments: args as JsonObject };
  if (decision !== undefined) return { ...known, was: { effect: decision.effect, ruleId: decision.rule_id } };
  if (refusal?.stage !== 'judge-call') return undefined;
  return { ...known, was: { effect: 'deny', ruleId: refusal.rule_id } };
}

function parse(payload: string | undefined): RecordedCall {
  try {
    return JSON.parse(payload ?? '{}') as RecordedCall;
  } catch {
    return {};
  }
}

function claim(work: () => Resources): Resources | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
