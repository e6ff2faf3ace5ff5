import type * as contract from '@sallyport/contract';
import type { Code, InJson, JsonObject } from '@sallyport/contract';
import type { Explained } from '../judge/explain-question.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import type { Membership } from '../../call/organisation.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Mode, Session } from '../../call/session.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, Resources } from '../../call/tool.ts';
import { modeRefusal } from '../../modes/mode-refusal.ts';
import { findMembership } from '../../organisation/check-member.ts';
import { isVisible } from '../../registry/registry.ts';
import type { RegisteredTool } from '../../registry/registry.ts';
import { outsideLease } from '../judge/lease.ts';
import { planReservations } from '../../stages/plan-reservations.ts';
import type { PolicyToolParts } from './policy-parts.ts';

/** What one gate says to a call. */
interface ExplainedStage extends InJson<contract.ExplainedStage> {
  readonly says: 'passes' | 'asks' | 'denies' | 'depends';
  readonly code?: Code;
}

interface ExplainedCall {
  /** Canonical name. */
  readonly tool: string;
  /** In the order in which a call meets them. */
  readonly stages: readonly ExplainedStage[];
  readonly effect: 'allow' | 'require_approval' | 'deny';
  readonly decidedBy: ExplainedStage;
  /** Absent: the organisation does not let the caller use the tool. */
  readonly membership?: Membership;
  /** What the rules say, whatever the gates before them do. */
  readonly explained: Explained;
}

interface CallInQuestion {
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** With a lease, when it is a session. */
  readonly caller: Pick<Session, 'principal' | 'agent' | 'workingDirectory'> &
    Partial<Pick<Session, 'lease' | 'workspace'>>;
  readonly mode: Mode;
  readonly nowMs: number;
}

/** Asks each gate by what the gate itself asks. Throws ToolFailure for a call that never comes to the rules. */
export async function explainStages(
  call: CallInQuestion,
  rules: LoadedRules,
  parts: PolicyToolParts,
): Promise<ExplainedCall> {
  const { caller, mode, nowMs, arguments: args } = call;
  const found = parts.registry.find(call.toolName);
  if (found === undefined) throw new ToolFailure('NOT_FOUND', `There is no tool named ${call.toolName}.`);
  const { tool } = found;
  const { definition } = tool;
  const resources = claim(found, call);
  const membership = findMembership(parts.store.readOrganisation(), caller, definition.name);
  const gate = {
    isClosed: (asked: Mode) => rules.modes.limits[asked].maxRunning === 0,
    isOpenedByName: rules.opensByName,
  };
  const known = isRefusal(membership) ? {} : membership;
  const { principal, agent } = caller;
  const question = { tool: definition, principal, agent, mode, resources, arguments: args, nowMs, ...known };
  const explained = rules.explain(question);
  const judged = judge(explained);
  const before = [
    resolve(tool, call),
    passes('check-arguments', 'they fit the schema of the tool'),
    checkLease(caller, definition.name, resources, nowMs),
    isRefusal(membership)
      ? denies('check-permission', membership)
      : passes('check-permission', describeMembership(membership)),
    orPasses(
      'check-mode',
      modeRefusal(definition, mode, gate, call.caller.principal),
      `the tool can be used in ${mode}`,
    ),
  ];
  const stages = [
    ...before,
    judged,
    ...describeLater(tool),
    await countLimits(tool, call, rules, parts, known),
    seekApproval(explained),
  ];
  const decidedBy = before.find(({ says }) => says === 'denies') ?? judged;
  const effect = decidedBy === judged ? explained.verdict.effect : 'deny';
  return {
    tool: definition.name,
    stages,
    effect,
    decidedBy,
    explained,
    ...(isRefusal(membership) ? {} : { membership }),
  };
}

function claim({ tool, input }: RegisteredTool, { arguments: args, caller, toolName }: CallInQuestion): Resources {
  const violations = input.check(args);
  if (violations.length > 0) {
    const message = violations.map((violation) => violation.message).join('; ');
    throw new ToolFailure('INVALID_ARGUMENTS', `The arguments do not match the schema of ${toolName}: ${message}.`);
  }
  try {
    return tool.claim(args, caller as Session);
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
    throw new ToolFailure(error.refusal.code, error.refusal.message, { cause: error });
  }
}

function resolve(tool: AnyTool, { caller, toolName }: CallInQuestion): ExplainedStage {
  const { name, version } = tool.definition;
  if (!isVisible(tool, caller.principal)) {
    const why = `${name} is for operators; for agents it does not exist`;
    return { stage: 'resolve-tool', says: 'denies', why, rule: { id: 'registry' }, code: 'UNKNOWN_TOOL' };
  }
  const named = toolName === name ? `${name} ${version}` : `${toolName} is ${name} ${version}`;
  return orPasses('resolve-tool', tool.explainUnusable?.(), named);
}

function checkLease(
  { lease }: CallInQuestion['caller'],
  tool: string,
  resources: Resources,
  nowMs: number,
): ExplainedStage {
  if (lease === undefined) return { stage: 'check-lease', says: 'depends', why: 'on the session that calls' };
  return orPasses('check-lease', outsideLease(lease, tool, resources, nowMs), 'the lease includes all of it');
}

function describeMembership({ roles, teams, toolGranted }: Membership): string {
  const said = [
    ...(roles ?? []).map((role) => `role ${role}`),
    ...(teams ?? []).map((team) => `team ${team}`),
    ...(toolGranted === true ? ['the tool was granted'] : []),
  ];
  return said.length === 0 ? 'the organisation says nothing about it' : said.join(', ');
}

function judge({ verdict }: Explained): ExplainedStage {
  const { effect, rule, reason, code } = verdict;
  const remedy = verdict.forOperators ?? verdict.remedy;
  const says = { allow: 'passes', require_approval: 'asks', deny: 'denies' } as const;
  return {
    ...{ stage: 'judge-call', says: says[effect], why: reason, rule },
    ...(remedy === undefined ? {} : { remedy }),
    ...(code === undefined ? {} : { code }),
  };
}

function seekApproval({ verdict }: Explained): ExplainedStage {
  if (verdict.effect !== 'require_approval') return passes('seek-approval', 'nobody has to be asked');
  return { stage: 'seek-approval', says: 'asks', why: 'a person decides about the effect of the call' };
}

function describeLater({ definition }: AnyTool): readonly ExplainedStage[] {
  const sandbox: ExplainedStage = definition.requiresSandbox
    ? {
        stage: 'check-sandbox',
        says: 'depends',
        why: 'on whether this machine can confine programs: `sallyport doctor`',
      }
    : passes('check-sandbox', 'the tool runs no programs');
  return [
    sandbox,
    { stage: 'break-loop', says: 'depends', why: 'on how often the same call had the same result' },
    { stage: 'reuse-result', says: 'depends', why: 'on the dedupe key of the call' },
  ];
}

/** How much of each limit is used now. */
async function countLimits(
  { definition }: AnyTool,
  { caller, mode, nowMs }: CallInQuestion,
  { limits, modes, rolesOf }: LoadedRules,
  { store }: PolicyToolParts,
  membership: Membership,
): Promise<ExplainedStage> {
  const { agent } = caller;
  const { profile } = store.readOrganisation().settings;
  const limited = {
    tool: definition,
    agent,
    roles: membership.roles ?? rolesOf(agent, membership.profile),
    mode,
    profile,
  };
  const looking = planReservations(limited, limits, modes.limits[mode]).map(async (reservation) => {
    const { limit, windowMs, rule } = reservation;
    return { limit, windowMs, rule, used: (await store.usedOf(reservation, nowMs)).used };
  });
  const counts = await Promise.all(looking);
  const why = counts.map(({ used, limit, windowMs }) => `${used} of ${limit} in ${windowMs / 1000} s`).join(', ');
  const spent = counts.find(({ used, limit }) => used >= limit);
  if (spent === undefined) return passes('check-limits', why === '' ? 'nothing limits it' : `used: ${why}`);
  const says = 'denies' as const;
  return { stage: 'check-limits', says, why: `used up: ${why}`, rule: { id: spent.rule }, code: 'RATE_LIMITED' };
}

function orPasses(stage: string, refusal: Refusal | undefined, why: string): ExplainedStage {
  return refusal === undefined ? passes(stage, why) : denies(stage, refusal);
}

function passes(stage: string, why: string): ExplainedStage {
  return { stage, says: 'passes', why };
}

function denies(stage: string, refusal: Refusal): ExplainedStage {
  const { rule, message, code } = refusal;
  const remedy = refusal.forOperators ?? refusal.remedy;
  return { stage, says: 'denies', why: message, rule, code, ...(remedy === undefined ? {} : { remedy }) };
}
