import { useCallback } from 'react';
import { searchAudit } from '../daemon/search-audit.ts';
import { addRecord, factsOfCall, readPayload } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import { useLogTurn } from '../live/use-log-turn.ts';
import { useLoaded } from '../shell/use-loaded.ts';
import type { Loaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { tellCall } from '../text/tell-call.ts';

export interface ChangeToday {
  readonly key: string;
  readonly link: string;
  readonly who: string;
  readonly text: string;
  readonly atMs: number;
}

/** As many as there is room for on one screen. */
const mostShown = 5;

/** What people and the gate itself changed since midnight: sessions, rules, tools, the mode. The latest first. */
export function useChangesToday(): Loaded<readonly ChangeToday[]> {
  const load = useCallback(async () => {
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const since = `since:${midnight.toISOString().replace('.000Z', 'Z')}`;
    const [byPeople, events] = await Promise.all(
      [`about:people status:ok ${since}`, `kind:event ${since}`].map((filter) => searchAudit(filter, { limit: 40 })),
    );
    const changes = [...(byPeople?.entries ?? []), ...(events?.entries ?? [])].flatMap(({ records }): ChangeToday[] => {
      const call = records.reduce<Call | undefined>((known, record) => addRecord(known, record), undefined);
      const last = records.at(-1);
      if (call === undefined || last === undefined) return [];
      const { event, agent = '', by } = readPayload(last);
      const atMs = Number(last.timeMs);
      if (event !== undefined) {
        if (/^anomaly_|^approval_|^console_log/.test(event)) return [];
        const who = typeof by === 'string' ? by : agent || 'the gate';
        return [{ key: last.index, link: linkTo('audit', last.index), who, text: event.replaceAll('_', ' '), atMs }];
      }
      const { verb, object } = tellCall(call.tool, factsOfCall(call).arguments, call.summary, call.outcome);
      return [
        { key: last.index, link: linkTo('calls', call.id), who: call.agent, text: `${verb} ${object}`.trim(), atMs },
      ];
    });
    return changes.toSorted((a, b) => b.atMs - a.atMs).slice(0, mostShown);
  }, []);
  return useLoaded(load, useLogTurn());
}
