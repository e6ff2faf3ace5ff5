import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { InJson, PolicyDraft } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import { ConfigError } from '../../call/fault.ts';
import { isRefusal } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import { redacted } from '../../redaction/span.ts';
import type { DecidedRecord } from '../../storage/stores.ts';
import { draftRules } from '../draft/draft-rule.ts';
import { listScopes } from '../draft/rule-scopes.ts';
import type { RuleScope } from '../draft/rule-scopes.ts';
import type { DraftRules } from '../files/add-rules.ts';
import type { LoadedRules, ProjectWorkspace } from '../language/load-rules.ts';
import { describeReplay, openReplay } from '../replay/replay-calls.ts';
import type { Replay } from '../replay/replay-records.ts';
import { chooseSpan, describeSpan, walkDecided } from '../replay/walk-records.ts';
import type { Span } from '../replay/walk-records.ts';
import type { PolicyToolParts } from './policy-parts.ts';

export interface Asked {
  readonly question: Question;
  readonly workspace: ProjectWorkspace;
}

/** Rules for a call, before anybody has looked at what else they would change. */
export interface Candidate extends Asked {
  readonly callId: string;
  readonly rules: DraftRules;
  /** As they would be in force. */
  readonly next: LoadedRules;
  readonly added: string;
  /** What the rules would say to the call then. */
  readonly effect: string;
  /** Set where people are spared a question: how much is covered, and what one step more would be. */
  readonly scope?: { readonly width: number; readonly now: RuleScope; readonly wider?: RuleScope };
}

export interface Drafted {
  readonly rules: DraftRules;
  readonly shown: InJson<PolicyDraft>;
}

const longestRule = 16_384;
const mostTasks = 20_000;

/** Throws ToolFailure or ConfigError for a call that no rule of this kind can open, and for a rule that opens unseen ones. */
export async function draftForCall(
  { call: callId, widen = 0 }: { readonly call: string; readonly widen?: number },
  parts: PolicyToolParts,
  context: ToolContext,
): Promise<Drafted> {
  const { rules, store } = parts;
  const record = await findDecided(callId, parts);
  const span = await chooseSpan(store, { last: Number.MAX_SAFE_INTEGER }, 0);
  const asked = await openReplay(parts, { rules: rules.current, span }).readQuestion(record);
  if (asked === undefined || isRefusal(asked.question)) throw cannotDraft('the log does not keep enough of the call');
  const { question, workspace } = asked;
  const candidate = draftCandidate(callId, { question, workspace }, widen, parts);
  const replay = openReplay(parts, { rules: candidate.next, against: rules.current, span });
  for await (const page of walkDecided(store, span, context)) await replay.take(page);
  const [denied = 0] = await countDenied([candidate], parts, span);
  const reopened = replay.reopened + denied;
  return describeDrafted(candidate, replay, span, reopened, parts);
}

/** The rule for exactly this call that would spare people the question: the same text for calls that it is all the same to. */
export function nameHabit({ question, workspace }: Asked, { rules }: PolicyToolParts): string {
  const scope = findScope(rules.current.within(workspace), question, workspace, 0);
  if (scope === undefined) throw cannotDraft('no rule lets it through any more');
  return draftRules(question, () => 'habit', scope.now).join('\n');
}

/** Throws ConfigError where no rule can help, could not be exact, or must not be. */
export function draftCandidate(
  callId: string,
  { question, workspace }: Asked,
  widen: number,
  { rules }: PolicyToolParts,
): Candidate {
  const scope = findScope(rules.current.within(workspace), question, workspace, widen);
  const word = scope === undefined ? `allow-${question.tool.name}` : `always-${question.tool.name}`;
  const drafted: DraftRules = (freeId) => draftRules(question, () => freeId(word), scope?.now);
  const { rules: next, added } = rules.previewAddition(drafted);
  if (added.length > longestRule) throw cannotDraft('it would be too long for anybody to read');
  const { effect, reason } = next.within(workspace).judge(question);
  if (effect === 'deny') throw cannotDraft(`it would still be denied: ${reason}`);
  if (scope !== undefined && effect !== 'allow') throw cannotDraft(`the call would still ask a person: ${reason}`);
  return { callId, question, workspace, rules: drafted, next, added, effect, ...(scope && { scope }) };
}

/** Undefined: no rule matched, so one that allows is enough. Throws for every call that a rule stops or that none can spare. */
function findScope(
  { explain, judge }: LoadedRules,
  question: Question,
  { folder }: ProjectWorkspace,
  widen: number,
): Candidate['scope'] {
  if (JSON.stringify(question.arguments).includes(redacted)) {
    throw cannotDraft('the log keeps the call without its secrets, and a rule must name what it opens');
  }
  const { verdict } = explain(question);
  if (verdict.effect === 'allow') throw cannotDraft('the rules in force allow it already');
  if (verdict.effect === 'deny') {
    if (verdict.code !== 'NO_RULE_ALLOWS') throw isStronger(verdict.rule, 'denies it, and no other rule can lift that');
    if (widen > 0) throw cannotDraft('only a rule that spares people a question can be widened');
    return undefined;
  }
  const { tool, resources, principal } = question;
  if (tool.risk === 'critical') throw cannotDraft('a call of critical risk asks each time');
  if (principal !== 'agent') throw cannotDraft('people confirm their own calls');
  if (verdict.askedBy !== undefined) throw isStronger(verdict.rule, 'asks, and no rule that allows is stronger');
  if (resources.unknown !== undefined) throw cannotDraft(`it is not known ${resources.unknown[0]}`);
  for (const { path, access } of resources.paths) {
    // What the rules close in the workspace, such as files with credentials, is opened for good nowhere else.
    const alike = isWithin(folder, path) ? path : join(folder, path);
    const { effect, code } = judge({ ...question, resources: { paths: [{ path: alike, access }] } });
    if (effect === 'deny' && code !== 'NO_RULE_ALLOWS') throw cannotDraft(`the rules close files such as ${path}`);
  }
  const scopes = listScopes(question, folder);
  const now = scopes[widen];
  if (now === undefined) throw cannotDraft('it cannot be any wider');
  const wider = scopes[widen + 1];
  return { width: widen, now, ...(wider && { wider }) };
}

/** For each candidate, how many calls it would let through that somebody said no to. */
export async function countDenied(
  candidates: readonly Candidate[],
  parts: PolicyToolParts,
  span: Span,
): Promise<number[]> {
  const counts = new Map(candidates.map((candidate) => [candidate, 0]));
  const spared = candidates.filter(({ scope }) => scope !== undefined);
  const replay = openReplay(parts, { rules: parts.rules.current, span });
  const denied = spared.length === 0 ? [] : await parts.store.listApprovals({ status: 'denied', limit: mostTasks });
  for (const { callId, tool, agent } of denied) {
    const near = spared.filter(({ question }) => question.tool.name === tool && question.agent === agent);
    const record = near.length === 0 ? undefined : await findRecord(callId, parts);
    const asked = record && (await replay.readQuestion(record));
    if (asked === undefined || isRefusal(asked.question)) continue;
    const { question, workspace } = asked;
    for (const candidate of near) {
      const { effect } = candidate.next.within(workspace).judge(question);
      if (effect === 'allow') counts.set(candidate, (counts.get(candidate) ?? 0) + 1);
    }
  }
  return [...counts.values()];
}

export async function describeDrafted(
  candidate: Candidate,
  replay: Replay,
  span: Span,
  reopened: number,
  { rules }: PolicyToolParts,
): Promise<Drafted> {
  const { callId, question, next, added, effect, scope } = candidate;
  const described = await describeReplay(replay);
  const isWhole = described.calls.length === described.changed;
  // Questions that vanish may be many; of what was denied, everything is shown.
  if (!isWhole && (scope === undefined || reopened > 0)) {
    throw cannotDraft(`it would also decide ${described.changed} other recorded calls, more than can be shown`);
  }
  if (scope !== undefined && scope.width > 0 && reopened > 0) {
    throw cannotDraft('so wide, it would also let calls through that were denied before');
  }
  const { tool, agent } = question;
  const replayed = { inForce: rules.current.hash, hash: next.hash, span: describeSpan(span), ...described };
  const undecidableDenials = replay.undecidableDenials.get(tool.name) ?? 0;
  const { width = 0, now, wider } = scope ?? {};
  const shown = {
    ...{ callId, tool: tool.name, agent, rule: added, file: rules.ownFile, effect },
    ...{ replay: replayed, undecidableDenials, reopened, width, scope: now?.words ?? '', wider: wider?.words ?? '' },
  };
  // A question more or less that vanishes is no news.
  const changed = scope === undefined ? described.calls.map(({ index }) => index) : [reopened];
  const about = [callId, replayed.inForce, replayed.hash, ...changed, undecidableDenials];
  return { rules: candidate.rules, shown: { ...shown, shown: hash('sha256', JSON.stringify(about)) } };
}

async function findDecided(callId: string, parts: PolicyToolParts): Promise<DecidedRecord> {
  const record = await findRecord(callId, parts);
  if (record !== undefined) return record;
  const records = await parts.store.readRecordsOfCall(callId);
  if (records.length === 0) throw new ToolFailure('NOT_FOUND', `Nothing is on record about a call ${callId}.`);
  throw cannotDraft('no rule decided about it');
}

async function findRecord(callId: string, { store }: PolicyToolParts): Promise<DecidedRecord | undefined> {
  for (const { index } of await store.readRecordsOfCall(callId)) {
    const [record] = await store.readDecided(index, index + 1);
    if (record !== undefined) return record;
  }
  return undefined;
}

function isStronger({ id, file, line }: { id: string; file?: string; line?: number }, what: string): ConfigError {
  const where = file === undefined ? '' : ` (${file}:${line})`;
  return cannotDraft(`rule ${id}${where} ${what}`);
}

export function cannotDraft(why: string): ConfigError {
  return new ConfigError(`No rule was drafted: ${why}.`);
}
