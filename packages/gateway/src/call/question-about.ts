import type { Judgeable } from './call.ts';
import type { PastCall, Question } from './verdict.ts';

/** What the rules are asked about a call: when it comes in, and again about what its tool opens. */
export function questionAbout(call: Judgeable, nowMs: number, history: readonly PastCall[] | undefined): Question {
  const { session, membership } = call;
  return {
    tool: call.tool.definition,
    principal: session.principal,
    agent: session.agent,
    mode: call.mode,
    resources: call.resources,
    arguments: call.arguments.value,
    nowMs,
    roles: membership.roles,
    teams: membership.teams,
    toolGranted: membership.toolGranted,
    profile: membership.profile,
    history,
  };
}
