import { randomUUIDv7 } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import { dropUndefined, wholeText } from '@sallyport/contract';
import type { InJson, Json, JsonObject, Lease as LeaseMessage } from '@sallyport/contract';
import type { Budget, Lease, Spending } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { NewLease } from '../../storage/stores.ts';
import * as schema from '../../registry/schemas/schema.ts';

const listOf = (description: string) =>
  schema.array(description, { type: 'string', minLength: 1, maxLength: 4096 }, { maxItems: 200 });

const limitOf = (description: string) => schema.integer(description, { minimum: 1, maximum: 1_000_000_000_000 });

export const leaseProperties = {
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
/** How a lease is asked for. */
export type LeaseArguments = schema.ValuesOf<typeof leaseProperties, never>;

export const budgetProperties = {
  max_calls: limitOf('How many calls. Absent: no limit.'),
  max_active_seconds: limitOf('How long calls may run, added up. Absent: no limit.'),
  max_tokens: limitOf('How many tokens of language models. Absent: no limit.'),
  max_cost_micros: limitOf('What calls may cost, in millionths of your currency. Absent: no limit.'),
};
export type BudgetArguments = schema.ValuesOf<typeof budgetProperties, never>;

export const expiryProperty = {
  expires_in_minutes: schema.integer('Absent: until it is ended.', { minimum: 1, maximum: 525_600 }),
};

export function readLease(args: LeaseArguments, limits: { expiresAtMs?: number; budget?: Budget } = {}): NewLease {
  const { tools, paths, hosts, commands, git_operations: gitOperations, providers, models } = args;
  return {
    id: randomUUIDv7(),
    tools,
    ...(paths === undefined ? {} : { paths: paths.map(readRoot) }),
    ...dropUndefined({ hosts, commands, gitOperations, providers, models }),
    ...limits,
  };
}

export function readBudget(args: BudgetArguments): Budget {
  const { max_calls: calls, max_active_seconds: seconds, max_tokens: tokens, max_cost_micros: costMicros } = args;
  return {
    ...(calls === undefined ? {} : { calls }),
    ...(seconds === undefined ? {} : { activeMs: seconds * 1000 }),
    ...dropUndefined({ tokens, costMicros }),
  };
}

export function readExpiry(minutes: number | undefined, nowMs: number): { readonly expiresAtMs?: number } {
  return minutes === undefined ? {} : { expiresAtMs: nowMs + minutes * 60_000 };
}

/** The arguments for a request, which has lists and limits in messages of their own, and 64-bit numbers as text. */
export function flattenRequest({ scope = {}, budget = {}, ...more }: JsonObject): JsonObject {
  const lists = Object.entries(scope as JsonObject).map(([name, list]) => [name, namesOf(list)]);
  // A number that loses precision here is far above the limits of the tools, which refuse and record it.
  const limits = Object.entries(budget as JsonObject).map(([name, limit]) => [name, Number(limit)]);
  return { ...Object.fromEntries([...lists, ...limits]), ...more } as JsonObject;
}

/** An empty list permits nothing and an absent one everything, so a list has a message around it. */
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
