import type { InJson, JsonObject, ReplayedCall, RuleDecision } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import type { Leaf, StoredRecord } from '@sallyport/log';
import type { DecidedRecord } from '../../storage/stores.ts';
import type { Organisation } from '../../call/organisation.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Mode, Principal, Session } from '../../call/session.ts';
import type { AnyTool, Resources } from '../../call/tool.ts';
import type { PastCall, Question, Rules } from '../../call/verdict.ts';
import type { LoadedRules, ProjectWorkspace } from '../language/load-rules.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';
import { findMembership } from '../../organisation/check-member.ts';
import type { Registry } from '../../registry/registry.ts';

type Decision = InJson<RuleDecision>;

/** A recorded call that other rules would decide otherwise. */
type ChangedCall = InJson<ReplayedCall> & { readonly was: Decision; readonly would: Decision };

type ReplayedRules = Pick<LoadedRules, 'judge' | 'looksAtHistory' | 'looksAtTime' | 'within'>;

export interface ReplayParts {
  readonly rules: ReplayedRules;
  /** Rules that decide again as well, to be compared with. Absent: what was decided then. */
  readonly against?: ReplayedRules;
  readonly readRecord: (index: number) => Promise<StoredRecord | undefined>;
  readonly registry: Pick<Registry, 'find' | 'findForClient'>;
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

/** Of questions that are alike. Each takes about a kilobyte. */
const mostKnown = 20_000;
const sessionIdDigits = 32;

interface RecordedCall {
  readonly tool: string;
  readonly agent: string;
  readonly principal: Principal;
  readonly mode: Mode;
  /** The client that ran it by itself. Absent: the gate did. */
  readonly ranBy?: string;
  /** Absent: they were too long to be kept. */
  readonly arguments?: JsonObject;
  readonly was: Decision;
  /** Somebody was asked, and said no. */
  readonly isRefused: boolean;
}

/** How a call was decided, and how it would be. */
interface Comparison extends Pick<ChangedCall, 'tool' | 'agent' | 'was' | 'would'> {
  /** By the rules, then or now, or by a person. */
  readonly isDenied: boolean;
  /** Another record that says the same is decided alike, whenever it was written. */
  readonly holdsAlways: boolean;
}

/** `skipped`: the record is of no call that the rules decided. `undecidable`: it does not tell enough; of a call that was denied it tells the tool. */
type Found = Comparison | 'undecidable' | { readonly undecidable: string } | 'skipped';

type KnownSession = Awaited<ReturnType<ReplayParts['findSession']>>;

interface AskedAgain {
  /** Or the organisation's own no. */
  readonly question: Question | Refusal;
  readonly workspace: ProjectWorkspace;
}

interface Changed {
  readonly index: number;
  readonly comparison: Comparison;
}

/**
 * Decides recorded calls again, in their order. Arguments are as the log keeps them: without secrets, and not at all
 * where they were long; what cannot be decided again is counted. A question that was answered is not asked again: most
 * calls of a day are like others.
 */
export class Replay {
  readonly #parts: ReplayParts;
  readonly #sessions = new Map<string, KnownSession>();
  readonly #past = new Map<string, PastCall[]>();
  /** By likeness. */
  readonly #known = new Map<string, Found>();
  readonly #looksAtHistory: boolean;
  readonly #changed: Changed[] = [];
  /** How many calls would be let through unasked that were denied, by the rules or by a person. */
  reopened = 0;
  /** Calls that were denied, as far as they cannot be decided again. By tool. */
  readonly undecidableDenials = new Map<string, number>();
  decided = 0;
  undecidable = 0;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
    this.#looksAtHistory = parts.rules.looksAtHistory || parts.against?.looksAtHistory === true;
  }

  /** How many calls would be decided differently. */
  get changed(): number {
    return this.#changed.length;
  }

  /** The calls that would change, by what was decided and what would be. */
  get ways(): { readonly was: string; readonly would: string; readonly count: number }[] {
    const ways = Map.groupBy(this.#changed, ({ comparison: { was, would } }) => `${was.effect} ${would.effect}`);
    return [...ways.values()].flatMap(([first, ...more]) => {
      if (first === undefined) return [];
      const { was, would } = first.comparison;
      return [{ was: was.effect, would: would.effect, count: 1 + more.length }];
    });
  }

  async take(records: readonly DecidedRecord[]): Promise<void> {
    for (const record of records) {
      const known = this.#known.get(record.likeness);
      // To wait for what is known already would take longer than all the rest.
      this.#count(record.index, known ?? (await this.#compare(record)));
    }
  }

  /** What the rules were asked about a recorded call, and where it worked. Undefined: the record does not tell enough. */
  async readQuestion({ index, likeness }: DecidedRecord): Promise<AskedAgain | undefined> {
    const call = readCall(likeness.slice(sessionIdDigits));
    const sessionId = readSessionId(likeness);
    const session = sessionId === undefined ? undefined : await this.#findSession(sessionId);
    const workspace = this.#parts.workspaceOf(session ?? {});
    const question = call && this.#ask(call, session, await this.#readLeaf(index));
    return question === undefined || workspace === undefined ? undefined : { question, workspace };
  }

  /** The newest of them, in the order of the log. */
  async readChanged(most: number): Promise<ChangedCall[]> {
    const calls: ChangedCall[] = [];
    for (const { index, comparison } of this.#changed.slice(-most)) {
      const record = await this.#parts.readRecord(index);
      const { callId = '', timeMs } = record === undefined ? { timeMs: 0 } : decodeLeaf(record.leaf);
      const { tool, agent, was, would } = comparison;
      calls.push({ index: String(index), callId, calledAtMs: String(timeMs), tool, agent, was, would });
    }
    return calls;
  }

  #count(index: number, found: Found): void {
    if (found === 'skipped') return;
    if (found === 'undecidable') return void this.undecidable++;
    if ('undecidable' in found) {
      this.undecidable++;
      this.undecidableDenials.set(found.undecidable, (this.undecidableDenials.get(found.undecidable) ?? 0) + 1);
      return;
    }
    this.decided++;
    if (found.isDenied && found.would.effect === 'allow') this.reopened++;
    if (found.would.effect !== found.was.effect) this.#changed.push({ index, comparison: found });
  }

  async #compare({ index, likeness }: DecidedRecord): Promise<Found> {
    const found = await this.#decideAgain(index, likeness);
    const holdsAlways = typeof found !== 'object' || 'undecidable' in found || found.holdsAlways;
    if (this.#looksAtHistory || !holdsAlways) return found;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(likeness, found);
    return found;
  }

  async #decideAgain(index: number, likeness: string): Promise<Found> {
    const call = readCall(likeness.slice(sessionIdDigits));
    if (call === undefined) return 'skipped';
    const sessionId = readSessionId(likeness);
    const session = sessionId === undefined ? undefined : await this.#findSession(sessionId);
    const { rules, against, workspaceOf } = this.#parts;
    const workspace = workspaceOf(session ?? {});
    const chosen =
      workspace && [rules, ...(against === undefined ? [] : [against])].map((each) => each.within(workspace));
    const holdsAlways = chosen?.every(({ looksAtTime, looksAtHistory }) => !looksAtTime && !looksAtHistory) === true;
    const leaf = holdsAlways && !this.#looksAtHistory ? undefined : await this.#readLeaf(index);
    const question = this.#ask(call, session, leaf);
    if (leaf !== undefined) this.#remember(leaf, call.tool);
    if (question === undefined || chosen === undefined) {
      return call.was.effect === 'deny' ? { undecidable: call.tool } : 'undecidable';
    }
    const [would, was = call.was] = chosen.map((each) => decide(question, each));
    const { tool, agent } = call;
    const isDenied = call.isRefused || call.was.effect === 'deny' || was.effect === 'deny';
    return { tool, agent, was, would: would as ChangedCall['would'], isDenied, holdsAlways };
  }

  /** What the rules are asked, or the organisation's own no. Undefined: the record does not tell enough. */
  #ask(call: RecordedCall, session: KnownSession, leaf: Leaf | undefined): Question | Refusal | undefined {
    const { registry, organisation, workspace } = this.#parts;
    const found = call.ranBy === undefined ? registry.find(call.tool) : registry.findForClient(call.tool);
    const tool = found?.tool;
    const { principal, agent, mode, arguments: args } = call;
    const resources = tool && args && claim(tool, args, session?.workingDirectory ?? workspace);
    if (tool === undefined || args === undefined || resources === undefined) return undefined;
    const membership = findMembership(organisation, { principal, agent }, tool.definition.name);
    if (isRefusal(membership)) return membership;
    const asked = { tool: tool.definition, principal, agent, mode, resources, arguments: args };
    const when = leaf && { nowMs: leaf.timeMs, ...this.#historyOf(leaf.sessionId ?? '', session?.createdAtMs) };
    return { ...asked, ...membership, ...when };
  }

  async #readLeaf(index: number): Promise<Leaf | undefined> {
    const record = await this.#parts.readRecord(index);
    return record && decodeLeaf(record.leaf);
  }

  async #findSession(id: string): Promise<KnownSession> {
    if (!this.#sessions.has(id)) this.#sessions.set(id, await this.#parts.findSession(id));
    return this.#sessions.get(id);
  }

  /** Nothing for a session that may have done something before the records begin: then it is not known. */
  #historyOf(id: string, createdAtMs = 0): { readonly history?: readonly PastCall[] } {
    return createdAtMs < this.#parts.fromMs ? {} : { history: this.#past.get(id) ?? [] };
  }

  #remember({ kind, sessionId, timeMs }: Leaf, tool: string): void {
    if (!this.#looksAtHistory) return;
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

/** Who agreed to this very call, and on which card. Undefined: no person did, or to more than this call. */
export function readApproval({ likeness }: DecidedRecord): { readonly by: string; readonly task: string } | undefined {
  const { consent } = parse(likeness.slice(sessionIdDigits));
  if (consent?.how !== 'approved' || consent.task === undefined) return undefined;
  return { by: consent.by, task: consent.task };
}

/** As the store has it in its other tables. Undefined: the call has none. */
function readSessionId(likeness: string): string | undefined {
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(likeness.toLowerCase()) ?? [];
  const id = parts.join('-');
  return /[^0-]/.test(id) ? id : undefined;
}

/** Undefined for what is no call that the rules decided. */
function readCall(payload: string): RecordedCall | undefined {
  const { decision, refusal, ...call } = parse(payload);
  const { tool = '', agent = '', principal, mode, arguments: args, ran_by: ranBy } = call;
  const known =
    decision ?? (refusal?.stage === 'judge-call' ? { effect: 'deny', rule_id: refusal.rule_id } : undefined);
  if (known === undefined || principal === undefined || mode === undefined) return undefined;
  const was = { effect: known.effect, ruleId: known.rule_id };
  const kept = typeof args === 'object' && args !== null ? { arguments: args as JsonObject } : {};
  const isRefused = refusal?.code === 'APPROVAL_DENIED';
  return { tool, agent, principal, mode, ...kept, ...(ranBy === undefined ? {} : { ranBy }), was, isRefused };
}

interface Payload extends Partial<Pick<RecordedCall, 'tool' | 'agent' | 'principal' | 'mode'>> {
  readonly arguments?: unknown;
  readonly decision?: { readonly effect: string; readonly rule_id: string };
  readonly refusal?: { readonly stage: string; readonly rule_id: string; readonly code?: string };
  readonly ran_by?: string;
  readonly consent?: { readonly by: string; readonly how: string; readonly task?: string };
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
