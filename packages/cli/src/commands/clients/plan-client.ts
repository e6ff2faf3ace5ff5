import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usageFailure } from '../../client/failure.ts';
import { dropTrust, putTrust } from './codex-trust.ts';
import type { Trust } from './codex-trust.ts';
import { addHooks, dropHooks } from './edit-hooks.ts';
import { readMember, SettingsUnclear } from './edit-json.ts';
import { dropOwnServer, ownName, putOwnServer, readServers } from './edit-servers.ts';
import type { FoundServer } from './edit-servers.ts';
import { readTables } from './edit-toml.ts';
import type { KeptSettings } from './kept-settings.ts';
import type { KnownClient } from './known-clients.ts';
import { planImport } from './plan-import.ts';
import type { ImportBook, ServerPlan } from './plan-import.ts';

/** What is to be done with a client. */
export interface ClientPlan {
  readonly client: KnownClient;
  readonly servers: readonly (ServerPlan & { readonly found: FoundServer })[];
  /** Servers in files of the project, which others share: they stay. */
  readonly shared: readonly { readonly server: string; readonly file: string }[];
  readonly files: readonly PlannedFile[];
}

export interface PlannedFile {
  readonly file: string;
  readonly before: string;
  /** Of the text as it is when it is written. `kept`: servers that stay after all. Throws SettingsUnclear. */
  readonly edit: (text: string, kept?: readonly string[]) => string;
}

/** Looks at the settings of a client. Nothing is changed. Throws CommandFailure when they cannot be edited. */
export function planClient(client: KnownClient, root: string, book: ImportBook, kept: KeptSettings): ClientPlan {
  const { hooks, servers: place } = client;
  const read = (file: string): string => kept.read(file)?.toString() ?? '';
  const servers = orUnclear(place.file, () => readServers(read(place.file), place, root)).map((found) => ({
    ...planImport(found.name, found.entry, book, process.env),
    found,
  }));
  const imported = servers.filter(({ how }) => how === 'import');
  const putServer = (text: string, stay: readonly string[] = []): string =>
    putOwnServer(
      text,
      place,
      imported.filter(({ server }) => !stay.includes(server)).map(({ found }) => found),
    );
  const content = hooks?.content;
  const putHooks = (text: string): string =>
    content === undefined ? text : 'all' in content ? content.all : addHooks(text, content);
  const isOneFile = hooks?.file === place.file;
  const files: PlannedFile[] = [
    {
      file: place.file,
      before: read(place.file),
      edit: (text, stay) => (isOneFile ? putHooks(putServer(text, stay)) : putServer(text, stay)),
    },
    ...(hooks === undefined || isOneFile ? [] : [{ file: hooks.file, before: read(hooks.file), edit: putHooks }]),
  ];
  for (const { file, before, edit } of files) orUnclear(file, () => edit(before));
  return { client, servers, shared: findShared(client, root), files };
}

/** The same plan, with our hooks trusted in the settings of Codex. Throws CommandFailure when they cannot be edited. */
export function withTrust(plan: ClientPlan, trust: Trust): ClientPlan {
  const { file: settings } = plan.client.servers;
  const files = plan.files.map((planned) =>
    planned.file === settings
      ? { ...planned, edit: (text: string, stay?: readonly string[]) => putTrust(planned.edit(text, stay), trust) }
      : planned,
  );
  for (const { file, before, edit } of files) orUnclear(file, () => edit(before));
  return { ...plan, files };
}

/** What a file that somebody has changed since would be without us. Undefined: it cannot be told. */
export function takeOut(client: KnownClient, root: string) {
  const { hooks, servers: place } = client;
  return (file: string, present: string, before: string): string | undefined => {
    try {
      const content = file === hooks?.file ? hooks.content : undefined;
      if (content !== undefined && 'all' in content) return undefined;
      const rest = content === undefined ? present : dropHooks(present, content);
      if (file !== place.file) return rest;
      const without = dropOwnServer(rest, before, place, root);
      return place.format === 'toml' ? dropTrust(without, before, client) : without;
    } catch (error) {
      if (error instanceof SettingsUnclear) return undefined;
      throw error;
    }
  };
}

function findShared({ servers: place }: KnownClient, root: string): ClientPlan['shared'] {
  return place.projectFiles.flatMap((name) => {
    const file = join(root, name);
    if (!existsSync(file) || file === place.file) return [];
    try {
      return readServers(readShared(file), place, root).map(({ name: server }) => ({ server, file }));
    } catch {
      return [{ server: '?', file }];
    }
  });
}

const readShared = (file: string): string => readFileSync(file, 'utf8');

function orUnclear<Result>(file: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SettingsUnclear)) throw error;
    throw usageFailure(
      `${file} cannot be edited: ${error.message}.`,
      'Correct it, then run this again. Nothing was changed.',
    );
  }
}

/** Whether our server is there as it should be. */
export function hasOwnServer({ servers: place }: KnownClient, text: string): boolean {
  try {
    const entry =
      place.format === 'toml' ? readTables(text, place.member)[ownName] : readMember(text, [place.member, ownName]);
    return JSON.stringify(entry) === JSON.stringify(place.entry);
  } catch {
    return false;
  }
}
