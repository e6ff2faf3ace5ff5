import type { SessionHistory } from '../policy/judge/session-history.ts';
import type { Draft, Foreseen, Judgeable, Judged, Received } from '../call/call.ts';
import { questionAbout } from '../call/question-about.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { belongs } from '../call/workspace.ts';
import type { PastCall, Rules } from '../call/verdict.ts';
import type { Context, Passed, Stage } from '../call/stage.ts';

/** The rules for the workspace of a session. Undefined: no operator accepted that workspace, or no longer. */
export type RulesFor = (session: Pick<Session, 'workspace'>) => Rules | undefined;

type Needs = Pick<Received, 'clientFolder'> & Foreseen & Judgeable;

/** Asks the rules. An error in them is a denial; `reportFailure` gets the cause. */
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
    run: (call, context) => {
      const { session, clientFolder, foreseen = [] } = call;
      try {
        const rules = rulesFor(session);
        if (rules === undefined) return outsideRoots(session.workspace ?? '');
        if (clientFolder !== undefined && belongs(rules.workspace, clientFolder) === 'elsewhere') {
          return fromElsewhere(clientFolder, rules.workspace.folder);
        }
        if (!rules.looksAtHistory) return judge(rules, call, undefined, context);
        const judgeKnowing = (past: readonly PastCall[]) => judge(rules, call, [...past, ...foreseen], context);
        return history.of(session.id).then(judgeKnowing).catch(fail);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

function judge(
  rules: Rules,
  call: Needs & Draft<Judged>,
  history: readonly PastCall[] | undefined,
  context: Context,
): Passed {
  const verdict = rules.judge(questionAbout(call, context.nowMs(), history));
  if (verdict.effect !== 'deny') {
    call.rules = rules;
    call.verdict = verdict;
    call.history = history;
    return undefined;
  }
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
    forOperators: `\`sallyport workspace add ${workspace}\` accepts the folder, and the session goes on. A daemon accepts the folder that it was started in only while it runs there. \`sallyport workspace list\` shows what is accepted.`,
  });
}

/** The folder of the client, where its relative paths start, is not in the workspace of the session. */
function fromElsewhere(clientFolder: string, workspace: string): Refusal {
  const message = `The client works in ${clientFolder}, and this session works in ${workspace}.`;
  return refuse('RULE_DENIES', 'workspace', message, {
    remedy: 'Ask the operator for a session in the folder of the client.',
    forOperators: `\`sallyport session create NAME --workspace ${clientFolder}\` opens one. Give its token to the client in that folder.`,
  });
}
