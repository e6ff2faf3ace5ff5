import { join } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { ToolRefused } from '../../call/tool.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { readSourceFile } from '../../text/source-file.ts';
import { scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import type { Fields } from '../../text/yaml-reader.ts';
import { parseWebAddress } from '../web/web-address.ts';
import type { WebAddress } from '../web/web-address.ts';

export const providersFile = 'providers.yaml';
export const providerFileKeys = ['version', 'search', 'inference'] as const;
export const searchProviderKeys = ['name', 'kind', 'url', 'secret'] as const;
export const inferenceProviderKeys = ['name', 'kind', 'url', 'secret', 'models'] as const;
export const modelKeys = ['name', 'input_per_million', 'output_per_million'] as const;

/** Where each kind of service is, unless the file says otherwise. Absent: the file has to say. */
export const searchKinds = {
  searxng: { needsKey: false },
  brave: { url: 'https://api.search.brave.com', needsKey: true },
  tavily: { url: 'https://api.tavily.com', needsKey: true },
} as const satisfies Record<string, ServiceKind>;

export const inferenceKinds = {
  anthropic: { url: 'https://api.anthropic.com', needsKey: false },
  openai: { url: 'https://api.openai.com/v1', needsKey: false },
} as const satisfies Record<string, ServiceKind>;

interface ServiceKind {
  readonly url?: string;
  readonly needsKey: boolean;
}

/** A service elsewhere that an operator set up. */
export interface Provider<Kind extends string = string> {
  readonly name: string;
  readonly kind: Kind;
  /** Its path comes before that of each request. */
  readonly address: WebAddress;
  /** Name of the stored secret that is its key. Absent: it asks for none. */
  readonly secret?: string;
}

export type SearchProvider = Provider<keyof typeof searchKinds>;

export interface InferenceProvider extends Provider<keyof typeof inferenceKinds> {
  readonly models: ReadonlyMap<string, ModelPrice | undefined>;
}

/** In the currency in which the operator counts, for a million tokens. */
export interface ModelPrice {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export interface ProviderSettings {
  /** The first one is used where the caller names none. */
  readonly search: readonly SearchProvider[];
  readonly inference: readonly InferenceProvider[];
}

export const noProviders: ProviderSettings = { search: [], inference: [] };

/** Reads providers.yaml. Throws one ConfigError that lists every problem; a missing file is not a problem. */
export function readProviderSettings(folder: string): ProviderSettings {
  const yaml = readYaml(readSourceFile(join(folder, providersFile)));
  const reader = new YamlReader(yaml);
  const settings = yaml.root === undefined ? noProviders : readFile(yaml.root, reader);
  const problems = [...yaml.problems, ...reader.problems];
  if (problems.length === 0) return settings;
  const lines = problems.map(({ file, line, column, message }) => `${file}:${line}:${column}  ${message}`);
  throw new ConfigError(['The providers cannot be used.', ...lines].join('\n'), 'Correct the lines above.');
}

function readFile(root: YamlNode, reader: YamlReader): ProviderSettings {
  const fields = reader.readFields(root, providersFile, providerFileKeys, []);
  if (fields === undefined) return noProviders;
  if (fields.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const search = fields.search && reader.readItems(fields.search, 'search', (item) => readSearch(item, reader));
  const inference =
    fields.inference && reader.readItems(fields.inference, 'inference', (item) => readInference(item, reader));
  noteTwins(fields.search, search, reader);
  noteTwins(fields.inference, inference, reader);
  return { search: search ?? [], inference: inference ?? [] };
}

function readSearch(node: YamlNode, reader: YamlReader): SearchProvider | undefined {
  const fields = reader.readFields(node, 'a search provider', searchProviderKeys, ['name', 'kind']);
  return fields && readProvider(node, fields, searchKinds, reader);
}

function readInference(node: YamlNode, reader: YamlReader): InferenceProvider | undefined {
  const fields = reader.readFields(node, 'an inference provider', inferenceProviderKeys, ['name', 'kind', 'models']);
  const provider = fields && readProvider(node, fields, inferenceKinds, reader);
  const models = fields?.models && reader.readItems(fields.models, 'models', (item) => readModel(item, reader));
  return provider && models && { ...provider, models: new Map(models) };
}

function readProvider<Kind extends string>(
  node: YamlNode,
  fields: Fields<'name' | 'kind' | 'url' | 'secret'>,
  kinds: Readonly<Record<Kind, ServiceKind>>,
  reader: YamlReader,
): Provider<Kind> | undefined {
  const name = fields.name && reader.readString(fields.name, 'name', 64);
  if (name !== undefined && !/^[a-z0-9][a-z0-9_.-]*$/.test(name))
    reader.note(fields.name as YamlNode, 'a provider is named with small letters, digits, "_", "." and "-"');
  const kind = fields.kind && reader.readOneOf(fields.kind, 'kind', Object.keys(kinds) as Kind[]);
  const secret = fields.secret && reader.readString(fields.secret, 'secret', 128);
  if (name === undefined || kind === undefined) return undefined;
  const { url: usualUrl, needsKey } = kinds[kind];
  if (needsKey && secret === undefined) return reader.note(node, `${kind} needs a secret: the name of its stored key`);
  const url = fields.url === undefined ? usualUrl : reader.readString(fields.url, 'url', 2000);
  if (url === undefined) return fields.url === undefined ? reader.note(node, `${kind} needs a url`) : undefined;
  const address = readAddress(fields.url ?? node, url, reader);
  if (address === undefined) return undefined;
  if (secret !== undefined && !address.isSecure && !address.isAddress)
    return reader.note(fields.url ?? node, 'a key is sent over https, or to a machine that is named by its address');
  return { name, kind, address, ...(secret === undefined ? {} : { secret }) };
}

function readAddress(node: YamlNode, url: string, reader: YamlReader): WebAddress | undefined {
  try {
    return parseWebAddress(url);
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
    return reader.note(node, `url is not a web address as the gate reads them: ${error.message}`);
  }
}

function readModel(node: YamlNode, reader: YamlReader): readonly [string, ModelPrice | undefined] | undefined {
  const fields = reader.readFields(node, 'a model', modelKeys, ['name']);
  const name = fields?.name && reader.readString(fields.name, 'name', 256);
  if (fields === undefined || name === undefined) return undefined;
  const { input_per_million: input, output_per_million: output } = fields;
  if (input === undefined && output === undefined) return [name, undefined];
  if (input === undefined || output === undefined)
    return reader.note(node, 'a model has both prices, input_per_million and output_per_million, or none');
  const [inputPerMillion, outputPerMillion] = [readPrice(input, reader), readPrice(output, reader)];
  if (inputPerMillion === undefined || outputPerMillion === undefined) return undefined;
  return [name, { inputPerMillion, outputPerMillion }];
}

function readPrice(node: YamlNode, reader: YamlReader): number | undefined {
  const value = scalarOf(node);
  if (typeof value === 'number' && value >= 0 && value <= 1_000_000) return value;
  return reader.note(node, 'a price is a number from 0 to 1000000');
}

/** Of two with one name nobody could tell which one a rule means. */
function noteTwins(node: YamlNode | undefined, all: readonly Provider[] | undefined, reader: YamlReader): void {
  const names = all?.map(({ name }) => name) ?? [];
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (node !== undefined && twin !== undefined) reader.note(node, `two providers are called ${twin}`);
}
