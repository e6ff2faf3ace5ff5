import type { Measure, ModePolicy, Transition } from '../policy/judge/mode-policy.ts';
import { ownText, say } from '../call/redacted.ts';
import type { Mode } from '../call/session.ts';
import type { CallGauge, CallRates } from './call-gauge.ts';
import type { MachineReading } from './machine-gauge.ts';
import type { ModeAuthority } from './mode-authority.ts';

export interface ModeWatchParts {
  readonly authority: ModeAuthority;
  readonly policy: () => ModePolicy;
  readonly calls: CallGauge;
  readonly readMachine: () => MachineReading;
  /** Whether something goes on for which the mode was raised. Absent: never. */
  readonly isTroubled?: () => boolean;
  readonly onFault: (error: unknown) => void;
  /** Steady: not the time of day. Absent: the process's own. */
  readonly steadyMs?: () => number;
  readonly nowMs?: () => number;
}

type Readings = { readonly [Name in Measure]?: number };

/** How long all must be well, and by how much, before the gate takes back what it did by itself. */
const calmMs = 300_000;
const calmShare = 0.8;
/** Where a mode leads that the gate entered by itself, once all is well again. */
const afterCalm: { readonly [From in Mode]?: Mode } = { ALERT: 'NORMAL', DEGRADED: 'RECOVERY' };

/** Looks at the machine and the calls once a second and changes the mode by the transitions of the policy. */
export class ModeWatch {
  readonly #parts: ModeWatchParts;
  readonly #steadyMs: () => number;
  readonly #nowMs: () => number;
  /** Since when each transition has had a cause, or the present mode none. Forgotten with the mode. */
  readonly #since = new Map<Transition | 'calm', number>();
  #mode: Mode | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ModeWatchParts) {
    this.#parts = parts;
    this.#steadyMs = parts.steadyMs ?? (() => performance.now());
    this.#nowMs = parts.nowMs ?? Date.now;
  }

  start(): void {
    const look = (): void => {
      this.look().catch(this.#parts.onFault);
    };
    this.#timer = setInterval(look, 1000).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One look. Changes the mode at most once. */
  async look(): Promise<void> {
    const { authority, policy, calls, readMachine } = this.#parts;
    const mode = authority.current();
    if (mode !== this.#mode) this.#since.clear();
    this.#mode = mode;
    const machine = readMachine();
    const nowMs = this.#nowMs();
    const everyone = readingsOf(machine, calls.read(nowMs));
    // A single session may raise an alarm, but not take the gate away from the others.
    const withoutWorst = readingsOf(machine, calls.readWithoutWorst(nowMs));
    const { transitions } = policy();
    for (const transition of transitions.filter(({ from }) => from === mode)) {
      const reason = explain(transition, transition.to === 'ALERT' ? everyone : withoutWorst);
      if (!this.#hasHeld(transition, reason !== undefined, transition.holdMs)) continue;
      await authority.change({ to: transition.to, cause: ownText(reason ?? '') });
      return;
    }
    await this.#calmDown(mode, transitions, everyone);
  }

  /** Only what the gate did by itself, and only well below the thresholds: a value that swings around one stays. */
  async #calmDown(mode: Mode, transitions: readonly Transition[], readings: Readings): Promise<void> {
    const { authority, isTroubled = () => false } = this.#parts;
    const to = afterCalm[mode];
    if (to === undefined) return;
    const [last] = await authority.history(1);
    if (last?.to !== mode || last.by !== undefined) return;
    const entered = transitions.filter((transition) => transition.to === mode);
    const isCalm =
      !isTroubled() && entered.every((transition) => explain(transition, readings, calmShare) === undefined);
    if (!this.#hasHeld('calm', isCalm, calmMs)) return;
    await authority.change({ to, cause: say`All measurements have been well for ${calmMs / 60_000} minutes.` });
  }

  #hasHeld(what: Transition | 'calm', holds: boolean, holdMs: number): boolean {
    if (!holds) {
      this.#since.delete(what);
      return false;
    }
    const nowMs = this.#steadyMs();
    const sinceMs = this.#since.get(what) ?? nowMs;
    this.#since.set(what, sinceMs);
    return nowMs - sinceMs >= holdMs;
  }
}

function readingsOf(machine: MachineReading, rates: CallRates): Readings {
  const { cpuPercent, memoryPercent, diskFreeMb } = machine;
  const readings: { [Name in Measure]: number | undefined } = {
    cpu_percent: cpuPercent,
    memory_percent: memoryPercent,
    disk_free_mb: diskFreeMb,
    error_percent: rates.errorPercent,
    violations_per_minute: rates.violationsPerMinute,
    high_risk_per_minute: rates.highRiskPerMinute,
  };
  return Object.fromEntries(Object.entries(readings).filter(([, value]) => value !== undefined));
}

/** Which measurements call for the transition. Undefined: none; what could not be measured calls for nothing. */
function explain({ when }: Transition, readings: Readings, share = 1): string | undefined {
  const reasons = (Object.keys(when) as Measure[]).flatMap((name) => {
    const [threshold = 0, value] = [when[name], readings[name]];
    if (value === undefined) return [];
    const isBad = name === 'disk_free_mb' ? value < threshold / share : value >= threshold * share;
    const side = name === 'disk_free_mb' ? 'below' : 'at or above';
    return isBad ? [`${name} is ${Math.round(value)}, ${side} ${threshold}`] : [];
  });
  return reasons.length === 0 ? undefined : reasons.join('; ');
}
