import { defaultLimits } from '../../packages/gateway/src/policy/language/read-limits.ts';
import { planReservations } from '../../packages/gateway/src/stages/plan-reservations.ts';
import { Counters } from '../../packages/gateway/src/storage/sqlite/counts/counters.ts';
import { Database } from '../../packages/gateway/src/storage/sqlite/database.ts';
import { migrate } from '../../packages/gateway/src/storage/sqlite/migrations.ts';
import type { CallFact } from '../../packages/gateway/src/anomalies/call-fact.ts';
import type { Limits } from '../../packages/gateway/src/call/verdict.ts';
import type { ToolDefinition } from '../../packages/gateway/src/call/tool.ts';

// A working day of coding agents, as the gate sees it: turns of a model with the calls it makes at once, in tasks that look
// around, change, try and mend; with pauses, mistakes, and helpers that some agents start for a while.

export interface Profile {
  readonly name: 'personal' | 'team';
  /** How many calls an agent makes in one turn while it looks around, at the most. */
  readonly atOnce: number;
  /** Between two turns. */
  readonly thinkMs: readonly [least: number, most: number];
  /** How many helpers an agent starts under its own name, at the most. */
  readonly helpers: number;
  /** How long a person takes to decide about a call that changes something. Absent: such calls run at once. */
  readonly decideMs?: readonly [least: number, most: number];
  readonly deletes: boolean;
}

export const personal: Profile = { name: 'personal', atOnce: 6, thinkMs: [2500, 14_000], helpers: 3, deletes: true };
/** Workers and managers, who delete nothing: their roles have no such tool. */
export const team: Profile = {
  ...{ name: 'team', atOnce: 2, thinkMs: [10_000, 40_000], helpers: 0, deletes: false },
  decideMs: [20_000, 240_000],
};

type Random = () => number;

/** The same for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const looking = ['files.read', 'files.read', 'files.read', 'files.search', 'files.list', 'git.log', 'code.outline'];
const changing = ['files.edit', 'files.edit', 'files.edit', 'files.write', 'files.ensure_dir'];
const trying = ['shell.run', 'shell.run', 'code.test', 'code.lint'];
const closing = ['git.status', 'git.diff', 'git.commit'];
const mutating = new Set([...changing, ...trying, 'git.commit', 'files.delete']);
const dayMs = 9 * 3_600_000;

/** The calls of one agent from nine to six, in their order. */
export function* workDay(agent: string, profile: Profile, random: Random): Generator<CallFact> {
  const gate = new RateGate(profile);
  const between = ([least, most]: readonly [number, number]): number => least + random() * (most - least);
  const pick = (tools: readonly string[]): string => tools[Math.floor(random() * tools.length)] ?? '';
  const times = (least: number, most: number): number => Math.floor(between([least, most + 1]));
  let nowMs = 0;
  /** The same mistake is made some times: a wrong path, a text that is not in the file. Then it is looked up. */
  let [mistakes, careful] = [0, 0];
  const call = function* (tool: string): Generator<CallFact> {
    if (mistakes === 0 && careful === 0 && random() < 0.08) {
      mistakes = random() < 0.05 ? times(4, 6) : times(1, 3);
      careful = times(3, 8);
    }
    const failed = mistakes > 0;
    if (failed) mistakes--;
    else careful = Math.max(0, careful - 1);
    if (profile.decideMs !== undefined && mutating.has(tool)) nowMs += between(profile.decideMs);
    for (;;) {
      const retryMs = gate.ask(tool, agent, nowMs);
      if (retryMs === undefined) break;
      yield fact(agent, tool, nowMs, 'RATE_LIMITED', false);
      nowMs += retryMs;
    }
    yield fact(agent, tool, nowMs, failed ? 'NOT_FOUND' : 'ok', failed);
    nowMs += 5 + random() * 200;
  };
  const turn = function* (tools: readonly string[], most: number): Generator<CallFact> {
    for (let at = times(1, most); at > 0; at--) yield* call(pick(tools));
    nowMs += between(profile.thinkMs);
  };
  while (nowMs < dayMs) {
    for (let turns = times(3, 12); turns > 0; turns--) yield* turn(looking, profile.atOnce);
    // Helpers look around at the same time; their turns fall between each other.
    for (let turns = times(0, profile.helpers) * times(3, 10); turns > 0; turns--) {
      yield* turn(looking, profile.atOnce);
      nowMs -= between(profile.thinkMs) * 0.6;
    }
    for (let rounds = times(2, 8); rounds > 0; rounds--) {
      yield* turn(looking, 2);
      yield* turn(changing, 2);
      if (random() < 0.7) yield* turn(trying, 1);
      if (profile.deletes && random() < 0.1) yield* turn(['files.delete'], 1);
    }
    for (const tool of closing) yield* turn([tool], 1);
    nowMs += random() < 0.1 ? between([20 * 60_000, 60 * 60_000]) : between([30_000, 8 * 60_000]);
  }
}

function fact(agent: string, tool: string, atMs: number, result: CallFact['result'], failed: boolean): CallFact {
  const rounded = Math.round(atMs);
  const definition = definitions.get(tool) ?? ({ name: tool, aliases: [] } as unknown as ToolDefinition);
  definitions.set(tool, definition);
  const about = { agent, sessionId: 's', callId: `${agent}-${rounded}`, tool, definition, result, failed };
  return { ...about, atMs: rounded, steadyMs: rounded };
}

const definitions = new Map<string, ToolDefinition>();

/** The rate limits of the profile as the gate has them, at the time of the simulation. */
class RateGate {
  readonly #profile: Profile;
  readonly #limits: Limits;
  readonly #counters: Counters;

  constructor(profile: Profile) {
    const database = Database.openInMemory();
    migrate(database);
    this.#profile = profile;
    // Those of the documents; the personal ones of the shipped file are above all that is done here.
    this.#limits = profile.name === 'team' ? defaultLimits : { ...defaultLimits, rates: [] };
    this.#counters = new Counters(database);
  }

  /** When to try again. Undefined: there is room. */
  ask(tool: string, agent: string, nowMs: number): number | undefined {
    const limited = { tool: { name: tool, audience: 'everyone' as const }, agent, roles: [], mode: 'NORMAL' as const };
    const planned = planReservations({ ...limited, profile: this.#profile.name }, this.#limits, { maxRunning: 64 });
    const reserved = this.#counters.reserve(planned, Math.round(nowMs));
    return reserved.ok ? undefined : reserved.retryAfterMs;
  }
}
