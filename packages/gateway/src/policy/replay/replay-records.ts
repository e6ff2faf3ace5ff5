import type { InJson, JsonObject, ReplayedCall, RuleDecision } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import type { Leaf, StoredRecord } from '@sallyport/log';
import type { Organisation } from '../../call/organisation.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Mode, Principal, Session } from '../../call/session.ts';
import type { AnyTool, Resources } from '../../call/tool.ts';
import type { PastCall, Question, Rules } from '../../call/verdict.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';
import { findMembership } from '../../organisation/find-membership.ts';
import type { Registry } from '../../registry/registry.ts';

type Decision = InJson<RuleDecision>;

/** A recorded call that other rules would decide otherwise. */
type ChangedCall = InJson<ReplayedCall> & { readonly was: Decision; readonly would: Decision };

type ReplayedRules = Pick<LoadedRules, 'judge' | 'looksAtHistory' | 'within'>;

export interface ReplayParts {
  readonly rules: ReplayedRules;
  /** Rules that decide again as well, to be compared with. Absent: what was decided then. */
  readonly against?: ReplayedRules;
  readonly registry: Pick<Registry, 'find'>;
  /** As it is now. */
  readonly organisation: Organisation;
  readonly findSession: (
    id: string,
  ) => Promise<Pick<Session, 'workingDirectory' | 'createdAtMs' | 'workspace'> | undefined>;
  readonly workspaceOf: PolicyToolParts['workspaceOf'];
  /** For sessions that are gone. */
  readonly workspace: string;
  /** Since when all records are shown to it: what a session did before is not known. */
  readonly fromMs: number;
}

interface RecordedCall {
  readonly tool: string;
  readonly agent: string;
  readonly principal: Principal;
  readonly mode: Mode;
  /** Absent: they were too long to be kept. */
  readonly arguments?: JsonObject;
  readonly was: Decision;
}

/**
 * Decides recorded calls again, in their order. Arguments are as the log keeps them: without secrets, and not at all
 * where they were long; what cannot be decided again is counted.
 */
export class Replay {
  readonly #parts: ReplayParts;
  readonly #sessions = new Map<string, Awaited<ReturnType<ReplayParts['findSession']>>>();
  readonly #past = new Map<string, PastCall[]>();
  decided = 0;
  undecidable = 0;
  readonly changed: ChangedCall[] = [];

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  async take(record: StoredRecord): Promise<void> {
    const call = readCall(record.payload);
    if (call === undefined) return;
    const leaf = decodeLeaf(record.leaf);
    const { rules, against } = this.#parts;
    const question = await this.#ask(call, leaf);
    this.#remember(leaf, call.tool);
    const workspace = this.#parts.workspaceOf((await this.#sessionOf(leaf.sessionId ?? '')) ?? {});
    if (question === undefined || workspace === undefined) return void this.undecidable++;
    this.decided++;
    const would = decide(question, rules.within(workspace));
    const was = against === undefined ? call.was : decide(question, against.within(workspace));
    if (would.effect === was.effect) return;
    const { tool, agent } = call;
    const found = { index: String(record.index), callId: leaf.callId ?? '', calledAtMs: String(leaf.timeMs) };
    this.changed.push({ ...found, tool, agent, was, would });
  }

  /** What the rules are asked, or the organisation's own no. Undefined: the record does not tell enough. */
  async #ask(call: RecordedCall, { sessionId = '', timeMs }: Leaf): Promise<Question | Refusal | undefined> {
    const { registry, organisation, workspace } = this.#parts;
    const tool = registry.find(call.tool)?.tool;
    const session = await this.#sessionOf(sessionId);
    const { principal, agent, mode, arguments: args } = call;
    const resources = tool && args && claim(tool, args, session?.workingDirectory ?? workspace);
    if (tool === undefined || args === undefined || resources === undefined) return undefined;
    const membership = findMembership(organisation, { principal, agent }, tool.definition.name);
    if (isRefusal(membership)) return membership;
    const asked = { tool: tool.definition, principal, agent, mode, resources, arguments: args, nowMs: timeMs };
    return { ...asked, ...membership, ...this.#historyOf(sessionId, session?.createdAtMs) };
  }

  async #sessionOf(id: string): Promise<Awaited<ReturnType<ReplayParts['findSession']>>> {
    if (!this.#sessions.has(id)) this.#sessions.set(id, id === '' ? undefined : await this.#parts.findSession(id));
    return this.#sessions.get(id);
  }

  /** Nothing for a session that may have done something before the records begin: then it is not known. */
  #historyOf(id: string, createdAtMs = 0): { readonly history?: readonly PastCall[] } {
    return createdAtMs < this.#parts.fromMs ? {} : { history: this.#past.get(id) ?? [] };
  }

  #remember({ kind, sessionId, timeMs }: Leaf, tool: string): void {
    const { rules, against } = this.#parts;
    if (!rules.looksAtHistory && against?.looksAtHistory !== true) return;
    if (kind !== 'intent' || sessionId === undefined) return;
    const past = this.#past.get(sessionId) ?? [];
    this.#past.set(sessionId, past);
    past.push({ tool, startedAtMs: timeMs });
  }
}

function decide(question: Question | Refusal, { judge }: Pick<Rules, 'judge'>): Decision {
  if (isRefusal(question)) return { effect: 'deny', ruleId: question.rule.id, reason: question.message };
  const { effect, rule, reason } = judge(question);
  return { effect, ruleId: rule.id, reason };
}

/** Undefined for what is no call that the rules decided. */
function readCall(payload: string | undefined): RecordedCall | undefined {
  // Most records are outcomes, which say nothing of this.
  if (payload === undefined || !payload.includes('"rule_id"')) return undefined;
  const { decision, refusal, ...call } = parse(payload);
  const { tool = '', agent = '', principal, mode, arguments: args } = call;
  const known =
    decision ?? (refusal?.stage === 'judge-call' ? { effect: 'deny', rule_id: refusal.rule_id } : undefined);
  if (known === undefined || principal === undefined || mode === undefined) return undefined;
  const was = { effect: known.effect, ruleId: known.rule_id };
  const kept = typeof args === 'object' && args !== null ? { arguments: args as JsonObject } : {};
  return { tool, agent, principal, mode, ...kept, was };
}

interface Payload extends Partial<Pick<RecordedCall, 'tool' | 'agent' | 'principal' | 'mode'>> {
  readonly arguments?: unknown;
  readonly decision?: { readonly effect: string; readonly rule_id: string };
  readonly refusal?: { readonly stage: string; readonly rule_id: string };
}

function parse(payload: string): Payload {
  try {
    return JSON.parse(payload) as Payload;
  } catch {
    return {};
  }
}

function claim(tool: AnyTool, args: JsonObject, workingDirectory: string): Resources | undefined {
  try {
    return tool.claim(args, { workingDirectory } as Session);
  } catch {
    return undefined;
  }
}
