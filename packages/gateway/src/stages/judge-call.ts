import type { SessionHistory } from '../policy/judge/session-history.ts';
import type { ArgumentsChecked, Foreseen, Judged, ModeRead, Opened, Permitted, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { PastCall, Rules } from '../call/verdict.ts';
import type { Context, Stage } from '../call/stage.ts';

/** The rules where a session works. Undefined: no operator accepts that its workspace is used, or not any more. */
export type RulesFor = (session: Pick<Session, 'workspace'>) => Rules | undefined;

type Needs = Foreseen & Opened & Resolved & ArgumentsChecked & Permitted & ModeRead;

/** Asks the rules. Whatever goes wrong in them is a denial; `reportFailure` hears why. */
export function judgeCall(
  rulesFor: RulesFor,
  history: Pick<SessionHistory, 'of'>,
  reportFailure: (error: unknown) => void,
): Stage<Needs, Judged> {
  const fail = (error: unknown): Refusal => {
    reportFailure(error);
    return refuse('RULE_DENIES', 'rule-failed', 'A rule failed while it was applied, so the call is denied.', {
      forOperators: 'The daemon log says why.',
    });
  };
  return {
    name: 'judge-call',
    run: (facts, context) => {
      const { session, foreseen = [] } = facts;
      try {
        const rules = rulesFor(session);
        if (rules === undefined) return outsideRoots(session.workspace ?? '');
        if (!rules.looksAtHistory) return judge(rules, facts, {}, context);
        const judgeKnowing = (past: readonly PastCall[]) =>
          judge(rules, facts, { history: [...past, ...foreseen] }, context);
        return history.of(session.id).then(judgeKnowing).catch(fail);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

function judge(rules: Rules, facts: Needs, past: Pick<Judged, 'history'>, context: Context): Judged | Refusal {
  const { session, tool, resources, membership, mode } = facts;
  const { principal, agent } = session;
  const { value } = facts.arguments;
  const asked = { tool: tool.definition, principal, agent, mode, resources, arguments: value, nowMs: context.nowMs() };
  const verdict = rules.judge({ ...asked, ...membership, ...past });
  if (verdict.effect !== 'deny') return { rules, verdict, ...past };
  const { code = 'RULE_DENIES', rule, reason, remedy, forOperators, shadow } = verdict;
  return refuse(code, rule, reason, {
    rulesHash: rules.hash,
    ...(remedy === undefined ? {} : { remedy }),
    ...(forOperators === undefined ? {} : { forOperators }),
    ...(shadow === undefined ? {} : { shadow: { effect: shadow.effect, ruleId: shadow.rule.id } }),
  });
}

function outsideRoots(workspace: string): Refusal {
  const message = `The workspace of this session, ${workspace}, is not in a folder that an operator accepted.`;
  return refuse('RULE_DENIES', 'workspace', message, {
    remedy: 'Ask the operator for a new session.',
    forOperators: `\`sallyport workspace add ${workspace}\` accepts the folder. \`sallyport workspace list\` shows what is accepted.`,
  });
}
