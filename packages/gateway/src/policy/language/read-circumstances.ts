import type { Json } from '@sallyport/contract';
import { readToolPattern } from './read-patterns.ts';
import { days } from './rule.ts';
import type { ArgumentCondition, Following, Hours } from './rule.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import { scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const argumentKeys = ['pointer', 'equals', 'in', 'matches'] as const;

export function readConditions(node: YamlNode, reader: YamlReader): readonly ArgumentCondition[] | undefined {
  return reader.readItems(node, 'arguments', (item) => readCondition(item, reader));
}

function readCondition(node: YamlNode, reader: YamlReader): ArgumentCondition | undefined {
  const fields = reader.readFields(node, 'a condition', argumentKeys, ['pointer']);
  const pointer = fields?.pointer && reader.readString(fields.pointer, 'pointer');
  if (fields === undefined || pointer === undefined) return undefined;
  if (!/^(?:\/(?:[^~/]|~[01])*)+$/.test(pointer)) {
    return reader.note(fields.pointer as YamlNode, 'pointer is a JSON pointer, such as /options/force');
  }
  const { equals, matches, in: among } = fields;
  if ([equals, matches, among].filter((each) => each !== undefined).length !== 1) {
    return reader.note(node, 'a condition needs one of equals, in, matches');
  }
  if (matches !== undefined) {
    const pattern = reader.readString(matches, 'matches');
    return pattern === undefined ? undefined : { pointer, test: { kind: 'matches', pattern } };
  }
  if (equals !== undefined) {
    const value = readEqual(equals, reader);
    return value === undefined ? undefined : { pointer, test: { kind: 'equals', value } };
  }
  const values = reader.readItems(among as YamlNode, 'in', (item) => readPlain(item, 'in', reader));
  return values === undefined ? undefined : { pointer, test: { kind: 'in', values } };
}

/** A list counts as a whole: the same values in the same order, and no others. */
function readEqual(node: YamlNode, reader: YamlReader): Json | undefined {
  if (node.kind !== 'list') return readPlain(node, 'equals', reader);
  const values = node.items.map((item) => readEqual(item, reader));
  return values.includes(undefined) ? undefined : (values as Json[]);
}

/** Text, a number, true, false or null. */
function readPlain(node: YamlNode, what: string, reader: YamlReader): Json | undefined {
  const value = scalarOf(node);
  if (value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)) return value;
  return reader.note(node, `${what} must be text, a number, true, false or null`);
}

export function readHours(node: YamlNode, reader: YamlReader): Hours | undefined {
  const text = reader.readString(node, 'hours', 20);
  if (text === undefined) return undefined;
  const [from, to] = text.split('-').map(parseTime);
  if (from === undefined || to === undefined || from === to || text.split('-').length !== 2) {
    return reader.note(node, 'hours are written like 08:00-18:30');
  }
  return { from, to };
}

/** Minutes since the beginning of Sunday. */
export function readWeekTime(node: YamlNode, reader: YamlReader): number | undefined {
  const text = reader.readString(node, 'at', 20);
  if (text === undefined) return undefined;
  const [name = '', time = ''] = text.split(' ');
  const [day, minute] = [(days as readonly string[]).indexOf(name), parseTime(time)];
  if (day < 0 || minute === undefined) return reader.note(node, 'at is written like mon 09:30');
  return day * 1440 + minute;
}

function parseTime(text: string): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined || minute === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

export function readAfter(node: YamlNode, within: YamlNode | undefined, reader: YamlReader): Following | undefined {
  const tools = reader.readItems(node, 'after', (item) => readToolPattern(item, reader));
  const withinMs = within && readDuration(within, reader);
  if (tools === undefined) return undefined;
  return { tools, ...(withinMs === undefined ? {} : { withinMs }) };
}

const units = { s: 1000, m: 60_000, h: 3_600_000 } as const;

function readDuration(node: YamlNode, reader: YamlReader): number | undefined {
  const text = reader.readString(node, 'within', 10);
  if (text === undefined) return undefined;
  const [, count, unit] = /^([1-9]\d{0,4})([smh])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return reader.note(node, 'within is written like 30s, 10m or 2h');
  return Number(count) * units[unit as keyof typeof units];
}
