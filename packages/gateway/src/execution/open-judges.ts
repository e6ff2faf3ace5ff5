import type * as facts from '../call/call.ts';
import { questionAbout } from '../call/question-about.ts';
import { refuse } from '../call/refusal.ts';
import type { Lease } from '../call/session.ts';
import type { LeavingsJudge } from '../call/sweep.ts';
import type { Asking, HostJudge, PathJudge, ToolDefinition } from '../call/tool.ts';
import type { Question } from '../call/verdict.ts';
import { judgeLeavings } from '../policy/judge/leavings.ts';
import { coversPath } from '../policy/judge/lease.ts';
import { judgeHosts } from './judge-hosts.ts';
import type { HostJudgeParts } from './judge-hosts.ts';

/** The rules are asked about it again while its tool runs. Not consented: its effect is only worked out. */
export type JudgedCall = facts.JudgedCall & facts.Consented;

/** Only a consent lets a call with this verdict run; for a preview, the person who will be asked may see it all. */
function isConsented({ verdict }: JudgedCall): boolean {
  return verdict.effect === 'require_approval';
}

/** What the rules say about each path that the tool opens. */
export function openPaths(call: JudgedCall): PathJudge {
  const { rules, consent, lease } = call;
  const agreedAgent = consent?.how === 'approved-by-agent' ? consent.by : undefined;
  const judge = rules.judgePaths({ ...askedAbout(call), consented: isConsented(call), agreedAgent });
  return narrowPaths(judge, lease);
}

function askedAbout(call: JudgedCall): Question {
  return questionAbout(call, call.startedAtMs, call.history);
}

export function openHosts(call: JudgedCall, secrets: HostJudgeParts['secrets']): HostJudge {
  const { rules, lease } = call;
  return judgeHosts({ rules, question: askedAbout(call), lease, consented: isConsented(call), secrets });
}

/** What programs may leave is what the same caller could write now, without being asked. */
export function openLeavings(call: JudgedCall, writeTool: ToolDefinition): LeavingsJudge {
  const { rules, session, mode } = call;
  const { principal, agent } = session;
  const write = judgeWriting(call, writeTool, false);
  const { folder: workspace } = rules.workspace;
  return judgeLeavings({ write, caller: { principal, agent, mode, consented: isConsented(call), workspace } });
}

/** Where the caller may write with the tool that writes files. */
export function openWriting(call: JudgedCall, writeTool: ToolDefinition): PathJudge {
  return narrowPaths(judgeWriting(call, writeTool, isConsented(call)), call.lease);
}

function judgeWriting(call: JudgedCall, writeTool: ToolDefinition, consented: boolean): PathJudge {
  const { rules, session, mode, membership, history } = call;
  const { principal, agent } = session;
  const asker = { principal, agent, mode, ...membership, ...(history !== undefined && { history }) };
  return rules.judgePaths({ ...asker, tool: writeTool, consented, nowMs: call.startedAtMs });
}

/** The rules, the mode and what the session did before are those of the call. */
export function openAsking({ rules, session, mode, membership, history, askCaller }: JudgedCall): Asking {
  const { principal, agent } = session;
  const asker = { principal, agent, mode, ...membership, ...(history !== undefined && { history }) };
  return {
    judge: (tool, args, resources) => rules.judge({ ...asker, tool, resources, arguments: args, nowMs: Date.now() }),
    ...(askCaller === undefined ? {} : { askCaller }),
  };
}

/** The path that a tool really opened must be in the lease as well. */
function narrowPaths(rules: PathJudge, lease: Lease): PathJudge {
  if (lease.paths === undefined) return rules;
  return {
    judge: (path, access) =>
      coversPath(lease, path)
        ? rules.judge(path, access)
        : refuse('OUTSIDE_LEASE', 'lease', 'The path leads out of the lease of this session.'),
  };
}
