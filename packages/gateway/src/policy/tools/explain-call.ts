import type { JsonObject } from '@sallyport/contract';
import type { ConsideredRule } from '../judge/explain-question.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import { principals } from '../language/rule.ts';
import type { RuleReference } from '../../call/refusal.ts';
import { modes } from '../../call/session.ts';
import type { Mode, Principal, Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Tool } from '../../call/tool.ts';
import { explainStages } from './explain-stages.ts';
import type { CallInQuestion, ExplainedCall, ExplainedStage } from './explain-stages.ts';
import { chooseRules, defineReading, describeRule, rulesProperty, rulesWhere } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';

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

export function explainTool(parts: PolicyToolParts): Tool<JsonObject> {
  return defineReading({
    name: 'policy.explain',
    description:
      'Says how a call would be decided: what each gate says to it, by which rule, and what every other rule has to do with it.',
    required: ['tool'],
    properties: {
      tool: { type: 'string', maxLength: 256, description: 'Name or alias of the tool.' },
      arguments: { type: 'object', default: {}, description: 'The arguments of the call.' },
      agent: { type: 'string', maxLength: 256, description: 'Who would call. Absent: somebody called "agent".' },
      principal: { type: 'string', enum: [...principals], default: 'agent', description: 'What kind of caller it is.' },
      session: { type: 'string', maxLength: 64, description: 'A session that would call, instead of `agent`.' },
      workspace: {
        type: 'string',
        maxLength: 4096,
        description: 'Where the agent would work: a folder in an accepted root. Absent: the workspace of the daemon.',
      },
      mode: { type: 'string', enum: [...modes], description: 'Absent: the present one.' },
      rules: rulesProperty,
    },
    run: async (given) => {
      return describe(
        await explainCall(given as unknown as ExplainArguments, chooseRules(parts.rules, given['rules']), parts),
      );
    },
  });
}

/** Throws ToolFailure for a call that cannot be judged. */
export async function explainCall(
  args: ExplainArguments,
  rules: LoadedRules,
  parts: PolicyToolParts,
): Promise<ExplainedCall & Pick<CallInQuestion, 'caller' | 'mode'> & { readonly rules: LoadedRules }> {
  const session = args.session === undefined ? undefined : await findSession(args.session, parts);
  const { principal, agent = 'agent', mode = parts.store.readMode(), workspace } = args;
  const somebody = {
    principal,
    agent,
    workingDirectory: workspace ?? parts.workspace,
    ...(workspace && { workspace }),
  };
  const caller = session ?? somebody;
  const where = rulesWhere(rules, caller, parts);
  const call = { toolName: args.tool, arguments: structuredClone(args.arguments), caller, mode, nowMs: Date.now() };
  return { ...(await explainStages(call, where, parts)), caller, mode, rules: where };
}

function describe(call: Awaited<ReturnType<typeof explainCall>>): JsonObject {
  const { rules, tool, caller, mode, stages, effect, decidedBy, membership, explained } = call;
  const found = rules.membershipOf(caller.agent);
  const { roles = found.roles, teams = found.teams } = membership ?? {};
  const { shadow } = explained.verdict;
  return {
    hash: rules.hash,
    workspace: rules.workspace.folder,
    ...{ tool, agent: caller.agent, principal: caller.principal, roles: [...roles], teams: [...teams], mode },
    effect,
    decided_by: decidedBy.stage,
    ...describeRule(decidedBy.rule ?? { id: decidedBy.stage }),
    reason: decidedBy.why,
    ...(decidedBy.code === undefined ? {} : { code: decidedBy.code }),
    ...(decidedBy.remedy === undefined ? {} : { remedy: decidedBy.remedy }),
    ...(shadow === undefined ? {} : { shadow: { effect: shadow.effect, ...describeRule(shadow.rule) } }),
    stages: stages.map(describeStage),
    considered: explained.considered.map((each) => describeConsidered(each, decidedBy.rule)),
  };
}

async function findSession(id: string, { store }: PolicyToolParts): Promise<Session> {
  const session =
    (await store.readSession(id)) ?? only((await store.listSessions()).filter((each) => each.id.startsWith(id)));
  if (session === undefined) throw new ToolFailure('NOT_FOUND', `There is no one session ${id}.`);
  return session;
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}

function describeStage({ stage, says, why, rule, remedy }: ExplainedStage): JsonObject {
  return {
    stage,
    says,
    why,
    ...(rule === undefined ? {} : describeRule(rule)),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function describeConsidered(
  { rule, effect, mismatch, namesTool, shadow }: ConsideredRule,
  deciding: RuleReference | undefined,
): JsonObject {
  return {
    ...describeRule(rule),
    ...{ effect, matches: mismatch === undefined, decides: rule.id === deciding?.id, names_tool: namesTool },
    ...(shadow ? { shadow: true } : {}),
    ...(mismatch === undefined ? {} : { why: mismatch }),
  };
}
