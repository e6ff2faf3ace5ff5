import type { PathClaim, Resources, ToolDefinition } from '../../call/tool.ts';
import type { Verdict } from '../../call/verdict.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import type { Asked } from './rule-index.ts';

const mostCallers = 256;
const mostPaths = 4096;

/**
 * Remembers what one set of rules allowed, for calls about a single path. The answer to such a question depends on
 * nothing but the question, so that the same question need not be worked out again. The key is everything that was
 * asked: the definition of the tool itself (two tools may share a name), the caller in every respect that rules know,
 * the access and the exact path (rules match file names). Only an allowance is kept, and nothing at all about tools of
 * which a rule looks at anything else, such as time, history or arguments. It is bounded, and goes with the rules that it
 * belongs to.
 */
export class VerdictMemory {
  readonly #rules: readonly CompiledRule[];
  readonly #isSteady = new WeakMap<ToolDefinition, boolean>();
  readonly #kept = new WeakMap<ToolDefinition, Map<string, Map<string, Verdict>>>();
  #last: LastCaller | undefined;

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  /**
   * The verdict on this question: the one from before, or what `judge` says now. `claim`: the one path that the question
   * is about. Undefined: it is about something else too, and nothing is remembered.
   */
  recall(asked: Asked, claim: PathClaim | undefined, judge: () => Verdict): Verdict {
    if (claim === undefined || !this.#isRememberable(asked.tool)) return judge();
    const paths = this.#pathsOf(asked, claim.access);
    const known = paths.get(claim.path);
    if (known !== undefined) return known;
    const verdict = judge();
    if (verdict.effect !== 'allow') return verdict;
    if (paths.size >= mostPaths) paths.clear();
    paths.set(claim.path, verdict);
    return verdict;
  }

  #isRememberable(tool: ToolDefinition): boolean {
    const known = this.#isSteady.get(tool);
    if (known !== undefined) return known;
    const isSteady = this.#rules
      .filter((rule) => rule.coversTool(tool))
      .every(({ circumstances }) => circumstances.every((circumstance) => circumstance.isSteady));
    this.#isSteady.set(tool, isSteady);
    return isSteady;
  }

  #pathsOf(asked: Asked, access: PathClaim['access']): Map<string, Verdict> {
    const last = this.#last;
    if (last !== undefined && last.access === access && isSameCaller(last.asked, asked)) return last.paths;
    const paths = this.#findPaths(asked, access);
    const { tool, principal, agent, mode, roles, teams, toolGranted, profile } = asked;
    this.#last = { asked: { tool, principal, agent, mode, roles, teams, toolGranted, profile }, access, paths };
    return paths;
  }

  #findPaths(asked: Asked, access: PathClaim['access']): Map<string, Verdict> {
    const { tool } = asked;
    const byCaller = this.#kept.getOrInsertComputed(tool, () => new Map<string, Map<string, Verdict>>());
    const { principal, agent, mode, roles, teams, toolGranted, profile } = asked;
    // What is not known is null, which nothing that is known can be.
    const caller = JSON.stringify([access, principal, agent, mode, roles, teams, toolGranted, profile]);
    const known = byCaller.get(caller);
    if (known !== undefined) return known;
    if (byCaller.size >= mostCallers) byCaller.clear();
    const paths = new Map<string, Verdict>();
    byCaller.set(caller, paths);
    return paths;
  }
}

type Caller = Pick<Asked, 'tool' | 'principal' | 'agent' | 'mode' | 'roles' | 'teams' | 'toolGranted' | 'profile'>;

/** Most questions come from the caller who asked last, and then need no key. */
interface LastCaller {
  readonly asked: Caller;
  readonly access: PathClaim['access'];
  readonly paths: Map<string, Verdict>;
}

/** Everything that the key holds. Lists count as the same only if they are the very same object. */
function isSameCaller(one: Caller, other: Caller): boolean {
  return (
    one.tool === other.tool &&
    one.principal === other.principal &&
    one.agent === other.agent &&
    one.mode === other.mode &&
    one.roles === other.roles &&
    one.teams === other.teams &&
    one.toolGranted === other.toolGranted &&
    one.profile === other.profile
  );
}

/** The one path of a call that names nothing else. */
export function onlyPath(resources: Resources): PathClaim | undefined {
  return resources.paths.length === 1 && namesOnlyPaths(resources) ? resources.paths[0] : undefined;
}

export function namesOnlyPaths(resources: Resources): boolean {
  const { hosts, commands, gitOperation, provider, model, apps, unknown } = resources;
  return (hosts ?? commands ?? gitOperation ?? provider ?? model ?? apps ?? unknown) === undefined;
}
