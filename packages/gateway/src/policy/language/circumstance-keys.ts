import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { printable } from '../../text/printable.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import { toJson } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import { compileArgument, fitsAny, followed, ifKnown, isWithinHours, someFits } from '../judge/circumstances.ts';
import type { Circumstance, Circumstances } from '../judge/circumstances.ts';
import { readAfter, readConditions, readHours, readWeekTime } from './read-circumstances.ts';
import { days } from './rule.ts';
import type { Rule, RuleEffect } from './rule.ts';

/** A key of rules that looks at the circumstances of a call. All that there is to it stands here. */
interface CircumstanceKey<Value> {
  /** For the page about rules: what a rule without it looks at, and what its value is. */
  readonly absent: string;
  readonly notes: string;
  /** For editors. */
  readonly schema: JsonObject;
  /** Notes what is wrong. `rule`: the other keys. */
  readonly read: (node: YamlNode, reader: YamlReader, rule: Fields<'within'>) => Value | undefined;
  /** Whether it holds for a call. Undefined: that is not known. */
  readonly compile: (value: Value, effect: RuleEffect) => Circumstance['holds'];
  /** It depends on the tool and on who calls alone, as `VerdictMemory` compares them. Absent: no. */
  readonly isSteady?: true;
  /** Why a rule does not match when it does not hold, as the end of a sentence. */
  readonly mismatch: (asked: Circumstances) => string;
}

/** What an example of a rule says about the circumstances of its call. */
interface ExampleKey<Value> {
  readonly schema: JsonObject;
  readonly read: (node: YamlNode, reader: YamlReader) => Value | undefined;
  /** `known`: by the keys before it. */
  readonly factsOf: (value: Value, known: Circumstances) => Circumstances;
}

const define = <Value>(key: CircumstanceKey<Value>): CircumstanceKey<Value> => key;
const defineExample = <Value>(key: ExampleKey<Value>): ExampleKey<Value> => key;

const readNames = (what: string) => (node: YamlNode, reader: YamlReader) =>
  reader.readItems(node, what, (item) => reader.readString(item, what));
const readName = (what: string) => (node: YamlNode, reader: YamlReader) => reader.readString(node, what);

const listOf = (items: JsonObject): JsonObject => ({ type: 'array', minItems: 1, items });
const names: JsonObject = { $ref: '#/$defs/names' };
const text: JsonObject = { $ref: '#/$defs/text' };
const time = '([01][0-9]|2[0-3]):[0-5][0-9]';

/** In the order in which they are looked at, told and documented. */
export const circumstanceKeys = {
  agents: define({
    absent: 'everyone',
    notes: 'patterns of names',
    schema: { description: 'Patterns of names. Absent: everyone.', ...names },
    read: readNames('agents'),
    isSteady: true,
    compile:
      (agents) =>
      ({ agent }) =>
        ifKnown(agent, (name) => fitsAny(agents, name)),
    mismatch: ({ agent }) => `the rule is not for ${printable(agent ?? '')}`,
  }),
  roles: define({
    absent: 'everyone',
    notes: 'patterns of names, as in `roles.yaml`',
    schema: { description: 'Patterns. Absent: everyone.', ...names },
    read: readNames('roles'),
    isSteady: true,
    compile: (roles) => (asked) => someFits(roles, asked.roles),
    mismatch: () => 'the rule is not for these roles',
  }),
  teams: define({
    absent: 'everyone',
    notes: 'patterns of names, as in `roles.yaml`',
    schema: { description: 'Patterns. Absent: everyone.', ...names },
    read: readNames('teams'),
    isSteady: true,
    compile: (teams) => (asked) => someFits(teams, asked.teams),
    mismatch: () => 'the rule is not for these teams',
  }),
  arguments: define({
    absent: 'any',
    notes: '`{ pointer: /force, equals: true }` (also a whole list), or `in:`, or `matches:` with `*`; all of them',
    schema: {
      description: 'All of them must hold. A missing value matches nothing.',
      ...listOf({ $ref: '#/$defs/argument' }),
    },
    read: readConditions,
    compile: (conditions, effect) => {
      const tests = conditions.map((condition) => compileArgument(condition, effect));
      return (asked) => ifKnown(asked.arguments, (given) => tests.every((fits) => fits(given)));
    },
    mismatch: () => 'the arguments differ',
  }),
  hours: define({
    absent: 'always',
    notes: '`08:00-18:30`, `22:00-06:00`; the clock of the machine',
    schema: {
      description: 'Such as 08:00-18:30, on the clock of the machine. Absent: always.',
      ...listOf({ type: 'string', pattern: `^${time}-${time}$` }),
    },
    read: (node, reader) => reader.readItems(node, 'hours', (item) => readHours(item, reader)),
    compile:
      (hours) =>
      ({ nowMs }) =>
        ifKnown(nowMs, (now) => isWithinHours(hours, now)),
    mismatch: () => 'the rule is for other hours',
  }),
  days: define({
    absent: 'every day',
    notes: '`mon` … `sun`; the clock of the machine',
    schema: { description: 'Absent: every day.', ...listOf({ enum: [...days] }) },
    read: (node, reader) => reader.readItems(node, 'days', (item) => reader.readOneOf(item, 'days', days)),
    compile: (chosen) => {
      const wanted = new Set<string | undefined>(chosen);
      return ({ nowMs }) => ifKnown(nowMs, (now) => wanted.has(days[new Date(now).getDay()]));
    },
    mismatch: () => 'the rule is for other days',
  }),
  after: define({
    absent: 'always',
    notes: 'once the session has called one of these tools; with `within`, for so long: `30s`, `10m`, `2h`',
    schema: {
      description: 'The rule holds once the session has called one of these tools.',
      $ref: '#/$defs/toolPatterns',
    },
    read: (node, reader, { within }) => readAfter(node, within, reader),
    compile: (after) => (asked) => followed(after, asked),
    mismatch: () => 'none of the calls it follows came before',
  }),
};

export const exampleCircumstances = {
  agent: defineExample({ schema: text, read: readName('agent'), factsOf: (agent) => ({ agent }) }),
  role: defineExample({ schema: text, read: readName('role'), factsOf: (role) => ({ roles: [role] }) }),
  team: defineExample({ schema: text, read: readName('team'), factsOf: (team) => ({ teams: [team] }) }),
  arguments: defineExample<JsonObject>({
    schema: { type: 'object' },
    read: (node, reader) => {
      const value = toJson(node);
      return isJsonObject(value) ? value : reader.note(node, 'arguments must be a mapping');
    },
    factsOf: (given) => ({ arguments: given }),
  }),
  at: defineExample({
    schema: { description: 'Such as mon 09:30.', type: 'string', pattern: `^(${days.join('|')}) ${time}$` },
    read: readWeekTime,
    // The time of an example is one of the first week of 2023, which began with a Sunday.
    factsOf: (minute) => ({ nowMs: new Date(2023, 0, 1, 0, minute).getTime() }),
  }),
  after: defineExample({
    schema: { description: 'Tools that the session called just before.', ...listOf(text) },
    read: (node, reader) => reader.readItems(node, 'after', (item) => reader.readString(item, 'after', 200)),
    factsOf: (tools, { nowMs = 0 }) => ({ nowMs, history: tools.map((tool) => ({ tool, startedAtMs: nowMs })) }),
  }),
};

type Table = Readonly<Record<string, { readonly read: (...args: never[]) => unknown }>>;
/** What was read, by key. A key that is absent was not written. */
export type ValuesOf<Keys extends Table> = {
  readonly [Key in keyof Keys]?: Exclude<ReturnType<Keys[Key]['read']>, undefined>;
};

export const circumstanceNames = Object.keys(circumstanceKeys) as (keyof typeof circumstanceKeys)[];
export const exampleNames = Object.keys(exampleCircumstances) as (keyof typeof exampleCircumstances)[];

/** Reads the keys of a table that are there. */
export function readKeys<Keys extends Table>(
  keys: Keys,
  fields: Fields<keyof Keys & string>,
  reader: YamlReader,
): ValuesOf<Keys> {
  const found = Object.entries<Table[string]>(keys).flatMap(([name, { read }]) => {
    const node = fields[name];
    const value = node && read(...([node, reader, fields] as never[]));
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as ValuesOf<Keys>;
}

export function compileCircumstances(rule: Rule): readonly Circumstance[] {
  return circumstanceNames.flatMap((key) => {
    const value = rule[key];
    const { compile, mismatch, isSteady = false } = circumstanceKeys[key] as CircumstanceKey<unknown>;
    return value === undefined ? [] : [{ key, holds: compile(value, rule.effect), isSteady, mismatch }];
  });
}

/** What an example leaves open is absent, and may be anything. */
export function circumstancesOf(example: ValuesOf<typeof exampleCircumstances>): Circumstances {
  return exampleNames.reduce<Circumstances>((known, key) => {
    const { factsOf } = exampleCircumstances[key] as ExampleKey<unknown>;
    return example[key] === undefined ? known : { ...known, ...factsOf(example[key], known) };
  }, {});
}
