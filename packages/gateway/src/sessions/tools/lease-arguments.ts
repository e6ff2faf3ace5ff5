import { randomUUIDv7 } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import { wholeText } from '@sallyport/contract';
import type { InJson, Json, JsonObject, Lease as LeaseMessage } from '@sallyport/contract';
import type { Budget, Lease, Spending } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { NewLease } from '../../storage/stores.ts';

/** How a lease is asked for. */
export interface LeaseArguments {
  readonly tools: readonly string[];
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  readonly commands?: readonly string[];
  readonly git_operations?: readonly string[];
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
}

export interface BudgetArguments {
  readonly max_calls?: number;
  readonly max_active_seconds?: number;
  readonly max_tokens?: number;
  readonly max_cost_micros?: number;
}

const listOf = (description: string): JsonObject => ({
  type: 'array',
  maxItems: 200,
  items: { type: 'string', minLength: 1, maxLength: 4096 },
  description,
});

const limitOf = (description: string): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum: 1_000_000_000_000,
  description,
});

export const leaseProperties: JsonObject = {
  tools: {
    ...listOf('Canonical tool names the session may use; * stands for any text. The rules still decide.'),
    minItems: 1,
    default: ['*'],
  },
  paths: listOf('Absolute folders and files. Absent: the rules alone decide.'),
  hosts: listOf('Names of hosts; * stands for any text. Absent: the rules alone decide.'),
  commands: listOf('Names of programs. Absent: the rules alone decide.'),
  git_operations: listOf('Such as DIFF or PUSH. Absent: the rules alone decide.'),
  providers: listOf('Providers of inference. Absent: the rules alone decide.'),
  models: listOf('Models for inference. Absent: the rules alone decide.'),
};

export const budgetProperties: JsonObject = {
  max_calls: limitOf('How many calls. Absent: no limit.'),
  max_active_seconds: limitOf('How long calls may run, added up. Absent: no limit.'),
  max_tokens: limitOf('How many tokens of language models. Absent: no limit.'),
  max_cost_micros: limitOf('What calls may cost, in millionths of your currency. Absent: no limit.'),
};

export const expiryProperty: JsonObject = {
  expires_in_minutes: { type: 'integer', minimum: 1, maximum: 525_600, description: 'Absent: until it is ended.' },
};

export function readLease(args: LeaseArguments, limits: { expiresAtMs?: number; budget?: Budget } = {}): NewLease {
  const { tools, paths, hosts, commands, git_operations: gitOperations, providers, models } = args;
  return {
    id: randomUUIDv7(),
    tools,
    ...(paths === undefined ? {} : { paths: paths.map(readRoot) }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(commands === undefined ? {} : { commands }),
    ...(gitOperations === undefined ? {} : { gitOperations }),
    ...(providers === undefined ? {} : { providers }),
    ...(models === undefined ? {} : { models }),
    ...limits,
  };
}

export function readBudget(args: BudgetArguments): Budget {
  const { max_calls: calls, max_active_seconds: seconds, max_tokens: tokens, max_cost_micros: costMicros } = args;
  return {
    ...(calls === undefined ? {} : { calls }),
    ...(seconds === undefined ? {} : { activeMs: seconds * 1000 }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costMicros === undefined ? {} : { costMicros }),
  };
}

export function readExpiry(minutes: number | undefined, nowMs: number): { readonly expiresAtMs?: number } {
  return minutes === undefined ? {} : { expiresAtMs: nowMs + minutes * 60_000 };
}

/** The arguments for a request, which has lists and limits in messages of their own, and 64-bit numbers as text. */
export function flattenRequest({ scope = {}, budget = {}, ...more }: JsonObject): JsonObject {
  const lists = Object.entries(scope as JsonObject).map(([name, list]) => [name, namesOf(list)]);
  // What loses precision here is far beyond what the tools take, and is refused by them, on record.
  const limits = Object.entries(budget as JsonObject).map(([name, limit]) => [name, Number(limit)]);
  return { ...Object.fromEntries([...lists, ...limits]), ...more } as JsonObject;
}

/** A list that is there and empty permits nothing, so it has a message around it. */
function namesOf(list: Json): Json {
  return Array.isArray(list) ? list : ((list as JsonObject)['names'] ?? []);
}

export function describeLease(lease: Lease, nowMs: number): InJson<LeaseMessage> {
  const { id, grantedAtMs, expiresAtMs, endedAtMs, budget, spent, tools } = lease;
  const expired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  const lists = (['paths', 'hosts', 'commands', 'gitOperations', 'providers', 'models'] as const).flatMap((kind) =>
    lease[kind] === undefined ? [] : [[kind, { names: lease[kind] }]],
  );
  return {
    leaseId: id,
    status: endedAtMs !== undefined ? 'ended' : expired ? 'expired' : 'in force',
    scope: { tools, ...(Object.fromEntries(lists) as object) },
    grantedAtMs: String(grantedAtMs),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs: String(expiresAtMs) }),
    ...(endedAtMs === undefined ? {} : { endedAtMs: String(endedAtMs) }),
    ...describeBudget(budget, spent),
  };
}

/** What was spent, and the limits there are. */
export function describeBudget(
  budget: Budget,
  spent: Spending,
): Required<Pick<InJson<LeaseMessage>, 'budget' | 'spent'>> {
  return {
    budget: {
      ...(budget.calls === undefined ? {} : { maxCalls: String(budget.calls) }),
      ...(budget.activeMs === undefined ? {} : { maxActiveSeconds: String(budget.activeMs / 1000) }),
      ...(budget.tokens === undefined ? {} : { maxTokens: String(budget.tokens) }),
      ...(budget.costMicros === undefined ? {} : { maxCostMicros: String(budget.costMicros) }),
    },
    spent: {
      calls: String(spent.calls),
      activeMs: String(Math.ceil(spent.activeMs)),
      tokens: String(spent.tokens),
      costMicros: String(Math.ceil(spent.costMicros)),
    },
  };
}

/** An absolute path in its one plain spelling, as the rules see paths. */
export function readRoot(path: string): string {
  if (!isAbsolute(path) || path.includes('\0')) {
    throw new ToolFailure('INVALID_ARGUMENTS', `${JSON.stringify(wholeText(path, 4096))} is not an absolute path.`);
  }
  const plain = normalize(path);
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}
