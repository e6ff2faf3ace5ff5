import type { JsonObject } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';
import { programLimitNames } from '@sallyport/sandbox';
import type { ProgramLimits } from '@sallyport/sandbox';
import { modes } from '../call/session.ts';
import type { Mode } from '../call/session.ts';
import { confirmations, risks, toolScopes } from '../call/tool.ts';
import type { Confirmation, Risk, ToolScope } from '../call/tool.ts';
import { readCount, readFlag, readObject, readOneOf, readSome, readTexts } from './description-fields.ts';

/** What a program asks for and says about itself. It gets nothing for it, and what is stricter than we assume holds. */
export interface ToolRequests {
  readonly risk?: Risk;
  readonly confirmation?: Confirmation;
  readonly mutates?: boolean;
  readonly idempotent?: boolean;
  readonly requiresApproval?: boolean;
  readonly allowedModes?: readonly Mode[];
  readonly scopes?: readonly ToolScope[];
  readonly rateLimitPerHour?: number;
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

/** Each key that is read here, with the other names that definitions have for some of them. */
export const requestKeys = [
  ...(['risk', 'risk_level', 'confirmation', 'requires_confirmation', 'mutates', 'idempotent'] as const),
  ...(['requires_approval', 'requires_sandbox', 'allowed_modes', 'scopes', 'rate_limit_per_hour'] as const),
  ...(['timeout_ms', 'timeout_seconds', 'paths', 'hosts', 'environment', 'secrets', 'limits', 'warm'] as const),
] as const;

/** Throws DescriptionError. Of two names for one thing, the stricter value counts. */
export function readRequests(value: JsonObject): ToolRequests {
  const paths = readObject(value, 'paths') ?? {};
  const scopes = readScopes(value);
  // Every program runs in the sandbox, whatever it says about that.
  readFlag(value, 'requires_sandbox');
  const always = readFlag(value, 'requires_confirmation') === true ? 'always' : undefined;
  return {
    ...present({
      risk: strictest(risks, readOneOf(value, 'risk', risks), readOneOf(value, 'risk_level', risks)),
      confirmation: strictest(confirmations, readOneOf(value, 'confirmation', confirmations), always),
      mutates: readFlag(value, 'mutates'),
      idempotent: readFlag(value, 'idempotent'),
      requiresApproval: readFlag(value, 'requires_approval'),
      allowedModes: readSome(value, 'allowed_modes', modes),
      scopes: scopes.kinds,
      rateLimitPerHour: readCount(value, 'rate_limit_per_hour'),
      timeoutMs: smaller(readCount(value, 'timeout_ms'), readCount(value, 'timeout_seconds')),
    }),
    read: readTexts(paths, 'read'),
    write: [...readTexts(paths, 'write'), ...scopes.paths],
    hosts: [...readTexts(value, 'hosts'), ...scopes.hosts],
    environment: readTexts(value, 'environment'),
    secrets: readTexts(value, 'secrets'),
    limits: readLimits(value),
    warm: readFlag(value, 'warm') ?? false,
  };
}

interface DeclaredScopes {
  readonly kinds: readonly ToolScope[] | undefined;
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
}

/** The kinds as a list; or as an object, with which paths and hosts. Nothing says that paths are only to be read. */
function readScopes(value: JsonObject): DeclaredScopes {
  const { scopes } = value;
  if (!isJsonObject(scopes)) return { kinds: readSome(value, 'scopes', toolScopes), paths: [], hosts: [] };
  const kinds = readSome({ scopes: Object.keys(scopes) }, 'scopes', toolScopes);
  return { kinds, paths: readTexts(scopes, 'paths'), hosts: readTexts(scopes, 'network') };
}

/** Of what is given. Undefined: nothing is. */
export function strictest<T>(order: readonly T[], ...given: readonly (T | undefined)[]): T | undefined {
  const at = Math.max(...given.map((each) => (each === undefined ? -1 : order.indexOf(each))));
  return order[at];
}

function smaller(milliseconds: number | undefined, seconds: number | undefined): number | undefined {
  const given = [milliseconds, seconds === undefined ? undefined : seconds * 1000].filter((each) => each !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

type Present<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Without what is undefined. */
export function present<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Present<T>;
}

function readLimits(value: JsonObject): Partial<ProgramLimits> {
  const limits = readObject(value, 'limits') ?? {};
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

/** For people, and for the pin of what they accepted. What is not asked for is left out. */
export function describeRequests(requests: ToolRequests): JsonObject {
  const { read, write, hosts, environment, secrets, limits, warm } = requests;
  const { risk, confirmation, mutates, idempotent, scopes, timeoutMs } = requests;
  const lists = { read, write, hosts, environment, secrets };
  return {
    ...present({ risk, confirmation, mutates, idempotent }),
    ...present({ requires_approval: requests.requiresApproval, allowed_modes: requests.allowedModes, scopes }),
    ...present({ rate_limit_per_hour: requests.rateLimitPerHour, timeout_ms: timeoutMs }),
    ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
    ...(Object.keys(limits).length === 0 ? {} : { limits: { ...limits } }),
    ...(warm ? { warm: true } : {}),
  };
}
