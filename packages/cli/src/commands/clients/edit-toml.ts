import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { SettingsUnclear } from './edit-json.ts';

type Table = Record<string, unknown>;

/** Tables of one kind, such as `[mcp_servers.NAME]` or `[hooks.state.NAME]`, in the text of a TOML file. Throws SettingsUnclear. */
export function readTables(text: string, kind: string): Readonly<Record<string, Table>> {
  return tablesIn(parseToml(text), kind);
}

/**
 * Takes tables out of the text, with the tables below them, and puts one at its end. All other lines stay as they are.
 * What the edit makes of the file is read again and compared with what it should mean. Throws SettingsUnclear.
 */
export function replaceTables(
  text: string,
  kind: string,
  { without, put }: { readonly without: readonly string[]; readonly put?: readonly [name: string, table: Table] },
): string {
  const before = parseToml(text);
  const servers = { ...tablesIn(before, kind) };
  const isPresent = put !== undefined && isDeepStrictEqual(plain(servers[put[0]]), plain(put[1]));
  const taken = [...without, ...(put === undefined || isPresent ? [] : [put[0]])].filter((name) => name in servers);
  let edited = taken.reduce((rest, name) => cutTable(rest, kind, name), text);
  if (put !== undefined && !isPresent) edited = appendTable(edited, kind, put);
  for (const name of taken) delete servers[name];
  if (put !== undefined) servers[put[0]] = put[1];
  const after = parseToml(edited);
  const [meant, found] = [withTables(before, kind, servers), withTables(after, kind, tablesIn(after, kind))];
  if (!isDeepStrictEqual(plain(found), plain(meant))) {
    throw new SettingsUnclear(`its [${kind}.${taken.join(', ')}] is written in a form that cannot be edited`);
  }
  return edited;
}

export function writeTable(kind: string, [name, table]: readonly [string, Table], eol = '\n'): string {
  const tables: Table = { [name]: table };
  return stringify(kind.split('.').reduceRight((inner, part) => ({ [part]: inner }), tables))
    .trim()
    .replaceAll('\n', eol);
}

function tablesIn(parsed: Table, kind: string): Record<string, Table> {
  return kind.split('.').reduce((held, part) => (held[part] ?? {}) as Table, parsed) as Record<string, Table>;
}

/** With these tables in the place of those of the kind. One with nothing in it is as good as none. */
function withTables(parsed: Table, kind: string, tables: Table): Table {
  const [part = '', ...deeper] = kind.split('.');
  const inner = deeper.length === 0 ? tables : withTables((parsed[part] ?? {}) as Table, deeper.join('.'), tables);
  const { [part]: _, ...others } = parsed;
  return Object.keys(inner).length === 0 ? others : { ...parsed, [part]: inner };
}

function appendTable(text: string, kind: string, put: readonly [string, Table]): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${writeTable(kind, put, eol)}${eol}`;
}

/** From its header to the next one that is of another table. */
function cutTable(text: string, kind: string, name: string): string {
  const spelled = [name, JSON.stringify(name), `'${name}'`].map((each) => RegExp.escape(each)).join('|');
  const own = new RegExp(
    `^[ \\t]*\\[[ \\t]*${RegExp.escape(kind)}[ \\t]*\\.[ \\t]*(?:${spelled})[ \\t]*(?:\\.[^\\]]*)?\\][ \\t]*(?:#.*)?$`,
  );
  const anyHeader = /^[ \t]*\[/;
  let isOwn = false;
  // Comments above a header belong to it.
  let held: string[] = [];
  const kept: string[] = [];
  for (const line of text.split(/(?<=\n)/)) {
    const bare = line.replace(/\r?\n$/, '');
    if (anyHeader.test(bare)) {
      isOwn = own.test(bare);
      if (!isOwn) kept.push(...held);
      held = [];
    } else if (isOwn && /^[ \t]*#/.test(bare)) {
      held.push(line);
      continue;
    } else if (isOwn && bare.trim() !== '') held = [];
    if (!isOwn) kept.push(line);
  }
  return [...kept, ...held].join('');
}

function parseToml(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    throw new SettingsUnclear(
      `it is not valid TOML: ${(error instanceof Error ? error.message : '').split('\n', 1)[0]}`,
    );
  }
}

/** Without the prototypes that tell parsed tables from others. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)),
  );
}
