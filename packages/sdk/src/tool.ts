import { checkSchema } from './check-schema.ts';
import type { JsonObject } from './json.ts';
import type { ValueOf } from './schema.ts';

/** What a tool says about itself, and what it does. */
export interface ToolSpec<Input extends JsonObject, Output extends JsonObject> extends ToolRequests {
  /** Small letters, digits, `_`, `-`, with dots between parts: `text.count`. */
  readonly name: string;
  /** Such as 1.2.0. */
  readonly version: string;
  /** For people and models that choose a tool: what it does and when to use it. */
  readonly description: string;
  readonly tags?: readonly string[];
  /** A word to find it by, such as `read_only`. Absent: none. */
  readonly category?: string;
  /** Of an object. Absent properties with a default are filled in before `run`. */
  readonly input: Input;
  /** Absent: any JSON. */
  readonly output?: Output;
  /**
   * The work. Throw ToolError for what the caller should know; anything else that is thrown is a defect of the tool.
   * What it logs goes to stderr, which callers see as progress. Undefined is an empty object.
   */
  readonly run: (input: ValueOf<Input, JsonObject>) => ValueOf<Output, unknown> | Promise<ValueOf<Output, unknown>>;
}

/** What a tool asks for. It gets nothing of it unless a rule grants it. */
export interface ToolRequests {
  /** Absent: high. */
  readonly risk?: 'low' | 'medium' | 'high' | 'critical';
  /** When a person must agree: always, or if it mutates. The rules may be stricter. */
  readonly confirmation?: 'never' | 'if_destructive' | 'always';
  /** Whether it changes anything outside itself. Absent: it does. */
  readonly mutates?: boolean;
  /** Whether running it twice is the same as running it once. Absent: it is not. */
  readonly idempotent?: boolean;
  /** Absent: five minutes. */
  readonly timeoutMs?: number;
  /** Whether a person must agree to each call, whatever its risk. Absent: the risk says it. */
  readonly requiresApproval?: boolean;
  /** The modes in which it can be called. Absent: all but LOCKDOWN. */
  readonly allowedModes?: readonly ('NORMAL' | 'ALERT' | 'DEGRADED' | 'RECOVERY')[];
  /** How often one agent may call it. Absent: as often as the rules allow. */
  readonly rateLimitPerHour?: number;
  /** Files and folders that it reads, and those that it changes. */
  readonly paths?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** `api.example.com`, `*.example.com` or `api.example.com:8443`. */
  readonly hosts?: readonly string[];
  /** Names of environment variables. */
  readonly environment?: readonly string[];
  /** Names of stored secrets. */
  readonly secrets?: readonly string[];
  readonly limits?: {
    readonly cpuMs?: number;
    readonly memoryBytes?: number;
    readonly processes?: number;
    readonly openFiles?: number;
    readonly fileBytes?: number;
    readonly diskBytes?: number;
    readonly outputBytes?: number;
  };
  /** A process may be started before there is a call, and wait for its input. Only for tools without paths and hosts. */
  readonly warm?: boolean;
}

/** A tool whose definition has been checked. */
export interface Tool<Input extends JsonObject = JsonObject, Output extends JsonObject = JsonObject> {
  readonly spec: ToolSpec<Input, Output>;
  /** What `--schema` prints. */
  readonly schema: JsonObject;
}

/** A failure that the caller should read: the message is all that they get. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ToolError';
  }
}

const toolName = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;
const longestName = 64;
const toolVersion = /^[0-9A-Za-z](?:[0-9A-Za-z.+-]{0,62}[0-9A-Za-z])?$/;

/** Throws TypeError when the definition is wrong. Does nothing else: `serveTool` makes a program of it. */
export function defineTool<const Input extends JsonObject, const Output extends JsonObject = JsonObject>(
  spec: ToolSpec<Input, Output>,
): Tool<Input, Output> {
  const { name, version, description, input, output } = spec;
  if (!toolName.test(name) || name.length > longestName) {
    const rule = 'use up to 64 small letters, digits, `_` and `-`, with dots between parts that start with a letter';
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of a tool: ${rule}.`);
  }
  if (!toolVersion.test(version)) throw new TypeError(`${name} needs a version such as 1.2.0.`);
  if (description === '') throw new TypeError(`${name} needs a description.`);
  if (input['type'] !== 'object') throw new TypeError(`The input of ${name} must be an object: { type: 'object', … }.`);
  checkSchema(input, 'input');
  if (output !== undefined) checkSchema(output, 'output');
  return { spec, schema: describeTool(spec) };
}

function describeTool<Input extends JsonObject, Output extends JsonObject>(spec: ToolSpec<Input, Output>): JsonObject {
  const { limits } = spec;
  const fields = {
    name: spec.name,
    version: spec.version,
    description: spec.description,
    tags: spec.tags ?? [],
    category: spec.category,
    input_schema: spec.input,
    output_schema: spec.output ?? {},
    risk: spec.risk,
    confirmation: spec.confirmation,
    mutates: spec.mutates,
    idempotent: spec.idempotent,
    timeout_ms: spec.timeoutMs,
    requires_approval: spec.requiresApproval,
    allowed_modes: spec.allowedModes,
    rate_limit_per_hour: spec.rateLimitPerHour,
    paths: spec.paths,
    hosts: spec.hosts,
    environment: spec.environment,
    secrets: spec.secrets,
    limits: limits && Object.fromEntries(Object.entries(limits).map(([name, bound]) => [snakeCase(name), bound])),
    warm: spec.warm,
  };
  // Leaves out what is undefined, at every depth.
  return JSON.parse(JSON.stringify(fields)) as JsonObject;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
