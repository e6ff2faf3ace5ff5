import { useCallback } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { ActivityReport } from '../daemon/messages.ts';
import { useLogTurn } from '../live/use-log-turn.ts';
import { useLoaded } from '../shell/use-loaded.ts';
import type { Loaded } from '../shell/use-loaded.ts';

/** What agents did in the last hours, kept up to date. */
export function useActivity(hours: number): Loaded<ActivityReport> {
  const load = useCallback(() => daemon.call('OperatorService/GetActivity', { hours }), [hours]);
  return useLoaded(load, useLogTurn());
}
