import type { AnomalyKind } from '../call/anomaly.ts';
import { RecentlyUsed } from '../call/recently-used.ts';
import type { AnomalyPolicy } from '../call/verdict.ts';
import { mostRecalled } from '../policy/language/read-anomalies.ts';
import { CallCount, LastCalls } from './agent-window.ts';
import type { AgentWindow } from './agent-window.ts';
import type { CallFact } from './call-fact.ts';
import { isUnmistakable } from './escalation-signs.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { namesTool } from '../policy/patterns/name-pattern.ts';

/** Something out of the ordinary, as the last call shows it. */
export interface Sighting {
  readonly kind: AnomalyKind;
  /** Absent: it is of another kind. */
  readonly combination?: MaskedCombination;
  /** Which combination, or which attempt that cannot be a mistake. Empty: there is no more to say. */
  readonly detail: string;
  /** The call that shows it. */
  readonly fact: CallFact;
  /** The newest of the calls behind it, that one included. Oldest first. */
  readonly calls: readonly CallFact[];
}

/** Tells what is seen of one agent from each other: an episode has one detector. */
export function detectorOf({ kind, detail }: Pick<Sighting, 'kind' | 'detail'>): string {
  return detail === '' ? kind : `${kind} ${detail}`;
}

/** Whether an episode of this agent and detector goes on. */
export type GoesOn = (agent: string, detector: string, steadyMs: number) => boolean;

/** Those who called least recently are forgotten first. */
const leastAgents = 8192;

/**
 * Looks at calls one by one. It keeps the same amount of memory for each agent, whatever the agent does, and nothing of
 * one agent changes what is seen of another.
 */
export class AnomalyDetector {
  readonly #policy: AnomalyPolicy;
  readonly #masks: CombinationMasks;
  readonly #goesOn: GoesOn;
  /** In the order of their last calls. */
  readonly #agents = new RecentlyUsed<string, AgentWindow>(leastAgents);

  constructor(policy: AnomalyPolicy, goesOn: GoesOn) {
    this.#policy = policy;
    this.#masks = new CombinationMasks(policy.combinations);
    this.#goesOn = goesOn;
  }

  look(fact: CallFact): readonly Sighting[] {
    const window = this.#windowOf(fact.agent);
    this.#endQuiet(window, fact);
    window.calls.add(fact);
    if (fact.sign !== undefined) window.attempts.add(fact);
    const found: Sighting[] = [];
    const see = (sighting: Sighting | undefined): void => {
      if (sighting === undefined) return;
      found.push(sighting);
      (window.ongoing ??= new Set()).add(detectorOf(sighting));
    };
    // Callers without a credential are not one agent; only what they try counts together.
    if (fact.agent !== '') {
      see(this.#lookForSpike(window, fact));
      if (fact.failed) see(this.#lookForFailures(window, fact));
      const mask = this.#masks.of(fact);
      if (mask !== 0)
        this.#masks.combinations.forEach((each) => see(this.#lookForCombination(each, mask, window, fact)));
    }
    if (fact.sign !== undefined) see(this.#lookForEscalation(window, fact));
    return found;
  }

  #lookForSpike({ count, calls }: AgentWindow, fact: CallFact): Sighting | undefined {
    const { callSpike } = this.#policy;
    if (callSpike === undefined || count === undefined || count.add(fact.steadyMs) <= callSpike.moreThan)
      return undefined;
    return { kind: 'call_spike', detail: '', fact, calls: calls.last(mostRecalled) };
  }

  #lookForFailures({ calls, used }: AgentWindow, fact: CallFact): Sighting | undefined {
    const { repeatedFailures } = this.#policy;
    if (repeatedFailures === undefined) return undefined;
    const detector = 'repeated_failures';
    const failed = calls.last(repeatedFailures.of, used?.get(detector)).filter((call) => call.failed);
    if (failed.length < repeatedFailures.failures) return undefined;
    return { kind: 'repeated_failures', detail: '', fact, calls: failed };
  }

  #lookForCombination(
    combination: MaskedCombination,
    mask: number,
    { calls, used }: AgentWindow,
    fact: CallFact,
  ): Sighting | undefined {
    if ((mask & combination.mask) === 0) return undefined;
    const what = { kind: 'suspicious_combination', detail: combination.id } as const;
    const recent = calls.last(combination.within, used?.get(detectorOf(what)));
    const members = recent.filter((call) => (this.#masks.of(call) & combination.mask) !== 0);
    const together = members.reduce((sum, call) => sum | this.#masks.of(call), 0);
    if ((together & combination.mask) !== combination.mask) return undefined;
    return { ...what, combination, fact, calls: members };
  }

  #lookForEscalation({ attempts, used }: AgentWindow, fact: CallFact): Sighting | undefined {
    const { permissionEscalation } = this.#policy;
    if (permissionEscalation === undefined || fact.sign === undefined) return undefined;
    const isPlain = isUnmistakable(fact.sign);
    // Each of those that cannot be mistakes is an episode of its own: none hides behind another, or behind mistakes.
    const what = { kind: 'permission_escalation', detail: isPlain ? fact.sign : '' } as const;
    const earliestMs = fact.steadyMs - permissionEscalation.windowMs;
    const recent = attempts
      .last(mostRecalled, used?.get(detectorOf(what)))
      .filter((attempt) => attempt.steadyMs > earliestMs || attempt === fact);
    if (!isPlain && recent.length < permissionEscalation.attempts) return undefined;
    return { ...what, fact, calls: recent };
  }

  /** What an episode was about does not begin another one. */
  #endQuiet(window: AgentWindow, { agent, steadyMs }: CallFact): void {
    for (const detector of window.ongoing ?? []) {
      if (this.#goesOn(agent, detector, steadyMs)) continue;
      window.ongoing?.delete(detector);
      if (detector === 'call_spike') window.count?.reset();
      const { added } = detector.startsWith('permission_escalation') ? window.attempts : window.calls;
      (window.used ??= new Map()).set(detector, added);
    }
  }

  #windowOf(agent: string): AgentWindow {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const { callSpike } = this.#policy;
    const window: AgentWindow = {
      count: callSpike && new CallCount(callSpike.windowMs),
      calls: new LastCalls(mostRecalled),
      attempts: new LastCalls(mostRecalled),
    };
    this.#agents.set(agent, window);
    return window;
  }
}

type Combination = AnomalyPolicy['combinations'][number];

/** A combination with a bit for each of its tools. */
interface MaskedCombination extends Combination {
  readonly mask: number;
}

/** Which tools of which combinations a call is: a bit each, so that an agent's last calls are a few numbers. */
class CombinationMasks {
  readonly combinations: readonly MaskedCombination[];
  readonly #slots: readonly (readonly string[])[];
  readonly #known = new WeakMap<ToolDefinition, number>();

  constructor(combinations: readonly Combination[]) {
    this.#slots = combinations.flatMap(({ tools }) => tools);
    let bit = 0;
    this.combinations = combinations.map((combination) => {
      const mask = combination.tools.reduce((sum) => sum | (1 << bit++), 0);
      return { ...combination, mask };
    });
  }

  /** Names that callers made up are compared each time, so that nothing is kept of them. */
  of({ definition, tool }: Pick<CallFact, 'definition' | 'tool'>): number {
    if (definition === undefined) return this.#compare({ name: tool });
    const known = this.#known.get(definition) ?? this.#compare(definition);
    this.#known.set(definition, known);
    return known;
  }

  #compare(tool: Parameters<typeof namesTool>[1]): number {
    return this.#slots.reduce((mask, patterns, slot) => (namesTool(patterns, tool) ? mask | (1 << slot) : mask), 0);
  }
}
