import { PolicyShadowSchema, spellCount } from '@sallyport/contract';
import type { InJson, TriedRule } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import type { LoadedRules } from '../language/load-rules.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { longTimeoutMs } from '../tools/policy-parts.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';
import { chooseSpan, describeSpan, spanProperties, walkRecords } from './walk-records.ts';

const usualRecords = 100_000;

/** What a shadow rule would have done to recorded calls. */
interface Tally {
  deny: number;
  require_approval: number;
  allow: number;
  /** It would have decided, and the answer would have been the same. */
  same: number;
  firstMs: number;
  lastMs: number;
}

export function shadowTool({ rules, store }: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.shadow',
    description: 'Counts what shadow rules would have done to recorded calls.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    properties: spanProperties(usualRecords),
    answers: PolicyShadowSchema,
    run: async (args, context) => {
      const span = await chooseSpan(store, args, usualRecords);
      const tallies = new Map<string, Tally>();
      for await (const page of walkRecords(store, span, context)) {
        for (const record of page) count(record, tallies);
      }
      return { span: describeSpan(span), rules: describeTallies(tallies, rules.current) };
    },
    summarize: (_args, output) => spellCount(output.rules.length, 'rule'),
  });
}

function count({ leaf, payload }: StoredRecord, tallies: Map<string, Tally>): void {
  // Few records have it, and taking all of them apart would take long.
  const found = payload?.includes('"shadow":{') === true ? readShadow(payload) : undefined;
  if (found === undefined) return;
  const { was, effect, ruleId } = found;
  const { timeMs } = decodeLeaf(leaf);
  const tally = tallies.get(ruleId) ?? newTally(timeMs);
  tallies.set(ruleId, tally);
  tally[effect === was ? 'same' : effect]++;
  tally.lastMs = timeMs;
}

function newTally(timeMs: number): Tally {
  return { deny: 0, require_approval: 0, allow: 0, same: 0, firstMs: timeMs, lastMs: timeMs };
}

type Effect = 'allow' | 'require_approval' | 'deny';

interface Payload {
  readonly decision?: { readonly effect: string; readonly shadow?: Shadow };
  readonly refusal?: { readonly shadow?: Shadow };
}

interface Shadow {
  readonly effect: Effect;
  readonly rule_id: string;
}

/** The verdict stands with the decision; a call that was denied has no decision, and there it stands with the refusal. */
function readShadow(payload: string): { was: string; effect: Effect; ruleId: string } | undefined {
  let parsed: Payload;
  try {
    parsed = JSON.parse(payload) as Payload;
  } catch {
    return undefined;
  }
  const { decision, refusal } = parsed;
  const shadow = decision?.shadow ?? refusal?.shadow;
  if (shadow === undefined || !['allow', 'require_approval', 'deny'].includes(shadow.effect)) return undefined;
  return { was: decision?.effect ?? 'deny', effect: shadow.effect, ruleId: shadow.rule_id };
}

/** Those that are tried out now, in the order of the file; then those that the log knows from before. */
function describeTallies(tallies: ReadonlyMap<string, Tally>, { tried }: LoadedRules): readonly InJson<TriedRule>[] {
  const present = tried.map(({ rule, reference }) => {
    return { rule: reference, effect: rule.effect, ...describeTally(tallies.get(rule.id)) };
  });
  const ids = new Set(tried.map(({ rule }) => rule.id));
  const former = [...tallies].filter(([id]) => !ids.has(id));
  return [...present, ...former.map(([id, tally]) => ({ rule: { id }, effect: '', ...describeTally(tally) }))];
}

function describeTally(tally: Tally | undefined): Omit<InJson<TriedRule>, 'rule' | 'effect'> {
  const { deny, require_approval: ask, allow, same, firstMs, lastMs } = tally ?? newTally(0);
  const counts = { wouldDeny: deny, wouldAsk: ask, wouldAllow: allow, same };
  return tally === undefined ? counts : { ...counts, firstAtMs: String(firstMs), lastAtMs: String(lastMs) };
}
