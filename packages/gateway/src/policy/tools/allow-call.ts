import { hash } from 'node:crypto';
import { AppliedPolicySchema, PolicyDraftSchema } from '@sallyport/contract';
import type { InJson, PolicyDraft } from '@sallyport/contract';
import { ConfigError } from '../../call/fault.ts';
import { isRefusal } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import { redacted } from '../../redaction/span.ts';
import { defineOperatorTool, idOf } from '../../registry/define-operator-tool.ts';
import type { DecidedRecord } from '../../storage/stores.ts';
import { draftRules } from '../draft/draft-rule.ts';
import type { DraftRules } from '../files/add-rules.ts';
import type { LoadedRules, ProjectWorkspace } from '../language/load-rules.ts';
import { describeReplay, openReplay } from '../replay/replay-calls.ts';
import { chooseSpan, describeSpan, walkDecided } from '../replay/walk-records.ts';
import { change } from './change-rules.ts';
import { longTimeoutMs } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';

interface AllowArguments {
  readonly call: string;
  readonly shown?: string;
}

const callProperty = idOf('Id of a recorded call that no rule allowed.');

export function draftTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.draft',
    description:
      'Drafts the narrowest rule that would have allowed a recorded call, and shows what else it would have opened.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    required: ['call'],
    properties: { call: callProperty },
    answers: PolicyDraftSchema,
    run: async ({ call }: AllowArguments, context) => (await draft(call, parts, context)).shown,
    summarize: (_args, { tool, agent }) => `a rule for ${tool} by ${agent}`,
  });
}

/**
 * Puts the drafted rule in force. What was ever denied and would be let through is listed in the effect, whole; where the
 * list would be cut, nothing is applied.
 */
export function allowTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.allow',
    description: 'Puts the narrowest rule in force that would have allowed a recorded call.',
    mutates: true,
    timeoutMs: longTimeoutMs,
    required: ['call'],
    properties: {
      call: callProperty,
      shown: { type: 'string', maxLength: 64, description: 'From policy.draft: what the person was shown.' },
    },
    answers: AppliedPolicySchema,
    preview: async ({ call }: AllowArguments, context) => {
      const { shown } = await draft(call, parts, context);
      return { summary: `Add a rule to ${shown.file}.`, detail: describeDraft(shown), basis: shown.replay?.hash ?? '' };
    },
    run: async ({ call, shown: seen }, context) => {
      const drafted = await draft(call, parts, context);
      if (seen !== undefined && seen !== drafted.shown.shown) {
        throw new ToolFailure(
          'EXECUTION_ERROR',
          'Rules or calls have changed since the draft was shown. Look at it again.',
        );
      }
      return change(parts, context, (check) => parts.rules.add(drafted.rules, check));
    },
    summarize: (_args, { hash: applied }) => `applied ${applied}`,
  });
}

interface Drafted {
  readonly rules: DraftRules;
  readonly shown: InJson<PolicyDraft>;
}

/** Throws ToolFailure or ConfigError for a call that no rule of this kind can open, and for a rule that opens unseen ones. */
async function draft(callId: string, parts: PolicyToolParts, context: ToolContext): Promise<Drafted> {
  const { rules, store } = parts;
  const record = await findDenied(callId, parts);
  const span = await chooseSpan(store, { last: Number.MAX_SAFE_INTEGER }, 0);
  const asked = await openReplay(parts, { rules: rules.current, span }).readQuestion(record);
  if (asked === undefined || isRefusal(asked.question)) throw cannotDraft('the log does not keep enough of the call');
  const { question, workspace } = asked;
  if (JSON.stringify(question.arguments).includes(redacted)) {
    throw cannotDraft('the log keeps the call without its secrets, and a rule must name what it opens');
  }
  refuseUnlessUndecided(rules.current.within(workspace), question);
  const drafted: DraftRules = (freeId) => draftRules(question, () => freeId(`allow-${question.tool.name}`));
  const { rules: next, added } = rules.previewAddition(drafted);
  const effect = opens(next, question, workspace);

  const replay = openReplay(parts, { rules: next, against: rules.current, span });
  for await (const page of walkDecided(store, span, context)) await replay.take(page);
  const described = await describeReplay(replay);
  if (described.calls.length < described.changed) {
    throw cannotDraft(`it would also decide ${described.changed} other recorded calls, more than can be shown`);
  }
  const { tool, agent } = question;
  const replayed = { inForce: rules.current.hash, hash: next.hash, span: describeSpan(span), ...described };
  const undecidableDenials = replay.undecidableDenials.get(tool.name) ?? 0;
  const shown = {
    ...{ callId, tool: tool.name, agent, rule: added, file: rules.ownFile, effect },
    ...{ replay: replayed, undecidableDenials },
  };
  const changed = described.calls.map(({ index }) => index);
  const about = [callId, replayed.inForce, replayed.hash, ...changed, undecidableDenials];
  return { rules: drafted, shown: { ...shown, shown: hash('sha256', JSON.stringify(about)) } };
}

async function findDenied(callId: string, { store }: PolicyToolParts): Promise<DecidedRecord> {
  const records = await store.readRecordsOfCall(callId);
  if (records.length === 0) throw new ToolFailure('NOT_FOUND', `Nothing is on record about a call ${callId}.`);
  for (const { index } of records) {
    const [record] = await store.readDecided(index, index + 1);
    if (record !== undefined) return record;
  }
  throw cannotDraft('no rule decided about it');
}

/** Only where nothing matched. A rule that denies, or asks, stays stronger than any that allows. */
function refuseUnlessUndecided({ explain }: LoadedRules, question: Question): void {
  const { verdict } = explain(question);
  if (verdict.effect === 'allow') throw cannotDraft('the rules in force allow it already');
  if (verdict.effect === 'require_approval') throw cannotDraft('the rules in force let it through, and ask a person');
  const { id, file, line } = verdict.rule;
  if (verdict.code === 'NO_RULE_ALLOWS') return;
  const where = file === undefined ? '' : ` (${file}:${line})`;
  throw cannotDraft(`rule ${id}${where} denies it, and no other rule can lift that`);
}

function opens(next: LoadedRules, question: Question, workspace: ProjectWorkspace): string {
  const { effect, reason } = next.within(workspace).judge(question);
  if (effect === 'deny') throw cannotDraft(`it would still be denied: ${reason}`);
  return effect;
}

function cannotDraft(why: string): ConfigError {
  return new ConfigError(`No rule was drafted: ${why}.`);
}

function describeDraft({ rule, replay, undecidableDenials }: InJson<PolicyDraft>): string {
  const calls = replay?.calls ?? [];
  return [
    rule,
    `recorded calls that would be decided otherwise: ${calls.length}`,
    ...calls.map(({ index, tool, agent, was, would }) => `${index} ${tool} ${agent} ${was?.effect} → ${would?.effect}`),
    `denied calls of this tool that cannot be decided again: ${undecidableDenials}`,
    '',
  ].join('\n');
}
