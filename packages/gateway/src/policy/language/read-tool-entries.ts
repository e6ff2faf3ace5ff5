import { dropUndefined } from '@sallyport/contract';
import { modes } from '../../call/session.ts';
import type { Mode } from '../../call/session.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Limits } from '../../call/verdict.ts';
import { programLimitKeys, readProgramLimit } from './read-grants.ts';
import { readRateLimits, windowKeys } from './read-limits.ts';
import { readCommandPattern, readHostPattern, readPathPattern, readToolPattern } from './read-patterns.ts';
import type { Rule, RuleGrants } from './rule.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const toolEntryKeys = [
  'category',
  'allowed_in_modes',
  'requires_approval_in_modes',
  'forbidden_in_modes',
  'allowed_paths',
  'forbidden_paths',
  'allowed_commands',
  'allowed_hosts',
  'allowed_apps',
  'max_file_size_mb',
  'limits',
] as const;
export const entryLimitKeys = [...windowKeys, ...programLimitKeys] as const;

/** What the entries of `tools` in tools.yaml come to. */
export interface ToolEntries {
  readonly rules: readonly Rule[];
  /** They come before those of limits.yaml. */
  readonly rates: Limits['rates'];
  /** The category that the file expects each tool to have, with the rule that stands for the entry. */
  readonly categories: ReadonlyMap<string, string>;
}

export const noToolEntries: ToolEntries = { rules: [], rates: [], categories: new Map() };

/** Entries by tool are another way to write rules: each becomes a few of them, and nothing else decides. */
export function readToolEntries(node: YamlNode, reader: YamlReader): ToolEntries {
  const rules: Rule[] = [];
  const rates: Limits['rates'][number][] = [];
  const categories = new Map<string, string>();
  const slugs = new Set<string>();
  for (const { key, value } of reader.readEntries(node, 'tools') ?? []) {
    const name = readToolPattern(key, reader);
    const fields = name === undefined ? undefined : reader.readFields(value, `tool ${name}`, toolEntryKeys, []);
    if (name === undefined || fields === undefined) continue;
    const limits = readEntryLimits(fields, reader);
    const slug = chooseSlug(name, slugs);
    rules.push(
      ...readEntryRules(
        name,
        slug,
        fields,
        limits.grants,
        { file: reader.file, line: reader.locate(key).line },
        reader,
      ),
    );
    if (limits.rates.length > 0) rates.push({ tools: [name], limits: limits.rates });
    const category = fields.category && reader.readString(fields.category, 'category', 64);
    if (category !== undefined) categories.set(name, category);
  }
  return { rules, rates, categories };
}

/** Part of the ids of the rules: the name, as far as ids can hold it, and a number when that is not its own. */
function chooseSlug(name: string, taken: Set<string>): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  let slug = plain === '' ? 'any' : plain;
  for (let number = 2; taken.has(slug); number++) slug = `${plain}-${number}`;
  taken.add(slug);
  return slug;
}

type EntryFields = Fields<(typeof toolEntryKeys)[number]>;

function readEntryRules(
  tool: string,
  slug: string,
  fields: EntryFields,
  grants: RuleGrants | undefined,
  place: Pick<Rule, 'file' | 'line'>,
  reader: YamlReader,
): readonly Rule[] {
  const inModes = (key: keyof EntryFields): readonly Mode[] | undefined =>
    fields[key] && reader.readItems(fields[key], key, (item) => reader.readOneOf(item, key, modes));
  const forbiddenPaths = readList(fields, 'forbidden_paths', reader, (item) =>
    readPathPattern(item, 'forbidden_paths', reader),
  );
  const allowed = readAllowed(fields, reader);
  const base = { tools: [tool], approvalWaived: false, acceptsNew: false, shadow: false, examples: [], ...place };
  const opening = { ...base, ...allowed, ...(grants === undefined ? {} : { grants }) };
  const rules: Rule[] = [];
  const forbidden = inModes('forbidden_in_modes');
  if (forbidden !== undefined) rules.push({ ...base, id: `tool-${slug}-forbidden`, effect: 'deny', modes: forbidden });
  if (forbiddenPaths !== undefined) {
    rules.push({ ...base, id: `tool-${slug}-forbidden-paths`, effect: 'deny', paths: forbiddenPaths });
  }
  const asked = inModes('requires_approval_in_modes');
  if (asked !== undefined)
    rules.push({ ...opening, id: `tool-${slug}-approval`, effect: 'require_approval', modes: asked });
  const open = inModes('allowed_in_modes');
  if (open !== undefined) {
    // Modes in which it asks have a key of their own, so in these it does not.
    const unasked = { effect: 'allow', approvalWaived: true, keepsOwnApproval: true } as const;
    rules.push({ ...opening, ...unasked, id: `tool-${slug}-allowed`, modes: open });
  }
  return rules;
}

function readAllowed(fields: EntryFields, reader: YamlReader): Pick<Rule, 'paths' | 'commands' | 'hosts' | 'apps'> {
  const paths = readList(fields, 'allowed_paths', reader, (item) => readPathPattern(item, 'allowed_paths', reader));
  const commands = readList(fields, 'allowed_commands', reader, (item) => readCommandPattern(item, reader));
  const hosts = readList(fields, 'allowed_hosts', reader, (item) => readHostPattern(item, reader));
  const apps = readList(fields, 'allowed_apps', reader, (item) => reader.readString(item, 'allowed_apps'));
  return {
    ...dropUndefined({ paths, commands, hosts, apps }),
  };
}

function readList<T>(
  fields: EntryFields,
  key: keyof EntryFields,
  reader: YamlReader,
  readItem: (item: YamlNode) => T | undefined,
): readonly T[] | undefined {
  return fields[key] && reader.readItems(fields[key], key, readItem);
}

/** What limits files and programs is granted with the call; what limits calls goes to the other limits. */
function readEntryLimits(
  fields: EntryFields,
  reader: YamlReader,
): { readonly grants: RuleGrants | undefined; readonly rates: Limits['rates'][number]['limits'] } {
  const given = fields.limits && reader.readFields(fields.limits, 'limits', entryLimitKeys, []);
  const limits: Record<string, number> = {};
  for (const key of programLimitKeys) Object.assign(limits, readProgramLimit(given?.[key], key, reader));
  const fileSize = readProgramLimit(fields.max_file_size_mb, 'file_mb', reader, 'max_file_size_mb');
  Object.assign(limits, fileSize);
  const grants =
    Object.keys(limits).length === 0 ? undefined : { ...noGrants, read: [], write: [], secrets: [], limits };
  return { grants, rates: readRateLimits(given ?? {}, reader) };
}
