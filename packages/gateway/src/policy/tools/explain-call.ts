import { ExplanationSchema } from '@sallyport/contract';
import type { Explanation, InJson, JsonObject } from '@sallyport/contract';
import type { LoadedRules } from '../language/load-rules.ts';
import { principals } from '../language/rule.ts';
import { modes } from '../../call/session.ts';
import type { Mode, Principal, Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { explainStages } from './explain-stages.ts';
import { chooseRules, longTimeoutMs, rulesProperty } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** A call that somebody asks about. */
export interface ExplainArguments {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly agent?: string;
  readonly principal: Principal;
  readonly session?: string;
  /** Where a caller that is no session would work. Absent: in the daemon's own workspace. */
  readonly workspace?: string;
  readonly mode?: Mode;
}

export function explainTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.explain',
    description:
      'Explains how a call would be decided: the answer of each gate, the rule that decides, and how every other rule relates to the call.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    required: ['tool'],
    properties: {
      tool: schema.string('Name or alias of the tool.', { maxLength: 256 }),
      arguments: { type: 'object', default: {}, description: 'The arguments of the call.' },
      agent: schema.string('Who would call. Absent: somebody called "agent".', { maxLength: 256 }),
      principal: schema.choice('What kind of caller it is.', [...principals], { default: 'agent' }),
      session: schema.string('Id of the session that would call. Use it instead of `agent`.', { maxLength: 64 }),
      workspace: schema.string(
        'Where the agent would work: a folder in an accepted root. Absent: the workspace of the daemon.',
        { maxLength: 4096 },
      ),
      mode: schema.choice('The mode to assume. Absent: the current one.', [...modes]),
      rules: rulesProperty,
    },
    answers: ExplanationSchema,
    run: (args) => explainCall(args, chooseRules(parts.rules, args), parts),
    summarize: (_args, { tool, effect }) => `${tool}: ${effect}`,
  });
}

/** Throws ToolFailure for a call that cannot be judged. */
export async function explainCall(
  args: ExplainArguments,
  given: LoadedRules,
  parts: PolicyToolParts,
): Promise<InJson<Explanation>> {
  const session = args.session === undefined ? undefined : await findSession(args.session, parts);
  const { agent = 'agent', mode = parts.store.readMode(), workspace } = args;
  const caller = session ?? {
    principal: args.principal,
    agent,
    workingDirectory: workspace ?? parts.workspace,
    ...(workspace && { workspace }),
  };
  const rules = rulesWhere(given, caller, parts);
  const call = { toolName: args.tool, arguments: structuredClone(args.arguments), caller, mode, nowMs: Date.now() };
  const { tool, stages, effect, decidedBy, membership, explained } = await explainStages(call, rules, parts);
  const found = rules.membershipOf(caller.agent);
  const { roles = found.roles, teams = found.teams } = membership ?? {};
  const { verdict, considered } = explained;
  return {
    ...{ hash: rules.hash, workspace: rules.workspace.folder, mode, tool },
    ...{ agent: caller.agent, principal: caller.principal, roles: [...roles], teams: [...teams] },
    ...{ effect, decidedBy, stages },
    considered: considered.map((rule) => ({ ...rule, decides: rule.decides && decidedBy.stage === 'judge-call' })),
    ...(verdict.shadow && { shadow: verdict.shadow }),
  };
}

/** The rules as they are applied to a session. Throws ToolFailure where nothing of it would come to the rules. */
function rulesWhere(rules: LoadedRules, session: Pick<Session, 'workspace'>, parts: PolicyToolParts): LoadedRules {
  const workspace = parts.workspaceOf(session);
  if (workspace !== undefined) return rules.within(workspace);
  const message = `The workspace ${session.workspace ?? ''} is not in a folder that an operator accepted.`;
  throw new ToolFailure('EXECUTION_ERROR', message, { forOperators: '`sallyport workspace list` shows them.' });
}

async function findSession(id: string, { store }: PolicyToolParts): Promise<Session> {
  const session =
    (await store.readSession(id)) ?? only((await store.listSessions()).filter((each) => each.id.startsWith(id)));
  if (session === undefined)
    throw new ToolFailure('NOT_FOUND', `No session, or more than one, has an id that starts with ${id}.`);
  return session;
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}
