import { ruleExits } from '../policy/guarantees/keep-exit-open.ts';
import { namesTool } from '../policy/patterns/name-pattern.ts';
import type { ModeLimits } from '../policy/judge/mode-policy.ts';
import type { Reservation } from '../call/call.ts';
import type { Profile } from '../call/organisation.ts';
import type { Mode } from '../call/session.ts';
import type { ToolDefinition } from '../call/tool.ts';
import type { Limits, Rates } from '../call/verdict.ts';

export interface LimitedCall {
  readonly tool: Pick<ToolDefinition, 'name' | 'audience' | 'rateLimitPerHour'> &
    Partial<Pick<ToolDefinition, 'aliases' | 'origin'>>;
  readonly agent: string;
  readonly roles: readonly string[];
  readonly mode: Mode;
  readonly profile: Profile;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** For how many agents the counts of a tool are remembered. */
const mostPlans = 1024;

interface Plan {
  readonly call: LimitedCall;
  readonly limits: Limits;
  readonly ofMode: ModeLimits;
  readonly reservations: readonly Reservation[];
}

/**
 * The counts of the last call of each agent and tool. They are the same for the next one as long as everything that
 * they follow from is the very same: tool, agent, roles, mode, profile and limits.
 */
export class ReservationPlans {
  readonly #plans = new WeakMap<LimitedCall['tool'], Map<string, Plan>>();

  of(call: LimitedCall, limits: Limits, ofMode: ModeLimits): readonly Reservation[] {
    const ofTool = this.#plans.getOrInsertComputed(call.tool, () => new Map<string, Plan>());
    const known = ofTool.get(call.agent);
    if (known !== undefined && known.limits === limits && known.ofMode === ofMode && isSame(known.call, call))
      return known.reservations;
    const reservations = planReservations(call, limits, ofMode);
    if (ofTool.size >= mostPlans) ofTool.clear();
    ofTool.set(call.agent, { call, limits, ofMode, reservations });
    return reservations;
  }
}

function isSame(one: LimitedCall, other: LimitedCall): boolean {
  const { tool, agent, roles, mode, profile } = one;
  return (
    tool === other.tool &&
    agent === other.agent &&
    roles === other.roles &&
    mode === other.mode &&
    profile === other.profile
  );
}

/** Every count that the call will raise: of its agent and tool, of the tool, of everyone together, and of the mode. */
export function planReservations(call: LimitedCall, limits: Limits, ofMode: ModeLimits): readonly Reservation[] {
  const { name, audience, rateLimitPerHour } = call.tool;
  // No limit may keep an operator from changing the limits.
  if (audience === 'operator' && ruleExits.includes(name)) return [];
  const key = `${name} ${call.agent}`;
  const rate = ratesFor(call, limits).find(({ tools }) => namesTool(tools, call.tool));
  const reservations = (rate?.limits ?? []).map(({ windowMs, calls }) => ({
    key,
    windowMs,
    limit: calls,
    rule: `rate-limit-${windowMs / 1000}s`,
  }));
  if (rateLimitPerHour !== undefined) {
    const rule = 'rate-limit-of-the-tool';
    reservations.push({ key: `definition ${key}`, windowMs: hourMs, limit: rateLimitPerHour, rule });
  }
  // Tools that run the gate do not wait because of other callers.
  if (audience !== 'everyone') return reservations;
  return [...reservations, ...totalsFor(call.tool, limits.totalRates ?? []), ...modeReservation(call.mode, ofMode)];
}

function ratesFor({ tool, roles, profile }: LimitedCall, { rates, teamRates, roleRates }: Limits): Rates {
  const ofRoles = roles.flatMap((role) => roleRates?.get(role) ?? []);
  // The limits for teams are not about tools that run the gate.
  const isOfTeam = profile === 'team' && tool.audience === 'everyone';
  return [...ofRoles, ...(isOfTeam ? teamRates : rates)];
}

function totalsFor(tool: LimitedCall['tool'], rates: Rates): Reservation[] {
  return rates
    .filter(({ tools }) => namesTool(tools, tool))
    .flatMap(({ tools, limits }) =>
      limits.map(({ windowMs, calls }) => ({
        key: `total ${tools.join(' ')}`,
        windowMs,
        limit: calls,
        rule: `rate-limit-of-all-${windowMs / 1000}s`,
      })),
    );
}

function modeReservation(mode: Mode, { callsPerMinute }: ModeLimits): Reservation[] {
  if (callsPerMinute === undefined) return [];
  const rule = `mode-${mode.toLowerCase()}-per-minute`;
  return [{ key: `mode ${mode}`, windowMs: minuteMs, limit: callsPerMinute, rule }];
}
