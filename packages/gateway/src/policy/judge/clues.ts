import type { Json, JsonObject } from '@sallyport/contract';
import { lowerAscii } from '../patterns/canonical-path.ts';
import { lookUp, parsePointer } from './circumstances.ts';
import type { Claims, Kind } from './claims.ts';
import { firstWordsOf, listFirstWords } from '../patterns/command-pattern.ts';
import { parseHost } from '../patterns/host-pattern.ts';
import { listPathClues } from '../patterns/path-pattern.ts';
import type { PathClue } from '../patterns/path-pattern.ts';
import type { Spelling } from './place-path.ts';
import type { Asked } from './rule-index.ts';
import type { ArgumentCondition, Rule } from '../language/rule.ts';

// A clue is something that a call must have for a rule to cover it, and that can be looked up: a folder, the name of an
// agent, the program of a command. Each rule is indexed under the clue that it shares with the fewest others, so that a call
// meets the rules that its own clues lead to, and the rules without a clue.

/** Of an argument with the pointer to it. */
export type NameKind = Exclude<Kind, 'path'> | 'agent' | `argument ${string}`;

/** One condition of a rule. For each of its patterns the keys under any one of which the rule would be found. */
export interface Clue {
  readonly kind: NameKind | 'path';
  readonly patterns: readonly (readonly Key[])[];
}

export interface Key {
  readonly text: string;
  /** Present for paths. */
  readonly path?: { readonly clue: PathClue; readonly spelling: Spelling };
}

/** Every clue that the rule has. */
export function listClues(rule: Rule): readonly Clue[] {
  const { paths, agents, commands, hosts, gitOperations, providers, models, apps } = rule;
  const named: [NameKind, readonly string[] | undefined, (pattern: string) => string | undefined][] = [
    ['agent', agents, plainName],
    ['command', commands, firstWordsOf],
    ['host', hosts, plainHost],
    ['gitOperation', gitOperations, plainName],
    ['provider', providers, plainName],
    ['model', models, plainName],
    ['app', apps, plainName],
  ];
  const found = named.flatMap(([kind, patterns, keyOf]): Clue[] => {
    const keys = patterns?.map(keyOf) ?? [undefined];
    return keys.includes(undefined) ? [] : [{ kind, patterns: keys.map((text) => [{ text: text as string }]) }];
  });
  const ofArguments = (rule.arguments ?? []).flatMap(describeArgument);
  const ofPaths: Clue[] = paths === undefined ? [] : [{ kind: 'path', patterns: describePaths(paths, rule.effect) }];
  return [...ofPaths, ...found, ...ofArguments];
}

/** In the spellings in which the rule compares them. */
function describePaths(paths: readonly string[], effect: Rule['effect']): Clue['patterns'] {
  const spellings: readonly Spelling[] = effect === 'allow' ? ['exact'] : ['lowered', 'folded'];
  return paths.flatMap((pattern) =>
    spellings.map((spelling) =>
      listPathClues(pattern, spelling).map((clue) => {
        const { start, folder, part } = clue;
        return { text: [spelling, start, folder, part?.is, part?.text].join('\0'), path: { clue, spelling } };
      }),
    ),
  );
}

/** Only of plain values: there the same text is the same value. */
function describeArgument({ pointer, test }: ArgumentCondition): readonly Clue[] {
  if (test.kind === 'matches') return [];
  const keys = (test.kind === 'equals' ? [test.value] : test.values).map(keyOfValue);
  if (keys.includes(undefined)) return [];
  return [{ kind: `argument ${pointer}`, patterns: keys.map((text) => [{ text: text as string }]) }];
}

/** A longer one takes longer to look up than rules take to compare. */
const longestValue = 1000;

function keyOfValue(value: Json): string | undefined {
  if (typeof value === 'object') return undefined;
  return typeof value === 'string' && value.length > longestValue ? undefined : `${typeof value} ${value}`;
}

/** In one case: who closes something does not mind it, and for the others it is looked at again. */
function plainName(pattern: string): string | undefined {
  return pattern.includes('*') ? undefined : lowerAscii(pattern);
}

function plainHost(pattern: string): string | undefined {
  const host = parseHost(pattern);
  return host === undefined || host.below ? undefined : host.name;
}

/** The keys under which rules for this call may be indexed. Undefined: any. */
export function keysOfCall(kind: NameKind, asked: Asked, claims: Claims): readonly string[] | undefined {
  switch (kind) {
    case 'agent':
      return typeof asked.agent === 'string' ? [lowerAscii(asked.agent)] : undefined;
    case 'command':
      return claims.command.flatMap(listFirstWords);
    case 'host':
      return claims.host.some(({ below }) => below) ? undefined : claims.host.map(({ name }) => name);
    case 'gitOperation':
    case 'provider':
    case 'model':
    case 'app':
      return claims[kind].map(lowerAscii);
    default:
      return asked.arguments && keysOfArgument(kind.slice('argument '.length), asked.arguments);
  }
}

/** No clue for a value under which no rule is indexed. */
function keysOfArgument(pointer: string, given: JsonObject): readonly string[] {
  const value = lookUp(given, parsePointer(pointer));
  const key = value === undefined ? undefined : keyOfValue(value);
  return key === undefined ? [] : [key];
}
