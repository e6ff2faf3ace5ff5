import type { Json } from '@sallyport/contract';

/** A part of a YAML text. `start` and `end` are offsets in it, for people who look for the place. */
export type YamlNode = YamlScalar | YamlList | YamlMap;

interface Stretch {
  readonly start: number;
  readonly end: number;
}

export interface YamlScalar extends Stretch {
  readonly kind: 'scalar';
  /** Infinity and NaN are numbers as well. */
  readonly value: string | number | boolean | null;
}

export interface YamlList extends Stretch {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface YamlMap extends Stretch {
  readonly kind: 'map';
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly name: string;
  readonly key: YamlScalar;
  readonly value: YamlNode;
}

/** The value of a scalar. Undefined: the node is absent, a list or a mapping. */
export function scalarOf(node: YamlNode | undefined): YamlScalar['value'] | undefined {
  return node?.kind === 'scalar' ? node.value : undefined;
}

export function entryOf(map: YamlMap, name: string): YamlNode | undefined {
  return map.entries.find((entry) => entry.name === name)?.value;
}

/** What the node says, without its places. */
export function toJson(node: YamlNode): Json {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(toJson);
  return Object.fromEntries(node.entries.map(({ name, value }) => [name, toJson(value)]));
}
