import { callTool } from '../daemon/call-tool.ts';
import type { Session } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { useLogTurn } from '../live/use-log-turn.ts';
import { useLoaded } from '../shell/use-loaded.ts';
import type { Loaded } from '../shell/use-loaded.ts';

async function loadSessions(): Promise<readonly Session[]> {
  const { sessions } = await callTool<{ sessions: readonly Session[] }>('sessions.list', { include_ended: false });
  return sessions;
}

/** What was spent changes with every call; once a minute is often enough to look. */
const lookEveryMs = 60_000;

/** Who is in. */
export function useSessions(): Loaded<readonly Session[]> {
  const { sessions } = useValue(useGate().changes);
  return useLoaded(loadSessions, `${sessions} ${useLogTurn({ everyMs: lookEveryMs, ofAgents: true })}`);
}
