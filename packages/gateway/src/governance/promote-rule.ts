import { isMap, isScalar, isSeq } from 'yaml';
import type { Pair, YAMLMap } from 'yaml';
import { ConfigError } from '../model/fault.ts';
import { readYaml } from './read-yaml.ts';
import type { SourceFile } from './rule-files.ts';

/**
 * The bytes of tools.yaml with a rule in force that was only tried out. Nothing else of the file changes, comments and
 * spaces included. Throws ConfigError when there is no such rule.
 */
export function promoteRule(source: SourceFile, id: string): Uint8Array {
  const { root } = readYaml(source);
  const rule = isMap(root) ? findRule(root, id) : undefined;
  if (rule === undefined) {
    throw new ConfigError(`There is no rule ${id} in ${source.file}.`, 'Tried-out rules: sallyport policy shadow.');
  }
  const shadow = findPair(rule, 'shadow')?.value;
  if (!isScalar(shadow) || shadow.value !== true) {
    throw new ConfigError(`Rule ${id} is not only tried out: it is in force already.`, 'Nothing has to be done.');
  }
  const [start, end] = shadow.range ?? [0, 0];
  return encode(source, (text) => dropLine(text, start) ?? `${text.slice(0, start)}false${text.slice(end)}`);
}

function findRule(root: YAMLMap, id: string): YAMLMap | undefined {
  const rules = findPair(root, 'rules')?.value;
  const items = isSeq(rules) ? rules.items : [];
  return items.filter((item) => isMap(item)).find((item) => item.get('id') === id);
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

/** A line that says nothing but this goes as a whole. Undefined: the rule is written in another way. */
function dropLine(text: string, at: number): string | undefined {
  const start = text.lastIndexOf('\n', at) + 1;
  const end = text.indexOf('\n', at);
  const line = text.slice(start, end < 0 ? text.length : end);
  if (!/^ +shadow: *true *\r?$/.test(line)) return undefined;
  return text.slice(0, start) + (end < 0 ? '' : text.slice(end + 1));
}

const byteOrderMark = '\ufeff';

/** Places in the file are counted behind its byte order mark. */
function encode({ bytes = new Uint8Array() }: SourceFile, edit: (text: string) => string): Uint8Array {
  const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const mark = whole.startsWith(byteOrderMark) ? byteOrderMark : '';
  return new TextEncoder().encode(mark + edit(whole.slice(mark.length)));
}
