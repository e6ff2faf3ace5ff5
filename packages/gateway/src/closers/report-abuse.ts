import type { Abuse } from '../call/anomaly.ts';
import type { Session } from '../call/session.ts';
import type { Closer, Ending } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';

export interface AbuseReports {
  /** Records it and tells the senior of the agent. */
  readonly report: (abuse: Abuse) => Promise<void>;
  /** As it stands now. */
  readonly findSession: (id: string) => Pick<Session, 'status'> | undefined;
}

interface Episode {
  readonly sinceMs: number;
  lastMs: number;
  refusals: number;
}

const reportAt = 10;
const windowMs = 600_000;
const mostSessions = 10_000;

/**
 * Reports a session that runs into limits again and again, and one that was put into quarantine: once for each episode,
 * which is over when nothing happened for ten minutes. A quarantine has only one.
 */
export function reportAbuse(reports: AbuseReports): Closer<CallFacts> {
  const episodes = new Map<string, Episode>();
  const quarantined = new Set<string>();

  /** How often the session ran into limits, when that is to be reported now. */
  const countRefusal = (sessionId: string, nowMs: number): number | undefined => {
    const before = episodes.get(sessionId);
    const episode = before === undefined || isOver(before, nowMs) ? begin(episodes, sessionId, nowMs) : before;
    episode.lastMs = nowMs;
    return ++episode.refusals === reportAt ? episode.refusals : undefined;
  };

  const isNewlyQuarantined = (sessionId: string): boolean => {
    if (quarantined.has(sessionId) || reports.findSession(sessionId)?.status !== 'quarantined') return false;
    if (quarantined.size >= mostSessions) quarantined.clear();
    quarantined.add(sessionId);
    return true;
  };

  return {
    name: 'report-abuse',
    required: false,
    run: async (ending, context) => {
      const { session } = ending.call;
      if (session?.principal !== 'agent' || !wentWrong(ending)) return;
      const { id } = session;
      const refusals = isLimited(ending) ? countRefusal(id, context.nowMs()) : undefined;
      if (refusals !== undefined) await reports.report(describe('limits_ignored', ending, session, refusals));
      if (isNewlyQuarantined(id)) await reports.report(describe('session_quarantined', ending, session, 0));
    },
  };
}

function begin(episodes: Map<string, Episode>, sessionId: string, nowMs: number): Episode {
  if (episodes.size >= mostSessions) episodes.clear();
  const episode = { sinceMs: nowMs, lastMs: nowMs, refusals: 0 };
  episodes.set(sessionId, episode);
  return episode;
}

/** One that was reported lasts as long as it goes on; until then only refusals close to each other count together. */
function isOver({ sinceMs, lastMs, refusals }: Episode, nowMs: number): boolean {
  return nowMs - (refusals >= reportAt ? lastMs : sinceMs) >= windowMs;
}

function wentWrong(ending: Ending<CallFacts>): boolean {
  return ending.kind === 'refused' || (ending.kind === 'completed' && !ending.call.outcome.ok);
}

function isLimited(ending: Ending<CallFacts>): boolean {
  return ending.kind === 'refused' && ending.refusal.code === 'RATE_LIMITED';
}

function describe(kind: Abuse['kind'], ending: Ending<CallFacts>, session: Session, refusals: number): Abuse {
  return {
    kind,
    sessionId: session.id,
    agent: session.agent,
    tool: ending.call.tool?.definition.name ?? '',
    rule: ending.kind === 'refused' ? ending.refusal.rule.id : '',
    refusals,
  };
}
