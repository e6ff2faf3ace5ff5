import { PolicyTestSchema } from '@sallyport/contract';
import type { LoadedRules } from '../language/load-rules.ts';
import { effects, principals } from '../language/rule.ts';
import { modes } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { explainCall } from '../tools/explain-call.ts';
import type { ExplainArguments } from '../tools/explain-call.ts';
import { chooseRules, longTimeoutMs, rulesProperty } from '../tools/policy-parts.ts';
import type { PolicyToolParts } from '../tools/policy-parts.ts';

const mostCases = 10_000;

interface Case extends Partial<Pick<ExplainArguments, 'agent' | 'mode' | 'arguments' | 'workspace'>> {
  readonly name?: string;
  readonly tool: string;
  readonly as?: ExplainArguments['principal'];
  readonly expect: string;
  /** Absent: whichever rule. */
  readonly rule?: string;
}

const caseSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['tool', 'expect'],
  properties: {
    name: { type: 'string', maxLength: 500 },
    tool: { type: 'string', maxLength: 256 },
    arguments: { type: 'object' },
    agent: { type: 'string', maxLength: 256 },
    as: { enum: [...principals] },
    mode: { enum: [...modes] },
    workspace: { type: 'string', maxLength: 4096 },
    expect: { enum: [...effects] },
    rule: { type: 'string', maxLength: 64 },
  },
} as const;

export function testTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.test',
    description: 'Compares the rules with your expectations: how each call should be decided, and by which rule.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    required: ['cases'],
    properties: { cases: { type: 'array', maxItems: mostCases, items: caseSchema }, rules: rulesProperty },
    answers: PolicyTestSchema,
    run: async (args) => {
      const { cases } = args;
      const rules = chooseRules(parts.rules, args);
      const decided = await Promise.all(cases.map(async (each) => ({ each, found: await decide(each, rules, parts) })));
      const failures = decided.flatMap(({ each, found }, at) => {
        const isRight = found.effect === each.expect && (each.rule === undefined || found.rule === each.rule);
        if (isRight) return [];
        const wanted = each.rule === undefined ? each.expect : `${each.expect} by ${each.rule}`;
        return [`${each.name ?? `case ${at + 1}`}: expected ${wanted}, but it is ${found.effect} by ${found.rule}`];
      });
      return { passed: cases.length - failures.length, failed: failures.length, failures };
    },
    summarize: (_args, { passed, failed }) => `${passed} passed, ${failed} failed`,
  });
}

/** A call that cannot even be judged is a case that fails, not a test that does. */
async function decide(
  { tool, arguments: args = {}, agent, as = 'agent', mode, workspace }: Case,
  rules: LoadedRules,
  parts: PolicyToolParts,
): Promise<{ readonly effect: string; readonly rule: string }> {
  try {
    const who = { principal: as, ...(agent && { agent }), ...(mode && { mode }), ...(workspace && { workspace }) };
    const asked = { tool, arguments: args, ...who };
    const { effect, decidedBy } = await explainCall(asked, rules, parts);
    return { effect, rule: decidedBy?.rule?.id ?? '-' };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { effect: `error (${error.message})`, rule: '-' };
  }
}
