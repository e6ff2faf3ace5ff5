import { ConfigError } from '../../call/fault.ts';
import { readYaml } from '../../text/read-yaml.ts';
import type { SourceFile } from '../../text/source-file.ts';
import { entryOf, scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import { editText } from './promote-rule.ts';

/** Writes rules, as items of a list that is not indented. `freeId` makes an id of a word that no rule has yet. */
export type DraftRules = (freeId: (word: string) => string) => readonly string[];

const mostIds = 1000;

/**
 * The bytes of tools.yaml with more rules at the end of its list. Nothing else of the file changes. Throws ConfigError
 * when the list is written in another way than with one item below the other.
 */
export function addRules(
  source: SourceFile,
  draft: DraftRules,
): { readonly bytes: Uint8Array; readonly added: string } {
  const { root } = readYaml(source);
  const rules = root?.kind === 'map' ? entryOf(root, 'rules') : undefined;
  const items = rules?.kind === 'list' ? rules.items : [];
  const last = items.at(-1);
  if (last === undefined) throw notBelowEachOther(source);
  const added = draft(freeIds(items)).join('\n');
  const bytes = editText(source, (text) => {
    const indent = indentOf(text, items[0]?.start ?? 0);
    if (indent === undefined) throw notBelowEachOther(source);
    const end = endOfItem(text, last);
    const before = text.slice(0, end);
    const lines = added.replaceAll(/^(?=.)/gm, indent);
    return `${before}${before.endsWith('\n') ? '' : '\n'}\n${lines}${text.slice(end)}`;
  });
  return { bytes, added };
}

function freeIds(items: readonly YamlNode[]): (word: string) => string {
  const taken = new Set(items.flatMap((item) => (item.kind === 'map' ? [String(scalarOf(entryOf(item, 'id')))] : [])));
  return (word) => {
    const slug = word
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 56)
      .replaceAll(/^-+|-+$/g, '');
    for (let at = 1; at < mostIds; at++) {
      const id = at === 1 ? slug : `${slug}-${at}`;
      if (taken.has(id)) continue;
      taken.add(id);
      return id;
    }
    throw new ConfigError(`There are too many rules named ${slug}.`, 'Give some of them other names.');
  };
}

/** What stands before the dash of an item. Undefined: there is none at the beginning of its line. */
function indentOf(text: string, at: number): string | undefined {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^( *)- *$/.exec(line)?.[1];
}

/** The end of the line on which an item ends. */
function endOfItem(text: string, { end }: YamlNode): number {
  // A block ends where the next thing begins; what is between belongs to that.
  const trimmed = text.slice(0, end).trimEnd().length;
  const newline = text.indexOf('\n', trimmed);
  return newline < 0 ? text.length : newline + 1;
}

function notBelowEachOther({ file }: SourceFile): ConfigError {
  return new ConfigError(
    `Rules cannot be added to ${file} by themselves: its list of rules is empty, or not one rule below the other.`,
    'Write the rule into the file, and run `sallyport policy apply`.',
  );
}
