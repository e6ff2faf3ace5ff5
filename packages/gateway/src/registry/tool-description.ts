import type { Json, JsonObject } from '@sallyport/contract';
import { hasHiddenText, hasHiddenTextOrLines, isJsonObject } from '@sallyport/contract';
import { programLimitNames } from '@sallyport/sandbox';
import type { ProgramLimits } from '@sallyport/sandbox';
import { confirmations, risks } from '../call/tool.ts';
import type { Confirmation, Risk } from '../call/tool.ts';
import { parseForeignSchema } from './schemas/parse-foreign-schema.ts';
import { isToolName, isToolVersion, nameRule, unknownVersion } from './tool-name.ts';

/** What a program says about itself with `--schema`. */
export interface ToolDescription {
  /** Absent: the name of its file. */
  readonly name?: string;
  /** Absent: that of its file, or `unknownVersion`. */
  readonly version?: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly requests: ToolRequests;
}

/** What a program asks for. It gets nothing of it for the asking. */
export interface ToolRequests {
  readonly risk?: Risk;
  readonly confirmation?: Confirmation;
  readonly mutates?: boolean;
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly hosts: readonly string[];
  readonly environment: readonly string[];
  readonly secrets: readonly string[];
  readonly limits: Partial<ProgramLimits>;
  /** A process may be started before there is a call. */
  readonly warm: boolean;
}

export const noRequests: ToolRequests = {
  read: [],
  write: [],
  hosts: [],
  environment: [],
  secrets: [],
  limits: {},
  warm: false,
};

/** Why what a program says about itself is not taken. */
export class DescriptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DescriptionError';
  }
}

const longestDescription = 10_000;
const mostTags = 50;
const mostItems = 200;
const longestItem = 1000;

/** Throws DescriptionError or ForeignSchemaError. Fields that nobody here knows are left out. */
export function parseToolDescription(value: Json): ToolDescription {
  if (!isJsonObject(value)) throw new DescriptionError('it is not one JSON object');
  const { name, version, description = '' } = value;
  if (name !== undefined && !(typeof name === 'string' && isToolName(name))) {
    throw new DescriptionError(`its name must be ${nameRule}`);
  }
  if (version !== undefined && !(typeof version === 'string' && isToolVersion(version))) {
    throw new DescriptionError('its version must be letters, digits, dots, "-" and "+", such as 1.2.0');
  }
  if (typeof description !== 'string' || description.length > longestDescription || hasHiddenText(description)) {
    throw new DescriptionError(`its description must be plain text of up to ${longestDescription} characters`);
  }
  if (value['input_schema'] === undefined) throw new DescriptionError('it has no input_schema');
  const inputSchema = parseForeignSchema(value['input_schema']);
  // Arguments are always an object; a schema that leaves that open is taken to mean it.
  if (!['object', undefined].includes(inputSchema['type'] as string | undefined)) {
    throw new DescriptionError('its input_schema must be of type object');
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    description,
    tags: readTexts(value, 'tags').slice(0, mostTags),
    inputSchema: { ...inputSchema, type: 'object' },
    outputSchema: value['output_schema'] === undefined ? {} : parseForeignSchema(value['output_schema']),
    requests: readRequests(value),
  };
}

function readRequests(value: JsonObject): ToolRequests {
  const paths = value['paths'] === undefined ? {} : readObject(value, 'paths');
  const timeoutMs = readCount(value, 'timeout_ms');
  const risk = readOneOf(value, 'risk', risks);
  const confirmation = readOneOf(value, 'confirmation', confirmations);
  const mutates = readFlag(value, 'mutates');
  const idempotent = readFlag(value, 'idempotent');
  return {
    ...(risk === undefined ? {} : { risk }),
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(mutates === undefined ? {} : { mutates }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    read: readTexts(paths, 'read'),
    write: readTexts(paths, 'write'),
    hosts: readTexts(value, 'hosts'),
    environment: readTexts(value, 'environment'),
    secrets: readTexts(value, 'secrets'),
    limits: readLimits(value),
    warm: readFlag(value, 'warm') ?? false,
  };
}

function readLimits(value: JsonObject): Partial<ProgramLimits> {
  const limits = value['limits'] === undefined ? {} : readObject(value, 'limits');
  const found: { -readonly [Name in keyof ProgramLimits]?: number } = {};
  for (const name of programLimitNames) {
    const limit = readCount(
      limits,
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    if (limit !== undefined) found[name] = limit;
  }
  return found;
}

function readObject(value: JsonObject, key: string): JsonObject {
  const member = value[key];
  if (!isJsonObject(member)) throw new DescriptionError(`its ${key} must be an object`);
  return member;
}

function readTexts(value: JsonObject, key: string): readonly string[] {
  const items = value[key] ?? [];
  const isFine =
    Array.isArray(items) &&
    items.length <= mostItems &&
    items.every((item) => typeof item === 'string' && item.length <= longestItem && !hasHiddenTextOrLines(item));
  if (!isFine) throw new DescriptionError(`its ${key} must be a list of up to ${mostItems} plain texts`);
  return items as readonly string[];
}

function readOneOf<T extends string>(value: JsonObject, key: string, allowed: readonly T[]): T | undefined {
  const member = value[key];
  const found = allowed.find((each) => each === member);
  if (member !== undefined && found === undefined) {
    throw new DescriptionError(`its ${key} must be one of ${allowed.join(', ')}`);
  }
  return found;
}

function readFlag(value: JsonObject, key: string): boolean | undefined {
  const member = value[key];
  if (member !== undefined && typeof member !== 'boolean')
    throw new DescriptionError(`its ${key} must be true or false`);
  return member;
}

function readCount(value: JsonObject, key: string): number | undefined {
  const member = value[key];
  if (member === undefined) return undefined;
  if (!Number.isSafeInteger(member) || (member as number) < 1) {
    throw new DescriptionError(`its ${key} must be a whole number from 1`);
  }
  return member as number;
}

/** What is said about a program that says nothing. */
export function describeNothing(file: { readonly name: string; readonly version?: string }): ToolDescription {
  return {
    name: file.name,
    version: file.version ?? unknownVersion,
    description: 'A program whose --schema gave no usable description. It takes and returns any JSON object.',
    tags: [],
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    requests: noRequests,
  };
}
