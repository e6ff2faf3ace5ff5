import type { SessionHistory } from '../policy/judge/session-history.ts';
import type { ArgumentsChecked, Foreseen, Judged, ModeRead, Opened, Permitted, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { Rules, Verdict } from '../call/verdict.ts';
import type { Stage } from '../call/stage.ts';

/** The rules where a session works. Undefined: no operator accepts that its workspace is used, or not any more. */
export type RulesFor = (session: Pick<Session, 'workspace'>) => Rules | undefined;

/** Asks the rules. Whatever goes wrong in them is a denial; `reportFailure` hears why. */
export function judgeCall(
  rulesFor: RulesFor,
  history: Pick<SessionHistory, 'of'>,
  reportFailure: (error: unknown) => void,
): Stage<Foreseen & Opened & Resolved & ArgumentsChecked & Permitted & ModeRead, Judged> {
  return {
    name: 'judge-call',
    run: ({ session, tool, resources, standing, mode, foreseen = [], arguments: { value } }, context) => {
      let rules: Rules;
      let verdict: Verdict;
      let past: Pick<Judged, 'history'>;
      try {
        const { principal, agent } = session;
        const found = rulesFor(session);
        if (found === undefined) return outsideRoots(session.workspace ?? '');
        rules = found;
        const nowMs = context.nowMs();
        const asked = { tool: tool.definition, principal, agent, mode, resources, arguments: value, nowMs };
        past = rules.looksAtHistory ? { history: [...history.of(session.id), ...foreseen] } : {};
        verdict = rules.judge({ ...asked, ...standing, ...past });
      } catch (error) {
        reportFailure(error);
        return refuse('RULE_DENIES', 'rule-failed', 'A rule failed while it was applied, so the call is denied.', {
          forOperators: 'The daemon log says why.',
        });
      }
      if (verdict.effect !== 'deny') return { rules, verdict, ...past };
      const { code = 'RULE_DENIES', rule, reason, remedy, forOperators, shadow } = verdict;
      return refuse(code, rule, reason, {
        rulesHash: rules.hash,
        ...(remedy === undefined ? {} : { remedy }),
        ...(forOperators === undefined ? {} : { forOperators }),
        ...(shadow === undefined ? {} : { shadow: { effect: shadow.effect, ruleId: shadow.rule.id } }),
      });
    },
  };
}

function outsideRoots(workspace: string) {
  const message = `The workspace of this session, ${workspace}, is not in a folder that an operator accepted.`;
  return refuse('RULE_DENIES', 'workspace', message, {
    remedy: 'Ask the operator for a new session.',
    forOperators: `\`sallyport workspace add ${workspace}\` accepts the folder. \`sallyport workspace list\` shows what is accepted.`,
  });
}
