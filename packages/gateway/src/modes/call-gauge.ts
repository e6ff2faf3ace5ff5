/** How one call ended, as far as the mode cares. */
export interface CallSign {
  readonly sessionId: string;
  readonly failed: boolean;
  /** A gate said no to something that should not have been tried. */
  readonly violated: boolean;
  readonly highRisk: boolean;
}

export interface CallRates {
  /** Absent: too few calls to say. */
  readonly errorPercent?: number;
  readonly violationsPerMinute: number;
  readonly highRiskPerMinute: number;
}

interface Tally {
  calls: number;
  failed: number;
  violated: number;
  highRisk: number;
}

const windowSeconds = 60;
const fewestCalls = 20;
const mostSessions = 10_000;

/** Counts how calls end, by session, over the last minute. */
export class CallGauge {
  readonly #seconds = new Map<number, Map<string, Tally>>();

  note({ sessionId, failed, violated, highRisk }: CallSign, nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const bySession = this.#seconds.get(second) ?? new Map<string, Tally>();
    this.#seconds.set(second, bySession);
    const tally = bySession.get(sessionId) ?? { calls: 0, failed: 0, violated: 0, highRisk: 0 };
    if (!bySession.has(sessionId) && bySession.size >= mostSessions) return;
    bySession.set(sessionId, tally);
    tally.calls++;
    tally.failed += Number(failed);
    tally.violated += Number(violated);
    tally.highRisk += Number(highRisk);
  }

  /** All sessions together. */
  read(nowMs: number): CallRates {
    const { total } = this.#sum(nowMs);
    return ratesOf(total.calls, total.failed, total.violated, total.highRisk);
  }

  /** What is left of each number without the session that adds most to it: what no session does alone. */
  readWithoutWorst(nowMs: number): CallRates {
    const { total, sessions } = this.#sum(nowMs);
    const worst = (key: keyof Tally) => sessions.reduce((most, each) => (each[key] > most[key] ? each : most), nothing);
    const failing = worst('failed');
    return ratesOf(
      total.calls - failing.calls,
      total.failed - failing.failed,
      total.violated - worst('violated').violated,
      total.highRisk - worst('highRisk').highRisk,
    );
  }

  #sum(nowMs: number): { total: Tally; sessions: Tally[] } {
    const oldest = Math.floor(nowMs / 1000) - windowSeconds;
    const sessions = new Map<string, Tally>();
    const total = { ...nothing };
    for (const [second, bySession] of this.#seconds) {
      if (second <= oldest) {
        this.#seconds.delete(second);
        continue;
      }
      for (const [id, tally] of bySession) {
        const sum = sessions.get(id) ?? { ...nothing };
        sessions.set(id, sum);
        for (const key of ['calls', 'failed', 'violated', 'highRisk'] as const) {
          sum[key] += tally[key];
          total[key] += tally[key];
        }
      }
    }
    return { total, sessions: [...sessions.values()] };
  }
}

const nothing: Readonly<Tally> = { calls: 0, failed: 0, violated: 0, highRisk: 0 };

function ratesOf(calls: number, failed: number, violated: number, highRisk: number): CallRates {
  return {
    ...(calls < fewestCalls ? {} : { errorPercent: (100 * failed) / calls }),
    violationsPerMinute: violated,
    highRiskPerMinute: highRisk,
  };
}
