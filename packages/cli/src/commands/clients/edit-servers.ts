import type { JSONPath } from 'jsonc-parser';
import { readMember, setMember } from './edit-json.ts';
import { readTables, replaceTables, writeTable } from './edit-toml.ts';
import type { ServerPlace } from './known-clients.ts';

/** What our own entry is called in every client. */
export const ownName = 'sallyport';

/** A server of a client, and where in its file it stands. */
export interface FoundServer {
  readonly name: string;
  readonly entry: unknown;
  /** Of the map that has it. */
  readonly path: JSONPath;
}

/** Those of others. `root`: the project, of which some clients keep servers in the file of the user. */
export function readServers(text: string, place: ServerPlace, root: string): readonly FoundServer[] {
  const maps = place.format === 'toml' ? [[place.member]] : pathsOf(place, root);
  return maps.flatMap((path) => {
    const map = place.format === 'toml' ? readTables(text, place.member) : readMember(text, path);
    const entries = typeof map === 'object' && map !== null ? Object.entries(map) : [];
    return entries
      .filter(([name]) => name !== ownName)
      .map(([name, entry]) => ({ name, path, entry: entry as unknown }));
  });
}

/** Takes servers out and puts ours in; everything else stays as it is written. Throws SettingsUnclear. */
export function putOwnServer(text: string, place: ServerPlace, without: readonly FoundServer[]): string {
  if (place.format === 'toml') {
    const names = without.map(({ name }) => name);
    return replaceTables(text, place.member, { without: names, put: [ownName, { ...place.entry }] });
  }
  const rest = without.reduce((edited, { path, name }) => setMember(edited, [...path, name], undefined), text);
  return setMember(rest, [place.member, ownName], place.entry);
}

/** Takes ours out and puts those back that `before` had. Throws SettingsUnclear. */
export function dropOwnServer(text: string, before: string, place: ServerPlace, root: string): string {
  const present = readServers(text, place, root);
  const missing = readServers(before, place, root).filter(
    ({ name, path }) => !present.some((each) => each.name === name && each.path.join() === path.join()),
  );
  if (place.format === 'toml') {
    const rest = replaceTables(text, place.member, { without: [ownName] });
    return missing.reduce(
      (edited, { name, entry }) =>
        replaceTables(edited, place.member, { without: [], put: [name, entry as Record<string, unknown>] }),
      rest,
    );
  }
  const rest =
    readMember(text, [place.member, ownName]) === undefined
      ? text
      : setMember(text, [place.member, ownName], undefined);
  return missing.reduce((edited, { path, name, entry }) => setMember(edited, [...path, name], entry), rest);
}

/** Our entry, as a person would write it into the file. */
export function writeOwnServer({ format, member, entry }: ServerPlace): string {
  return format === 'toml'
    ? writeTable(member, [ownName, { ...entry }])
    : JSON.stringify({ [member]: { [ownName]: entry } }, undefined, 2);
}

function pathsOf({ member, file }: ServerPlace, root: string): readonly JSONPath[] {
  return file.endsWith('.claude.json') ? [[member], ['projects', root, member]] : [[member]];
}
