import { nearestNames } from './nearest-names.ts';
import { printable } from './printable.ts';
import type { YamlFile } from './read-yaml.ts';
import type { Position, Problem } from './source-file.ts';
import { scalarOf } from './yaml-node.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

/** The entries of a mapping that have a known key. */
export type Fields<Key extends string> = { readonly [Name in Key]?: YamlNode };

/**
 * Takes a YAML tree apart and notes every problem with its place. A reading function returns undefined after noting
 * one, so that a caller can go on and find the others.
 */
export class YamlReader {
  readonly #source: YamlFile;
  readonly problems: Problem[] = [];

  constructor(source: YamlFile) {
    this.#source = source;
  }

  get file(): string {
    return this.#source.file;
  }

  locate(node: YamlNode): Position {
    return this.#source.locate(node);
  }

  note(node: YamlNode, message: string): undefined {
    this.noteAt(this.locate(node), message);
  }

  noteAt(position: Position, message: string): undefined {
    this.problems.push({ file: this.file, line: position.line, column: position.column, message });
  }

  /** With `strange`, keys that resemble none of the known ones are put there instead of being noted. */
  readFields<Key extends string>(
    node: YamlNode,
    what: string,
    keys: readonly Key[],
    required: readonly Key[],
    strange?: string[],
  ): Fields<Key> | undefined {
    if (node.kind !== 'map') return this.note(node, `${what} must be a mapping with the keys ${keys.join(', ')}`);
    const fields: { [Name in Key]?: YamlNode } = {};
    for (const { name, key, value } of node.entries) {
      if (isOneOf(name, keys)) fields[name] = value;
      else if (strange !== undefined && nearestNames(name, keys, 1).length === 0) strange.push(name);
      else this.note(key, this.#explainUnknownKey(name, what, keys));
    }
    const missing = required.filter((key) => !(key in fields));
    if (missing.length > 0) return this.note(node, `${what} lacks ${missing.join(', ')}`);
    return fields;
  }

  /** A mapping whose keys the person chooses. */
  readEntries(node: YamlNode, what: string): readonly YamlEntry[] | undefined {
    if (node.kind !== 'map') return this.note(node, `${what} must be a mapping, such as { NAME: value }`);
    return node.entries;
  }

  readBoolean(node: YamlNode, what: string): boolean | undefined {
    const value = scalarOf(node);
    return typeof value === 'boolean' ? value : this.note(node, `${what} must be true or false`);
  }

  readList(node: YamlNode, what: string): readonly YamlNode[] | undefined {
    if (node.kind !== 'list') return this.note(node, `${what} must be a list, such as [a, b]`);
    return node.items;
  }

  /** Each item by itself, so that all bad ones are noted. At least one item. */
  readItems<T>(node: YamlNode, what: string, readItem: (item: YamlNode) => T | undefined): readonly T[] | undefined {
    const items = this.readList(node, what);
    if (items === undefined) return undefined;
    if (items.length === 0) return this.note(node, `${what} is empty; leave the key out or name something`);
    const read = items.map(readItem);
    return read.includes(undefined) ? undefined : (read as T[]);
  }

  /** The text of a node, as it may be compared with. Undefined: it is no text. */
  textOf(node: YamlNode): string | undefined {
    const value = scalarOf(node);
    return typeof value === 'string' ? value : undefined;
  }

  readString(node: YamlNode, what: string, maxLength = 1000): string | undefined {
    const value = scalarOf(node);
    if (typeof value !== 'string')
      return this.note(node, `${what} must be text; put it in quotes if it looks like a number`);
    if (value.trim() === '') return this.note(node, `${what} is empty`);
    if (value.length > maxLength) return this.note(node, `${what} is longer than ${maxLength} characters`);
    if (!value.isWellFormed()) return this.note(node, `${what} is not valid Unicode`);
    return value;
  }

  readOneOf<T extends string>(node: YamlNode, what: string, allowed: readonly T[]): T | undefined {
    const value = scalarOf(node);
    if (typeof value === 'string' && isOneOf(value, allowed)) return value;
    const nearest = typeof value === 'string' ? nearestNames(value, allowed, 1)[0] : undefined;
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return this.note(node, `${what} must be one of ${allowed.join(', ')}${hint}`);
  }

  readInteger(node: YamlNode, what: string, range: { readonly min: number; readonly max: number }): number | undefined {
    const value = scalarOf(node);
    if (Number.isInteger(value) && (value as number) >= range.min && (value as number) <= range.max) {
      return value as number;
    }
    return this.note(node, `${what} must be a whole number from ${range.min} to ${range.max}`);
  }

  #explainUnknownKey(name: string, what: string, keys: readonly string[]): string {
    const nearest = nearestNames(name, keys, 1)[0];
    const hint = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
    return `unknown key ${printable(name)} in ${what}${hint} Allowed here: ${keys.join(', ')}`;
  }
}

function isOneOf<T extends string>(value: string, allowed: readonly T[]): value is T {
  return (allowed as readonly string[]).includes(value);
}
