import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { SettingsUnclear } from './edit-json.ts';

type Table = Record<string, unknown>;

/** Tables of one kind, such as `[mcp_servers.NAME]`, in the text of a TOML file. Throws SettingsUnclear. */
export function readTables(text: string, kind: string): Readonly<Record<string, Table>> {
  return (parseToml(text)[kind] ?? {}) as Record<string, Table>;
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
  const servers = { ...((before[kind] ?? {}) as Record<string, Table>) };
  const isPresent = put !== undefined && isDeepStrictEqual(plain(servers[put[0]]), plain(put[1]));
  const taken = [...without, ...(put === undefined || isPresent ? [] : [put[0]])].filter((name) => name in servers);
  let edited = taken.reduce((rest, name) => cutTable(rest, kind, name), text);
  if (put !== undefined && !isPresent) edited = appendTable(edited, kind, put);
  for (const name of taken) delete servers[name];
  if (put !== undefined) servers[put[0]] = put[1];
  const meant: Table = { ...before, [kind]: servers };
  if (Object.keys(servers).length === 0) delete meant[kind];
  const after = parseToml(edited);
  if (!isDeepStrictEqual(plain(after[kind] === undefined ? { ...after } : after), plain(meant))) {
    throw new SettingsUnclear(`its [${kind}.${taken.join(', ')}] is written in a form that cannot be edited`);
  }
  return edited;
}

export function writeTable(kind: string, [name, table]: readonly [string, Table], eol = '\n'): string {
  return stringify({ [kind]: { [name]: table } })
    .trim()
    .replaceAll('\n', eol);
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
    throw new SettingsUnclear(`it is no TOML: ${(error instanceof Error ? error.message : '').split('\n', 1)[0]}`);
  }
}

/** Without the prototypes that tell parsed tables from others. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)),
  );
}
