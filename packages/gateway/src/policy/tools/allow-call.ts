import { AppliedPolicySchema, PolicyDraftSchema } from '@sallyport/contract';
import type { InJson, PolicyDraft } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { change } from './change-rules.ts';
import { draftForCall } from './draft-call.ts';
import { longTimeoutMs } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

const callProperty = schema.id('Id of a recorded call that no rule allowed, or that a person was asked about.');
const widenProperty = schema.integer(
  'How many steps wider than exactly this call, for a rule that spares people a question.',
  { minimum: 0, maximum: 2, default: 0 },
);

export function draftTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.draft',
    description:
      'Drafts the narrowest rule that would have allowed a recorded call, or run it without a question, and shows what else it would have opened.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    required: ['call'],
    properties: { call: callProperty, widen: widenProperty },
    answers: PolicyDraftSchema,
    run: async (args, context) => (await draftForCall(args, parts, context)).shown,
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
      widen: widenProperty,
      shown: schema.string('From policy.draft: what the person was shown.', { maxLength: 64 }),
    },
    answers: AppliedPolicySchema,
    preview: async (args, context) => {
      const { shown } = await draftForCall(args, parts, context);
      return { summary: `Add a rule to ${shown.file}.`, detail: describeDraft(shown), basis: shown.replay?.hash ?? '' };
    },
    run: async ({ shown: seen, ...args }, context) => {
      const drafted = await draftForCall(args, parts, context);
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

/** Questions that vanish come and go while a person looks, so only what was denied is part of what they agree to. */
function describeDraft({ rule, scope, reopened, replay, undecidableDenials }: InJson<PolicyDraft>): string {
  const unsure = `denied calls of this tool that cannot be decided again: ${undecidableDenials}`;
  if (scope !== '') {
    const denied = `calls that were denied before and would be let through: ${reopened}`;
    return [`without a question from now on: ${scope}`, '', rule, denied, unsure, ''].join('\n');
  }
  const calls = replay?.calls ?? [];
  return [
    rule,
    `recorded calls that would be decided differently: ${calls.length}`,
    ...calls.map(({ index, tool, agent, was, would }) => `${index} ${tool} ${agent} ${was?.effect} → ${would?.effect}`),
    unsure,
    '',
  ].join('\n');
}
