import type { GatewayParts } from '../../gateway.ts';
import type { LoadedRules } from '../../policy/language/load-rules.ts';
import { ownJson } from '../../call/redacted.ts';
import type { AnyTool } from '../../call/tool.ts';
import { CallGauge } from '../../modes/call-gauge.ts';
import { MachineGauge } from '../../modes/machine-gauge.ts';
import { ModeAuthority } from '../../modes/mode-authority.ts';
import { ModeWatch } from '../../modes/mode-watch.ts';
import { RunningCalls } from '../../calls/running-calls.ts';
import type { TurnLimits } from '../../call/turnstile.ts';
import type { ModeChange, Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import { modeTools } from '../../modes/tools.ts';
import type { Home } from '../home/home.ts';

export interface ModesSource {
  readonly home: Home;
  readonly store: Store;
  readonly currentRules: () => LoadedRules;
  readonly log: EventLog;
  /** Whether something goes on for which the mode was raised. Absent: never. */
  readonly isTroubled?: () => boolean;
  /** Told of each change when it counts. Must not throw. Absent: nobody is told. */
  readonly onChanged?: () => void;
}

export interface OpenedModes {
  readonly authority: ModeAuthority;
  readonly tools: readonly AnyTool[];
  readonly forGateway: Pick<GatewayParts, 'modes' | 'calls'>;
  readonly running: RunningCalls;
  readonly turnLimits: () => TurnLimits;
  /** From now on the mode changes by itself. */
  readonly start: () => void;
  readonly close: () => void;
}

/** In a mode in which nothing runs, what a rule names for it still does, this much at once. */
const placesByName = 8;

/** Puts together what concerns the mode. */
export function openModes({ home, store, currentRules, log, isTroubled, onChanged }: ModesSource): OpenedModes {
  const authority = new ModeAuthority(store);
  const running = new RunningCalls(() => authority.current());
  const calls = new CallGauge();
  const machine = new MachineGauge(home.folder);
  const watch = new ModeWatch({
    authority,
    policy: () => currentRules().modes,
    calls,
    readMachine: () => machine.read(),
    ...(isTroubled && { isTroubled }),
    onFault: (error) => {
      // A sealed store has said so once; that nothing can be written is no news every second.
      if (store.sealed() === undefined) log.error('mode_watch_failed', { error });
    },
  });
  authority.onChange((change) => {
    log.warn('mode_changed', { ...change });
    onChanged?.();
    if (change.to === 'LOCKDOWN') recordStopped(running.endChanging(change.by ?? 'sallyport'), change, store, log);
  });
  const limitsOf = (mode: ReturnType<Store['readMode']>) => currentRules().modes.limits[mode];
  return {
    authority,
    tools: modeTools({ authority, policy: () => currentRules().modes }),
    forGateway: {
      modes: {
        isClosed: (mode) => limitsOf(mode).maxRunning === 0,
        isOpenedByName: (tool, mode) => currentRules().opensByName(tool, mode),
        limitsOf,
        profile: () => store.readOrganisation().settings.profile,
      },
      calls,
    },
    running,
    turnLimits: () => {
      const { maxRunning, maxRunningPerSession } = currentRules().limits;
      const ofMode = limitsOf(authority.current()).maxRunning || placesByName;
      return { maxRunning: Math.min(maxRunning, ofMode), maxRunningPerSession };
    },
    start: () => watch.start(),
    close: () => watch.close(),
  };
}

/** Each stopped call records how it ended; this says in one place which they were. */
function recordStopped(callIds: readonly string[], { by, atMs }: ModeChange, store: Store, log: EventLog): void {
  if (callIds.length === 0) return;
  const payload = ownJson({
    event: 'calls_stopped',
    because: 'LOCKDOWN',
    by: by ?? 'sallyport',
    calls: callIds.slice(0, 1000),
    count: callIds.length,
  });
  store.append({ kind: 'event', result: 'none', timeMs: atMs, payload }).catch((error: unknown) => {
    log.error('stopped_calls_unrecorded', { error, calls: callIds });
  });
}
