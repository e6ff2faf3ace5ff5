import { dropUndefined } from '@sallyport/contract';
import type { YamlNode } from '../../text/yaml-node.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import { jwtAlgorithms } from '../upstream-config.ts';
import type { OAuthSettings } from '../upstream-config.ts';
import { isThisMachine, readHost, readVariable } from './read-values.ts';

const keys = [
  'grant',
  'issuer',
  'client_id',
  'client_secret',
  'private_key',
  'algorithm',
  'client_metadata_url',
  'scopes',
  'hosts',
  'redirect_port',
] as const;

const grants = ['authorization_code', 'client_credentials'] as const;
// RFC 6749, 3.3: what a scope may consist of.
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** How the gate logs in at a server that runs elsewhere. Notes every problem. */
export function readOAuth(node: YamlNode, reader: YamlReader): OAuthSettings | undefined {
  const before = reader.problems.length;
  const fields = reader.readFields(node, 'oauth', keys, []);
  if (fields === undefined) return undefined;
  const grant = (fields.grant && reader.readOneOf(fields.grant, 'grant', grants)) ?? 'authorization_code';
  const issuer = fields.issuer && readWebAddress(fields.issuer, 'issuer', reader);
  const clientId = fields.client_id && reader.readString(fields.client_id, 'client_id', 2000);
  const clientSecret = fields.client_secret && readVariable(fields.client_secret, 'client_secret', reader);
  const privateKey = readPrivateKey(fields, reader);
  const clientMetadataUrl = fields.client_metadata_url && readDocumentAddress(fields.client_metadata_url, reader);
  const range = { min: 1024, max: 65_535 };
  const redirectPort = fields.redirect_port && reader.readInteger(fields.redirect_port, 'redirect_port', range);
  const scopes = fields.scopes && reader.readItems(fields.scopes, 'scopes', (item) => readScope(item, reader));
  const hosts = fields.hosts && reader.readItems(fields.hosts, 'hosts', (item) => readHost(item, reader));
  const settings: OAuthSettings = {
    grant,
    ...dropUndefined({ issuer, clientId, clientSecret, privateKey, clientMetadataUrl }),
    scopes: scopes ?? [],
    hosts: hosts ?? [],
    ...(redirectPort === undefined ? {} : { redirectPort }),
  };
  if (reader.problems.length > before) return undefined;
  const problem = explainSettings(settings);
  return problem === undefined ? settings : reader.note(node, problem);
}

/** Which settings exclude each other. Undefined: none do. */
function explainSettings({ grant, clientSecret, privateKey, ...rest }: OAuthSettings): string | undefined {
  const isConfidential = clientSecret !== undefined || privateKey !== undefined;
  if (clientSecret !== undefined && privateKey !== undefined)
    return 'client_secret and private_key exclude each other; keep one';
  if (isConfidential && rest.clientId === undefined)
    return 'client_secret and private_key need the client_id they belong to';
  // Otherwise the server would choose who receives it.
  if (isConfidential && rest.issuer === undefined)
    return 'client_secret and private_key need the issuer that may have them';
  if (rest.clientId !== undefined && rest.clientMetadataUrl !== undefined)
    return 'client_id and client_metadata_url exclude each other; keep one';
  if (grant === 'authorization_code') return undefined;
  if (!isConfidential) return 'client_credentials needs a client_id with client_secret or private_key';
  return rest.redirectPort === undefined
    ? undefined
    : 'redirect_port does not go with client_credentials: no browser comes back';
}

function readPrivateKey(
  { private_key: key, algorithm }: { readonly private_key?: YamlNode; readonly algorithm?: YamlNode },
  reader: YamlReader,
): OAuthSettings['privateKey'] {
  const secret = key && readVariable(key, 'private_key', reader);
  const chosen = algorithm && reader.readOneOf(algorithm, 'algorithm', jwtAlgorithms);
  if (algorithm !== undefined && key === undefined) return reader.note(algorithm, 'algorithm goes with private_key');
  return secret === undefined ? undefined : { secret, algorithm: chosen ?? 'RS256' };
}

function readWebAddress(node: YamlNode, what: string, reader: YamlReader): string | undefined {
  const text = reader.readString(node, what, 2000);
  const url = text === undefined ? null : URL.parse(text);
  if (text === undefined) return undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  return isSafe && url.username === '' ? text : reader.note(node, `${what} must begin with https://`);
}

function readDocumentAddress(node: YamlNode, reader: YamlReader): string | undefined {
  const text = reader.readString(node, 'client_metadata_url', 2000);
  const url = text === undefined ? null : URL.parse(text);
  if (text === undefined || (url?.protocol === 'https:' && url.pathname !== '/')) return text;
  return reader.note(node, 'client_metadata_url must begin with https:// and name a document');
}

function readScope(node: YamlNode, reader: YamlReader): string | undefined {
  const scope = reader.readString(node, 'a scope', 200);
  return scope === undefined || scopePattern.test(scope) ? scope : reader.note(node, 'a scope has no spaces or quotes');
}
