import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '@sallyport/contract';
import type { ToolDefinition } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import { lowerAscii } from '../patterns/canonical-path.ts';
import { matchesName } from '../patterns/name-pattern.ts';
import type { ArgumentCondition, Following, Hours, RuleEffect } from '../language/rule.ts';

/** What a rule can look at besides the tool, the mode and the things of a call. */
export interface Circumstances extends Partial<
  Pick<Question, 'agent' | 'roles' | 'teams' | 'toolGranted' | 'profile' | 'arguments' | 'history' | 'nowMs'>
> {
  readonly tool?: NamedTool;
}

/** What rules look at in the definition of a tool. */
export type NamedTool = Pick<ToolDefinition, 'name' | 'aliases' | 'origin' | 'category'>;

export interface Circumstance {
  /** Of the rule. */
  readonly key: string;
  /** Undefined: it is not known. */
  readonly holds: (asked: Circumstances) => boolean | undefined;
  /** It depends on the tool and on who calls alone, so that what it says can be remembered. */
  readonly isSteady: boolean;
  /** Why a rule does not match when it does not hold, as the end of a sentence. */
  readonly mismatch: (asked: Circumstances) => string;
}

export function ifKnown<T>(value: T | undefined, test: (value: T) => boolean): boolean | undefined {
  return value === undefined ? undefined : test(value);
}

export function fitsAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name));
}

export function someFits(patterns: readonly string[], names: readonly string[] | undefined): boolean | undefined {
  return names?.some((name) => fitsAny(patterns, name));
}

export function compileArgument(
  { pointer, test }: ArgumentCondition,
  effect: RuleEffect,
): (given: JsonObject) => boolean {
  const path = parsePointer(pointer);
  const fits = compileTest(test, effect);
  return (given) => {
    const value = lookUp(given, path);
    return value !== undefined && fits(value);
  };
}

function compileTest(test: ArgumentCondition['test'], effect: RuleEffect): (value: Json) => boolean {
  if (test.kind === 'equals') return (value) => isDeepStrictEqual(value, test.value);
  if (test.kind === 'in') return (value) => test.values.some((each) => isDeepStrictEqual(value, each));
  // As everywhere: what closes something does not mind the case of the letters.
  const spell = effect === 'allow' ? (text: string): string => text : lowerAscii;
  const pattern = spell(test.pattern);
  return (value) => typeof value === 'string' && matchesName(pattern, spell(value));
}

/** The keys of a JSON pointer, one after the other. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What stands there. Undefined: nothing. */
export function lookUp(root: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    value = (value as Record<string, Json>)[key];
  }
  return value;
}

export function isWithinHours(hours: readonly Hours[], nowMs: number): boolean {
  const now = new Date(nowMs);
  const minute = now.getHours() * 60 + now.getMinutes();
  return hours.some(({ from, to }) => (from < to ? minute >= from && minute < to : minute >= from || minute < to));
}

export function followed(
  { tools, withinMs = Infinity }: Following,
  { history, nowMs }: Circumstances,
): boolean | undefined {
  if (history === undefined || (nowMs === undefined && withinMs !== Infinity)) return undefined;
  const sinceMs = (nowMs ?? 0) - withinMs;
  return history.some(({ tool, startedAtMs }) => startedAtMs >= sinceMs && fitsAny(tools, tool));
}
