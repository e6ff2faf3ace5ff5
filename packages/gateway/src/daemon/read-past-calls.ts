import { decodeLeaf } from '../audit/leaf.ts';
import type { PastCall } from '../model/verdict.ts';
import type { Store } from '../storage/stores.ts';

/** How far back a session's calls are looked for: rules speak of minutes and hours, not of years. */
const mostRecords = 50_000;
const pageRecords = 1000;

/** The calls of a session, from the log, for rules that ask what it did before this daemon was started. */
export function readPastCalls(
  store: Pick<Store, 'logSize' | 'readRecords'>,
): (sessionId: string) => readonly PastCall[] {
  return (sessionId) => {
    const past: PastCall[] = [];
    const end = store.logSize();
    for (let at = Math.max(0, end - mostRecords); at < end; at += pageRecords) {
      for (const { leaf, payload } of store.readRecords(at, pageRecords)) {
        const { kind, sessionId: whose, timeMs } = decodeLeaf(leaf);
        if (kind !== 'intent' || whose !== sessionId || payload === undefined) continue;
        const { tool } = JSON.parse(payload) as { readonly tool?: string };
        if (tool !== undefined) past.push({ tool, startedAtMs: timeMs });
      }
    }
    return past;
  };
}
