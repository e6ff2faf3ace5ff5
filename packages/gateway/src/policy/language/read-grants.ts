import type { ProgramLimits } from '@sallyport/sandbox';
import type { SecretHeader } from '../../call/secret-grant.ts';
import { noGrants } from '../../call/verdict.ts';
import { isCanonicalPath } from '../patterns/canonical-path.ts';
import { parseHost } from '../patterns/host-pattern.ts';
import { expandPath } from '../judge/place-path.ts';
import type { GrantedPath, RuleGrants } from './rule.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import { scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const grantKeys = [
  'read',
  'write',
  'hosts',
  'environment',
  'secrets',
  'limits',
  'exact_limits',
  'unix_sockets',
  'isolation',
] as const;
export const secretKeys = ['name', 'hosts', 'header', 'scheme'] as const;

const mebibyte = 1024 * 1024;

/** Each limit as it is called in the file, with what one of its units is in the model. */
export const programLimits = {
  cpu_seconds: { name: 'cpuMs', unit: 1000, max: 86_400 },
  memory_mb: { name: 'memoryBytes', unit: mebibyte, max: 1024 * 1024 },
  processes: { name: 'processes', unit: 1, max: 10_000 },
  open_files: { name: 'openFiles', unit: 1, max: 100_000 },
  file_mb: { name: 'fileBytes', unit: mebibyte, max: 1024 * 1024 },
  disk_mb: { name: 'diskBytes', unit: mebibyte, max: 16 * 1024 * 1024 },
  output_mb: { name: 'outputBytes', unit: mebibyte, max: 1024 },
} as const satisfies Record<string, { name: keyof ProgramLimits; unit: number; max: number }>;
export type ProgramLimitKey = keyof typeof programLimits;
export const programLimitKeys = Object.keys(programLimits) as ProgramLimitKey[];

/** What could not be read is noted with the reader, and then nothing is granted. */
export function readGrants(node: YamlNode, reader: YamlReader): RuleGrants | undefined {
  const fields = reader.readFields(node, 'grants', grantKeys, []);
  if (fields === undefined) return undefined;
  const items = <T>(key: 'read' | 'write' | 'hosts' | 'secrets', readItem: (item: YamlNode) => T | undefined) =>
    (fields[key] && reader.readItems(fields[key], key, readItem)) ?? [];
  return {
    read: items('read', (item) => readGrantedPath(item, 'read', reader)),
    write: items('write', (item) => readGrantedPath(item, 'write', reader)),
    hosts: items('hosts', (item) => readHost(item, 'hosts', reader)),
    environment: fields.environment === undefined ? {} : readEnvironment(fields.environment, reader),
    secrets: items('secrets', (item) => readSecret(item, reader)),
    limits: fields.limits === undefined ? {} : readProgramLimits(fields.limits, reader),
    exactLimits: fields.exact_limits !== undefined && reader.readBoolean(fields.exact_limits, 'exact_limits') === true,
    unixSockets: fields.unix_sockets !== undefined && reader.readBoolean(fields.unix_sockets, 'unix_sockets') === true,
    isolation:
      (fields.isolation && reader.readOneOf(fields.isolation, 'isolation', ['sandbox', 'none'])) ?? noGrants.isolation,
  };
}

/** A plain file or folder: what a program sees is mounted as a whole, so that there is nothing to match. */
function readGrantedPath(node: YamlNode, key: string, reader: YamlReader): GrantedPath | undefined {
  const text = reader.readString(node, key, 1024);
  if (text === undefined) return undefined;
  if (/[*?[\]{}\\]|\p{Cc}/u.test(text)) {
    return reader.note(
      node,
      `${key} in grants names whole folders and files; patterns such as * are not possible here`,
    );
  }
  const plain = expandPath(text, { HOME: ['/home'], WORKSPACE: ['/workspace'] });
  if (plain.includes('$') || !isCanonicalPath(plain)) {
    return reader.note(
      node,
      `${key} in grants must be an absolute path, or start with $HOME or $WORKSPACE, written plainly`,
    );
  }
  return { text, position: reader.locate(node) };
}

/** A host for something that is opened: one name, or everything below one. */
export function readHost(node: YamlNode, key: string, reader: YamlReader): string | undefined {
  const text = reader.readString(node, key, 260);
  if (text === undefined) return undefined;
  return (
    parseHost(text)?.text ?? reader.note(node, `a host is named like example.com, *.example.com or example.com:8443`)
  );
}

function readEnvironment(node: YamlNode, reader: YamlReader): Readonly<Record<string, string>> {
  const entries = reader.readEntries(node, 'environment') ?? [];
  const environment: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const { name, key, value } of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) reader.note(key, 'a variable is named with letters, digits and "_"');
    const text = scalarOf(value);
    if (typeof text !== 'string')
      reader.note(value, `${name} must be text; put it in quotes if it looks like a number`);
    else if (text.includes('\0')) reader.note(value, `${name} contains NUL`);
    else environment[name] = text;
  }
  return { ...environment };
}

function readSecret(node: YamlNode, reader: YamlReader): RuleGrants['secrets'][number] | undefined {
  const fields = reader.readFields(node, 'a secret', secretKeys, ['name']);
  const name = fields?.name && reader.readString(fields.name, 'name', 128);
  if (fields === undefined || name === undefined) return undefined;
  if (!/^[A-Za-z][A-Za-z0-9_.-]*$/.test(name)) {
    return reader.note(fields.name as YamlNode, 'a secret is named with letters, digits, "_", "." and "-"');
  }
  const hosts = fields.hosts && reader.readItems(fields.hosts, 'hosts', (item) => readSecretHost(item, reader));
  if (fields.hosts !== undefined && hosts === undefined) return undefined;
  const header = readSecretHeader(fields, reader);
  return { name, hosts: hosts ?? [], ...(header === undefined ? {} : { header }) };
}

/** The way of the message itself, which no value of ours may change. */
const ownHeaders = /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/;

function readSecretHeader(
  { header, scheme, hosts }: Fields<(typeof secretKeys)[number]>,
  reader: YamlReader,
): SecretHeader | undefined {
  if (header === undefined) {
    return scheme && reader.note(scheme, 'scheme stands before the value in a header; name the header too');
  }
  if (hosts === undefined) return reader.note(header, 'a secret in a header needs the hosts that it may be sent to');
  const name = reader.readString(header, 'header', 100)?.toLowerCase();
  if (name !== undefined && (!/^[a-z0-9][a-z0-9_-]*$/.test(name) || ownHeaders.test(name))) {
    return reader.note(header, 'header must be the name of a header such as Authorization or X-Api-Key');
  }
  const before = scheme && reader.readString(scheme, 'scheme', 32);
  if (before !== undefined && !/^[A-Za-z0-9-]+$/.test(before)) {
    return reader.note(scheme as YamlNode, 'scheme is one word, such as Bearer');
  }
  return name === undefined ? undefined : { name, ...(before === undefined ? {} : { scheme: before }) };
}

function readSecretHost(node: YamlNode, reader: YamlReader): string | undefined {
  const host = readHost(node, 'hosts', reader);
  return host?.includes(':') ? reader.note(node, 'hosts of a secret have no port') : host;
}

function readProgramLimits(node: YamlNode, reader: YamlReader): Partial<ProgramLimits> {
  const fields = reader.readFields(node, 'limits', programLimitKeys, []);
  return Object.assign({}, ...programLimitKeys.map((key) => readProgramLimit(fields?.[key], key, reader))) as object;
}

/** One limit in the units of the model; nothing when it is absent or could not be read. */
export function readProgramLimit(
  node: YamlNode | undefined,
  key: ProgramLimitKey,
  reader: YamlReader,
  what: string = key,
): Partial<ProgramLimits> {
  const { name, unit, max } = programLimits[key];
  const value = node && reader.readInteger(node, what, { min: 1, max });
  return value === undefined ? {} : { [name]: value * unit };
}
