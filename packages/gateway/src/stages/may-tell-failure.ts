import { findOutside } from '../governance/lease.ts';
import type * as facts from '../model/call.ts';
import type { ToolFailure } from '../model/tool.ts';
import { filesRead } from '../tools/files/files-read.ts';

type Needs = facts.Begun &
  facts.Opened &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.Permitted &
  facts.ModeRead &
  facts.Judged;

/**
 * Whether the caller may be told at once that a call will fail, and why. Why it fails says something about the files it
 * names: that one does not exist, or what it does not contain. So the caller is told only if they may read these files
 * without asking; otherwise a person is asked, who sees the reason.
 */
export function mayTellFailure(call: Needs, { code }: ToolFailure): boolean {
  // That there was no time to find out does not mean that the call would fail.
  if (code === 'TIMEOUT') return false;
  return call.resources.paths.every(({ path }) => mayRead(call, path));
}

function mayRead({ session, rules, mode, lease, standing, history, startedAtMs: nowMs }: Needs, path: string): boolean {
  const { principal, agent } = session;
  const resources = { paths: [{ path, access: 'read' }] } as const;
  const { definition: tool } = filesRead;
  if (findOutside(lease, tool.name, resources) !== undefined) return false;
  const asked = { tool, principal, agent, mode, resources, arguments: { path }, nowMs };
  const past = history === undefined ? {} : { history };
  return rules.judge({ ...asked, ...standing, ...past }).effect === 'allow';
}
