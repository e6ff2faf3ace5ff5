import type { ErasedRows } from '../storage/stores.ts';

const call = /"(?:parent_)?call_id":"([^"\\]*)"/g;
const session = /"session_id":"([^"\\]*)"/;
const time = /^\{"time":"([^"\\]*)"/;

/**
 * Which lines of the gate's own logs are about erased calls. Quotes in text that a caller chose are escaped there, so
 * it cannot look like one of these members.
 */
export function tellsOf({ callIds, sessionIds, beforeMs = -Infinity, untilMs }: ErasedRows): (line: string) => boolean {
  const [calls, sessions] = [new Set(callIds), new Set(sessionIds)];
  return (line) => {
    const ids = [...line.matchAll(call)].map(([, id = '']) => id);
    const sessionId = session.exec(line)?.[1] ?? '';
    // The rest is about the gate.
    if (ids.length === 0 && sessionId === '') return false;
    const atMs = Date.parse(time.exec(line)?.[1] ?? '');
    return ids.some((id) => calls.has(id)) || (sessions.has(sessionId) && atMs < untilMs) || atMs < beforeMs;
  };
}
