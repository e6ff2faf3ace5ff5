import { isDeepStrictEqual } from 'node:util';
import type { RuleReference } from '../../call/refusal.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import { kinds } from '../judge/claims.ts';
import { circumstanceNames } from './circumstance-keys.ts';
import type { CompiledRule } from './compile-rules.ts';
import { patternsOf } from '../judge/explain-denial.ts';
import { accesses } from './rule.ts';
import type { Rule } from './rule.ts';

/** Something in the rules that is probably not meant. They work all the same. */
export interface Finding {
  readonly kind: 'idle-rule' | 'covered-rule' | 'unreachable-tool' | 'other-category' | 'unread-file';
  /** Absent: no single rule is to blame. */
  readonly rule?: RuleReference;
  readonly tool?: string;
  readonly message: string;
}

/** Looks at the rules as a whole, with the tools that there are. Costs the square of their number: not for calls. */
export function checkRules(
  rules: readonly CompiledRule[],
  builtIn: readonly CompiledRule[],
  tools: readonly ToolDefinition[],
  categories: ReadonlyMap<string, string>,
): readonly Finding[] {
  // What is built in was there first.
  const all = [...builtIn, ...rules];
  return [
    ...rules.flatMap((rule) => findIdle(rule, tools)),
    ...rules.flatMap((rule) => findCovering(rule, all.indexOf(rule), all, tools)),
    ...tools.flatMap((tool) => findUnreachable(tool, all)),
    ...tools.flatMap((tool) => findOtherCategory(tool, categories)),
  ];
}

function findIdle({ rule, reference, coversTool, modes }: CompiledRule, tools: readonly ToolDefinition[]): Finding[] {
  const named = tools.filter(coversTool);
  const idle = (why: string): Finding[] => [
    { kind: 'idle-rule', rule: reference, message: `Rule ${rule.id} never matches: ${why}.` },
  ];
  // A rule about all tools of an origin is for those that may come.
  if (named.length === 0 && rule.origins !== undefined && rule.tools.includes('*')) return [];
  // What coding agents do by themselves is no tool of the gate.
  if (named.length === 0 && rule.origins?.includes('client') === true) return [];
  if (named.length === 0) return idle(`there is no tool ${rule.tools.join(', ')}`);
  if (rule.effect !== 'deny' && !named.some(({ allowedModes }) => allowedModes.some((mode) => modes.has(mode)))) {
    return idle('none of its tools can be used in its modes');
  }
  return [];
}

function findUnreachable(tool: ToolDefinition, rules: readonly CompiledRule[]): Finding[] {
  const { name, allowedModes } = tool;
  const opening = rules.some(
    ({ rule, coversTool, modes }) =>
      rule.effect !== 'deny' && !rule.shadow && coversTool(tool) && allowedModes.some((mode) => modes.has(mode)),
  );
  return opening ? [] : [{ kind: 'unreachable-tool', tool: name, message: `No rule lets ${name} through.` }];
}

function findOtherCategory(tool: ToolDefinition, categories: ReadonlyMap<string, string>): Finding[] {
  const { name, category, aliases } = tool;
  const expected = [name, ...aliases].map((each) => categories.get(each)).find((each) => each !== undefined);
  if (expected === undefined || expected === category) return [];
  const message = `The rules take ${name} for ${expected}, but it is ${category}.`;
  return [{ kind: 'other-category', tool: name, message }];
}

const strength = { allow: 0, require_approval: 1, deny: 2 } as const;

/** Another rule that always decides where this one matches. Of two that say the same the later one is told. */
function findCovering(
  compiled: CompiledRule,
  at: number,
  rules: readonly CompiledRule[],
  tools: readonly ToolDefinition[],
): Finding[] {
  const { rule, reference } = compiled;
  const covering = rules.find((other, otherAt) => {
    if (other === compiled || other.rule.shadow || rule.shadow) return false;
    const stronger = strength[other.rule.effect] - strength[rule.effect];
    if (stronger < 0 || (stronger === 0 && (otherAt > at || addsSomething(rule, other.rule)))) return false;
    return includesRule(other, compiled, tools);
  });
  if (covering === undefined) return [];
  const message = `Rule ${rule.id} decides nothing: rule ${covering.rule.id}, ${covering.rule.effect}, covers all of it.`;
  return [{ kind: 'covered-rule', rule: reference, message }];
}

/** A second allowance for the same calls can still give them more. */
function addsSomething(rule: Rule, other: Rule): boolean {
  return (
    rule.grants !== undefined ||
    rule.approvers !== undefined ||
    (rule.rewrite !== undefined && other.rewrite === undefined) ||
    (rule.approvalWaived && (!other.approvalWaived || (other.highRiskAsks === true && rule.highRiskAsks !== true))) ||
    (rule.acceptsNew && !other.acceptsNew)
  );
}

/** Whether `outer` matches wherever `inner` does, as far as that can be told by comparing what is written. */
function includesRule(outer: CompiledRule, inner: CompiledRule, tools: readonly ToolDefinition[]): boolean {
  const named = tools.filter(inner.coversTool);
  return (
    named.length > 0 &&
    named.every(outer.coversTool) &&
    isSubset(inner.who, outer.who) &&
    isSubset(inner.modes, outer.modes) &&
    includesCircumstances(outer.rule, inner.rule) &&
    includesThings(outer.rule, inner.rule)
  );
}

function isSubset<T>(inner: ReadonlySet<T>, outer: ReadonlySet<T>): boolean {
  return [...inner].every((each) => outer.has(each));
}

function includesCircumstances(outer: Rule, inner: Rule): boolean {
  return circumstanceNames.every((key) => outer[key] === undefined || isDeepStrictEqual(outer[key], inner[key]));
}

function includesThings(outer: Rule, inner: Rule): boolean {
  if (outer.exceptPaths !== undefined && !isDeepStrictEqual(outer.exceptPaths, inner.exceptPaths)) return false;
  if (outer.exceptHosts !== undefined && !isDeepStrictEqual(outer.exceptHosts, inner.exceptHosts)) return false;
  if (!(inner.access ?? accesses).every((access) => (outer.access ?? accesses).includes(access))) return false;
  // A rule about access alone is one about all paths.
  const looksAtPaths = outer.paths !== undefined || outer.access !== undefined || outer.exceptPaths !== undefined;
  if (looksAtPaths && inner.paths === undefined && inner.access === undefined) return false;
  return kinds.every((kind) => {
    const patterns = patternsOf(outer, kind);
    return patterns === undefined || patternsOf(inner, kind)?.every((pattern) => patterns.includes(pattern)) === true;
  });
}
