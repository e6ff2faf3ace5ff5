import { findOutside } from '../../policy/judge/lease.ts';
import type { JudgedCall } from '../../call/call.ts';
import type { ToolDefinition, ToolFailure } from '../../call/tool.ts';

/**
 * Whether the caller may be told at once that a call will fail, and why. Why it fails says something about the files it
 * names: that one does not exist, or what it does not contain. So the caller is told only if they may read these files
 * without asking; otherwise a person is asked, who sees the reason. `reading` is the tool that reads files.
 */
export function mayTellFailure(call: JudgedCall, { code }: ToolFailure, reading: ToolDefinition | undefined): boolean {
  // A preview that ran out of time does not mean that the call would fail.
  if (code === 'TIMEOUT') return false;
  return call.resources.paths.every(({ path }) => reading !== undefined && mayRead(call, reading, path));
}

function mayRead(call: JudgedCall, tool: ToolDefinition, path: string): boolean {
  const { session, rules, mode, lease, membership, history, startedAtMs: nowMs } = call;
  const { principal, agent } = session;
  const resources = { paths: [{ path, access: 'read' }] } as const;
  if (findOutside(lease, tool.name, resources) !== undefined) return false;
  const asked = { tool, principal, agent, mode, resources, arguments: { path }, nowMs };
  const past = history === undefined ? {} : { history };
  return rules.judge({ ...asked, ...membership, ...past }).effect === 'allow';
}
