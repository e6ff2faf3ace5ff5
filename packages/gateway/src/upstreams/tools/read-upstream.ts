import { dropUndefined } from '@sallyport/contract';
import type { YamlNode } from '../../text/yaml-node.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import type { AssignedProperties } from '../../registry/define-foreign-tool.ts';
import { requestKinds } from '../requests/request-kinds.ts';
import type { RequestKind } from '../requests/request-kinds.ts';
import { defaultIdleMs, upstreamName } from '../upstream-config.ts';
import type { HttpEndpoint, PinnedPackage, StdioEndpoint, UpstreamConfig } from '../upstream-config.ts';
import { entryInside } from '../package-store.ts';
import { propertyKeys, readProperties } from '../../programs/read-assignment.ts';
import { readOAuth } from './read-oauth.ts';
import { explainHost, isThisMachine, readHost, readVariable, variableName } from './read-values.ts';

const stdioKeys = [
  'command',
  'package',
  'arguments',
  'paths',
  'hosts',
  'environment',
  'secrets',
  'unix_sockets',
] as const;
const httpKeys = ['url', 'bearer_secret', 'secret_headers', 'oauth'] as const;
const keys = ['name', ...stdioKeys, ...httpKeys, 'may_ask', 'idle_seconds', 'tools'] as const;
type UpstreamFields = Fields<(typeof keys)[number]>;

const nameHint = 'up to 32 small letters, digits, "_" and "-", beginning with a letter';

export interface UpstreamFile {
  /** Name of the file, for people. */
  readonly file: string;
  /** The name of the upstream, unless the file says otherwise. */
  readonly stem: string;
  /** Whether the gate has tools of its own under this name. */
  readonly isReserved: (name: string) => boolean;
}

/** Notes every problem with its place. Undefined: there is one. */
export function readUpstream(root: YamlNode, reader: YamlReader, given: UpstreamFile): UpstreamConfig | undefined {
  const before = reader.problems.length;
  const fields = reader.readFields(root, 'the upstream', keys, []);
  if (fields === undefined) return undefined;
  const name = fields.name === undefined ? given.stem : reader.readString(fields.name, 'name');
  const place = fields.name ?? root;
  if (name !== undefined && !upstreamName.test(name)) reader.note(place, `the name must be ${nameHint}`);
  else if (name !== undefined && given.isReserved(name)) {
    reader.note(place, `the gate has tools of its own that are called ${name}; choose another name`);
  }
  const endpoint = readEndpoint(root, fields, reader);
  const mayAsk = fields.may_ask && readKinds(fields.may_ask, fields, reader);
  const range = { min: 1, max: 24 * 3600 };
  const idleSeconds = fields.idle_seconds && reader.readInteger(fields.idle_seconds, 'idle_seconds', range);
  const assigned = readAssigned(fields.tools, reader);
  if (reader.problems.length > before || name === undefined || endpoint === undefined) return undefined;
  const idleMs = idleSeconds === undefined ? defaultIdleMs : idleSeconds * 1000;
  return { name, file: given.file, endpoint, mayAsk: mayAsk ?? [], idleMs, assigned };
}

function readEndpoint(
  root: YamlNode,
  fields: UpstreamFields,
  reader: YamlReader,
): UpstreamConfig['endpoint'] | undefined {
  const ways = (['command', 'package', 'url'] as const).filter((key) => fields[key] !== undefined);
  const [way] = ways;
  if (way === undefined || ways.length > 1) {
    return reader.note(root, 'the upstream needs one of: a command to start, a package to start, a url to reach');
  }
  const isStdio = way !== 'url';
  for (const key of [...(isStdio ? httpKeys : stdioKeys), ...(way === 'command' ? (['arguments'] as const) : [])]) {
    const node = fields[key];
    if (node !== undefined) reader.note(node, `${key} does not go with ${way}`);
  }
  return isStdio ? readStdio(fields, reader) : readHttp(fields, reader);
}

function readHttp(fields: UpstreamFields, reader: YamlReader): HttpEndpoint | undefined {
  const { url: node, bearer_secret: secret } = fields;
  const text = node && reader.readString(node, 'url', 2000);
  const bearerSecret = secret && readVariable(secret, 'bearer_secret', reader);
  const secretHeaders = fields.secret_headers && readSecretHeaders(fields.secret_headers, reader);
  const oauth = fields.oauth && readOAuth(fields.oauth, reader);
  if (fields.oauth !== undefined && secret !== undefined) reader.note(secret, 'bearer_secret does not go with oauth');
  if (node === undefined || text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    return reader.note(node, 'url must begin with https://');
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    return reader.note(node, 'url must hold no credentials; store the token as a secret and name it as bearer_secret');
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const problem = explainHost(`${url.hostname}:${port}`);
  if (problem !== undefined) return reader.note(node, problem);
  // Everyone on the way could read a token that is not encrypted.
  const isTokenSent = bearerSecret !== undefined || secretHeaders !== undefined || oauth !== undefined;
  if (url.protocol === 'http:' && isTokenSent && !isThisMachine(url.hostname)) {
    return reader.note(node, 'a token is only sent over https');
  }
  return {
    kind: 'http',
    url: url.href,
    ...dropUndefined({ bearerSecret, secretHeaders, oauth }),
  };
}

/** Headers that MCP and HTTP need themselves cannot hold a secret. */
const ownHeaders = /^(?:host|content-.*|accept|connection|transfer-encoding|mcp-.*|last-event-id)$/i;

function readSecretHeaders(node: YamlNode, reader: YamlReader): Readonly<Record<string, string>> {
  const entries = reader.readEntries(node, 'secret_headers') ?? [];
  return Object.fromEntries(
    entries.flatMap(({ name, key, value }) => {
      if (!/^[A-Za-z0-9-]{1,100}$/.test(name) || ownHeaders.test(name)) {
        reader.note(key, 'this is not a header that can be set');
      }
      const secret = readVariable(value, name, reader);
      return secret === undefined ? [] : [[name, secret]];
    }),
  );
}

function readStdio(fields: UpstreamFields, reader: YamlReader): StdioEndpoint | undefined {
  const pinned = fields.package && readPackage(fields.package, reader);
  const words = (node: YamlNode | undefined, what: string): readonly string[] =>
    (node && reader.readItems(node, what, (item) => readWord(item, reader))) ?? [];
  const [file, ...args] = pinned
    ? ['node', entryInside(pinned), ...words(fields.arguments, 'arguments')]
    : words(fields.command, 'command');
  if (fields.command !== undefined && file?.includes('/') === true && !file.startsWith('/')) {
    reader.note(fields.command, 'the program must be an absolute path, a name in /usr/bin, or node');
  }
  const paths = fields.paths && reader.readFields(fields.paths, 'paths', ['read', 'write'], []);
  const list = (
    node: YamlNode | undefined,
    what: string,
    read: (item: YamlNode) => string | undefined,
  ): readonly string[] => (node === undefined ? [] : (reader.readItems(node, what, read) ?? []));
  const environment = fields.environment && reader.readEntries(fields.environment, 'environment');
  const endpoint = {
    read: list(paths?.read, 'read', (item) => readPath(item, reader)),
    write: list(paths?.write, 'write', (item) => readPath(item, reader)),
    hosts: list(fields.hosts, 'hosts', (item) => readHost(item, reader)),
    secrets: list(fields.secrets, 'secrets', (item) => readVariable(item, 'secret', reader)),
    unixSockets: fields.unix_sockets !== undefined && reader.readBoolean(fields.unix_sockets, 'unix_sockets') === true,
    environment: Object.fromEntries(
      (environment ?? []).flatMap(({ name, key, value }) => {
        if (!variableName.test(name)) reader.note(key, 'the name of a variable has letters, digits and "_"');
        const text = reader.readString(value, name, 4096);
        return text === undefined ? [] : [[name, text]];
      }),
    ),
  };
  if (file === undefined) return undefined;
  return { kind: 'stdio', command: [file, ...args], ...(pinned && { package: pinned }), ...endpoint };
}

function readPackage(node: YamlNode, reader: YamlReader): PinnedPackage | undefined {
  const parts = ['name', 'version', 'sha256', 'entry'] as const;
  const fields = reader.readFields(node, 'the package', parts, parts);
  if (fields === undefined) return undefined;
  const [name, version, sha256, entry] = parts.map((key) => fields[key] && reader.readString(fields[key], key, 500));
  if (name === undefined || version === undefined || sha256 === undefined || entry === undefined) return undefined;
  if (!/^[0-9a-f]{64}$/.test(sha256)) return reader.note(node, 'sha256 is the hash of the files of the package');
  const isInside = entry.split('/').every((part) => !['', '.', '..'].includes(part)) && !entry.includes('\0');
  return isInside ? { name, version, sha256, entry } : reader.note(node, 'entry must be in the package');
}

function readKinds(node: YamlNode, { url }: UpstreamFields, reader: YamlReader): readonly RequestKind[] | undefined {
  const kinds = reader.readItems(node, 'may_ask', (item) => reader.readOneOf(item, 'what it may ask', requestKinds));
  if (url === undefined || kinds?.includes('roots') !== true) return kinds;
  return reader.note(node, 'roots does not go with url: a server that runs elsewhere sees no folder');
}

function readAssigned(node: YamlNode | undefined, reader: YamlReader): ReadonlyMap<string, AssignedProperties> {
  const entries = node === undefined ? [] : (reader.readEntries(node, 'tools') ?? []);
  return new Map(
    entries.map(({ name, value }) => {
      const fields = reader.readFields(value, `the tool ${name}`, propertyKeys, []);
      return [name, fields === undefined ? {} : readProperties(fields, reader)];
    }),
  );
}

function readWord(node: YamlNode, reader: YamlReader): string | undefined {
  const word = reader.readString(node, 'a word of the command', 4096);
  return word?.includes('\0') === true ? reader.note(node, 'a word must not hold a zero byte') : word;
}

function readPath(node: YamlNode, reader: YamlReader): string | undefined {
  const path = reader.readString(node, 'a path', 4096);
  return path === undefined || path.startsWith('/') ? path : reader.note(node, 'a path must be absolute');
}
