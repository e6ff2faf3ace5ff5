import { hash } from 'node:crypto';
import { CommandFailure } from '../../client/failure.ts';
import { readLauncher } from '../upstreams/read-launcher.ts';
import type { LaunchedPackage } from '../upstreams/read-launcher.ts';
import { CannotImport, isSecret, readForeignServer } from './foreign-server.ts';
import type { ForeignServer } from './foreign-server.ts';

/** A server of a client, and what is to become of it. */
export type ServerPlan = { readonly server: string } & (
  | ({ readonly how: 'import' } & Import)
  /** It stays in the settings of the client. */
  | { readonly how: 'stay'; readonly why: string }
);

/** As the gate gets it. */
export interface Import {
  /** Of the upstream. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly package?: LaunchedPackage;
  /** What is stored first, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface ImportBook {
  /** Upstreams and secrets that the gate has already. */
  readonly upstreams: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
  /** What other clients of the same run bring, by name. Grows. */
  readonly imports: Map<string, Import>;
}

const shortestSecret = 8;

/** What becomes of a server. Two clients that have the same one get one upstream. */
export function planImport(
  server: string,
  given: unknown,
  book: ImportBook,
  environment: Readonly<Record<string, string | undefined>>,
): ServerPlan {
  try {
    const found = layOut(readForeignServer(given, environment), nameOf(server));
    const same = book.imports.get(found.name);
    if (same !== undefined && digest(same) === digest(found)) return { server, how: 'import', ...same };
    if (same !== undefined || book.upstreams.has(found.name)) {
      throw new CannotImport(`the gate has another upstream ${found.name} already`);
    }
    for (const [name, value] of Object.entries(found.secrets)) checkSecret(name, value, book);
    book.imports.set(found.name, found);
    return { server, how: 'import', ...found };
  } catch (error) {
    // A launcher that the gate does not start says so as the command would.
    if (error instanceof CannotImport || error instanceof CommandFailure)
      return { server, how: 'stay', why: error.message };
    throw error;
  }
}

function checkSecret(name: string, value: string, { secrets, imports }: ImportBook): void {
  if (value.length < shortestSecret) throw new CannotImport(`its ${name} is too short to be kept as a secret`);
  if (secrets.has(name)) throw new CannotImport(`the gate has a secret ${name} already`);
  for (const other of imports.values()) {
    if (other.secrets[name] !== undefined && other.secrets[name] !== value) {
      throw new CannotImport(`another server has another value for ${name}`);
    }
  }
}

function layOut(server: ForeignServer, name: string): Import {
  return server.kind === 'url' ? layOutUrl(server, name) : layOutCommand(server, name);
}

/** Tokens are sent to this address and nowhere else: the gate follows no redirect with them. */
function layOutUrl({ url, headers }: Extract<ForeignServer, { kind: 'url' }>, name: string): Import {
  const parsed = URL.parse(url);
  const inUrl = [...(parsed?.searchParams ?? [])].find(([key, value]) => isSecret(key, value));
  if (parsed === null || parsed.username !== '' || parsed.password !== '' || inUrl !== undefined) {
    throw new CannotImport('its address contains a secret, which would appear in the log of every server on the way');
  }
  const prefix = name.toUpperCase().replaceAll('-', '_');
  const secrets: Record<string, string> = {};
  const secretHeaders: Record<string, string> = {};
  let bearer: string | undefined;
  for (const [header, value] of Object.entries(headers)) {
    const [, token] = /^Bearer +(\S+)$/i.exec(value) ?? [];
    if (header.toLowerCase() === 'authorization' && token !== undefined) {
      bearer = `${prefix}_TOKEN`;
      secrets[bearer] = token;
      continue;
    }
    // Whatever it is, it was meant for this server alone.
    const secret = `${prefix}_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
    secretHeaders[header] = secret;
    secrets[secret] = value;
  }
  return {
    ...{ name, secrets },
    input: {
      url,
      ...(bearer === undefined ? {} : { bearer_secret: bearer }),
      ...(Object.keys(secretHeaders).length === 0 ? {} : { secret_headers: secretHeaders }),
    },
  };
}

function layOutCommand({ command, environment }: Extract<ForeignServer, { kind: 'command' }>, name: string): Import {
  const entries = Object.entries(environment);
  const secrets = Object.fromEntries(entries.filter(([variable, value]) => isSecret(variable, value)));
  const plain = Object.fromEntries(entries.filter(([variable]) => !(variable in secrets)));
  const revealing = command.find(
    (word) => isSecret('', word) || /^--?[\w-]*(?:token|key|secret|password)[\w-]*=./i.test(word),
  );
  if (revealing !== undefined)
    throw new CannotImport('its arguments contain a secret, which every user of this machine can see');
  const launched = readLauncher(command);
  const input = {
    ...(launched === undefined ? { command } : launched.args.length === 0 ? {} : { arguments: launched.args }),
    ...(Object.keys(plain).length === 0 ? {} : { environment: plain }),
    ...(Object.keys(secrets).length === 0 ? {} : { secrets: Object.keys(secrets) }),
  };
  return { name, input, secrets, ...(launched === undefined ? {} : { package: launched }) };
}

/** As upstreams may be called. */
function nameOf(server: string): string {
  const plain = server
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 32);
  if (plain === '') throw new CannotImport('its name cannot be the name of an upstream');
  return plain;
}

function digest(plan: Import): string {
  return hash('sha256', JSON.stringify(plan));
}
