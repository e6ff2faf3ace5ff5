import { ConfigError } from '../../call/fault.ts';
import { readYaml } from '../../text/read-yaml.ts';
import type { SourceFile } from '../../text/source-file.ts';
import { entryOf, scalarOf } from '../../text/yaml-node.ts';
import type { YamlMap } from '../../text/yaml-node.ts';

/**
 * The bytes of tools.yaml with a rule in force that was only tried out. Nothing else of the file changes, comments and
 * spaces included. Throws ConfigError when there is no such rule.
 */
export function promoteRule(source: SourceFile, id: string): Uint8Array {
  const { root } = readYaml(source);
  const rule = root?.kind === 'map' ? findRule(root, id) : undefined;
  if (rule === undefined) {
    throw new ConfigError(`There is no rule ${id} in ${source.file}.`, 'Tried-out rules: sallyport policy shadow.');
  }
  const shadow = entryOf(rule, 'shadow');
  if (shadow === undefined || scalarOf(shadow) !== true) {
    throw new ConfigError(`Rule ${id} is in force already: it has no shadow to remove.`, 'Nothing has to be done.');
  }
  const { start, end } = shadow;
  return editText(source, (text) => dropLine(text, start) ?? `${text.slice(0, start)}false${text.slice(end)}`);
}

function findRule(root: YamlMap, id: string): YamlMap | undefined {
  const rules = entryOf(root, 'rules');
  const items = rules?.kind === 'list' ? rules.items : [];
  return items.filter((item) => item.kind === 'map').find((item) => scalarOf(entryOf(item, 'id')) === id);
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

/** The bytes with another text. Places in the file are counted behind its byte order mark. */
export function editText({ bytes = new Uint8Array() }: SourceFile, edit: (text: string) => string): Uint8Array {
  const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const mark = whole.startsWith(byteOrderMark) ? byteOrderMark : '';
  return new TextEncoder().encode(mark + edit(whole.slice(mark.length)));
}
