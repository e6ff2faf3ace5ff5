import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { parseHost } from '../../policy/patterns/host-pattern.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { readSourceFile } from '../../text/source-file.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import type { Fields } from '../../text/yaml-reader.ts';
import type { DatabaseConnection } from './database-connection.ts';

const commonKeys = ['name', 'description', 'access'] as const;
const sqliteKeys = ['file'] as const;
const postgresKeys = ['host', 'port', 'database', 'user', 'password', 'tls', 'ca_file'] as const;
const keys = [...commonKeys, 'kind', ...sqliteKeys, ...postgresKeys] as const;
type ConnectionFields = Fields<(typeof keys)[number]>;

export const connectionName = '^[a-z][a-z0-9_-]{0,31}$';

/** The connections of databases.yaml. No file: none. Throws one ConfigError that lists every problem. */
export function readDatabases(file: string): readonly DatabaseConnection[] {
  const yaml = readYaml(readSourceFile(file));
  const reader = new YamlReader(yaml);
  const connections = yaml.root === undefined ? [] : readFile(yaml.root, reader);
  const problems = [...yaml.problems, ...reader.problems];
  if (problems.length === 0) return connections;
  const lines = problems.map(({ file: at, line, column, message }) => `${at}:${line}:${column}  ${message}`);
  throw new ConfigError(['The databases cannot be used.', ...lines].join('\n'), 'Correct the lines above.');
}

function readFile(root: YamlNode, reader: YamlReader): readonly DatabaseConnection[] {
  const fields = reader.readFields(root, 'databases.yaml', ['version', 'databases'], ['databases']);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  if (fields?.databases === undefined) return [];
  const connections: DatabaseConnection[] = [];
  for (const item of reader.readList(fields.databases, 'databases') ?? []) {
    const connection = readConnection(item, reader);
    if (connection === undefined) continue;
    if (connections.some(({ name }) => name === connection.name)) {
      reader.note(item, `there are two databases with the name ${connection.name}`);
    }
    connections.push(connection);
  }
  return connections;
}

function readConnection(node: YamlNode, reader: YamlReader): DatabaseConnection | undefined {
  const fields = reader.readFields(node, 'the database', keys, ['name', 'kind']);
  if (fields?.name === undefined || fields.kind === undefined) return undefined;
  const before = reader.problems.length;
  const name = reader.readString(fields.name, 'name', 32) ?? '';
  if (name !== '' && !new RegExp(connectionName).test(name)) {
    reader.note(fields.name, 'name must begin with a small letter and hold small letters, digits, _ and - only');
  }
  const kind = reader.readOneOf(fields.kind, 'kind', ['sqlite', 'postgres']);
  const common = {
    name,
    description: (fields.description && reader.readString(fields.description, 'description', 500)) ?? '',
    access: (fields.access && reader.readOneOf(fields.access, 'access', ['read', 'write'])) ?? 'read',
  } as const;
  const foreign = kind === 'sqlite' ? postgresKeys : kind === 'postgres' ? sqliteKeys : [];
  for (const key of foreign) {
    if (fields[key] !== undefined) reader.note(fields[key], `${key} is not for databases of the kind ${kind}`);
  }
  const own = kind === 'sqlite' ? readSqlite(node, fields, reader) : kind && readPostgres(node, fields, reader);
  return own === undefined || reader.problems.length > before ? undefined : { ...common, ...own };
}

function readSqlite(node: YamlNode, { file }: ConnectionFields, reader: YamlReader) {
  const path =
    file === undefined ? reader.note(node, 'the database lacks file') : reader.readString(file, 'file', 4096);
  return path === undefined ? undefined : ({ kind: 'sqlite', file: path } as const);
}

function readPostgres(node: YamlNode, fields: ConnectionFields, reader: YamlReader) {
  const missing = (['host', 'database', 'user'] as const).filter((key) => fields[key] === undefined);
  if (missing.length > 0) reader.note(node, `the database lacks ${missing.join(', ')}`);
  const text = (key: 'host' | 'database' | 'user' | 'password' | 'ca_file'): string | undefined =>
    fields[key] && reader.readString(fields[key], key);
  const [host, database, user, password, caFile] = [
    text('host'),
    text('database'),
    text('user'),
    text('password'),
    text('ca_file'),
  ];
  if (fields.host && host !== undefined && !isPlainHost(host)) {
    reader.note(fields.host, 'host must be one name or address, without a port');
  }
  if (fields.ca_file && caFile !== undefined && !isAbsolute(caFile)) {
    reader.note(fields.ca_file, 'ca_file must be an absolute path');
  }
  const port = fields.port === undefined ? 5432 : reader.readInteger(fields.port, 'port', { min: 1, max: 65_535 });
  const tls = fields.tls === undefined ? !isLoopback(host ?? '') : reader.readBoolean(fields.tls, 'tls');
  if (!host || !database || !user || port === undefined || tls === undefined) return undefined;
  return {
    ...({ kind: 'postgres', host, port, database, user, tls } as const),
    ...(password === undefined ? {} : { passwordSecret: password }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}

function isPlainHost(text: string): boolean {
  const host = parseHost(text);
  return host !== undefined && !host.below && host.port === undefined;
}

/** What never leaves the machine needs no encryption. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}
