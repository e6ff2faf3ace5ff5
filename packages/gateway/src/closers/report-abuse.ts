import type { Closer } from '../pipeline/stage.ts';
import type { CallFacts } from './facts.ts';

/** An agent that goes on although it was told to slow down. */
export interface Abuse {
  readonly sessionId: string;
  readonly agent: string;
  readonly tool: string;
  readonly rule: string;
  /** Refusals within the window. */
  readonly refusals: number;
}

export interface AbuseReports {
  /** Records it and tells the senior of the agent. */
  readonly report: (abuse: Abuse) => Promise<void>;
}

interface Refusals {
  sinceMs: number;
  count: number;
}

const reportAt = 10;
const windowMs = 600_000;
const mostSessions = 10_000;

/** Reports a session once per window when it has run into limits again and again. */
export function reportAbuse(reports: AbuseReports): Closer<CallFacts> {
  const bySession = new Map<string, Refusals>();
  return {
    name: 'report-abuse',
    required: false,
    run: async (ending, context) => {
      const { session, tool } = ending.call;
      if (ending.kind !== 'refused' || ending.refusal.code !== 'RATE_LIMITED') return;
      if (session?.principal !== 'agent') return;
      const nowMs = context.nowMs();
      let refusals = bySession.get(session.id);
      if (refusals === undefined || nowMs - refusals.sinceMs >= windowMs) {
        if (bySession.size >= mostSessions) bySession.clear();
        refusals = { sinceMs: nowMs, count: 0 };
        bySession.set(session.id, refusals);
      }
      if (++refusals.count !== reportAt) return;
      await reports.report({
        sessionId: session.id,
        agent: session.agent,
        tool: tool?.definition.name ?? '',
        rule: ending.refusal.rule.id,
        refusals: refusals.count,
      });
    },
  };
}
