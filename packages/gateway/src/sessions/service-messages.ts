import { create } from '@bufbuild/protobuf';
import { BudgetSchema, LeaseSchema, LeaseScopeSchema, SpendingSchema } from '@sallyport/contract';
import type { Budget, Json, JsonObject, Lease, LeaseScope, NameList, Spending } from '@sallyport/contract';

const lists = {
  paths: 'paths',
  hosts: 'hosts',
  commands: 'commands',
  gitOperations: 'git_operations',
  providers: 'providers',
  models: 'models',
} as const;

const limits = {
  maxCalls: 'max_calls',
  maxActiveSeconds: 'max_active_seconds',
  maxTokens: 'max_tokens',
  maxCostMicros: 'max_cost_micros',
} as const;

type ListField = keyof typeof lists;
type LimitField = keyof typeof limits;

/** The arguments of a tool that a scope stands for. */
export function scopeArguments(scope: LeaseScope | undefined): JsonObject {
  if (scope === undefined) return {};
  const named = entriesOf(lists).flatMap(([field, name]): [string, Json][] => {
    const list = scope[field];
    return list === undefined ? [] : [[name, list.names]];
  });
  return { ...(scope.tools.length === 0 ? {} : { tools: scope.tools }), ...Object.fromEntries(named) };
}

export function budgetArguments(budget: Budget | undefined): JsonObject {
  const named = entriesOf(limits).flatMap(([field, name]): [string, Json][] => {
    const limit = budget?.[field];
    // What loses precision here is far beyond what the tools take, and is refused by them, on record.
    return limit === undefined ? [] : [[name, Number(limit)]];
  });
  return Object.fromEntries(named);
}

export function expiryArguments(minutes: number | undefined): JsonObject {
  return minutes === undefined ? {} : { expires_in_minutes: minutes };
}

/** A lease as the tools describe it. */
export function readLease(described: JsonObject): Lease {
  return create(LeaseSchema, {
    leaseId: textOf(described['lease_id']),
    status: textOf(described['status']),
    scope: readScope(described),
    grantedAtMs: timeOf(described['granted_at']) ?? 0n,
    ...optionalTime('expiresAtMs', described['expires_at']),
    ...optionalTime('endedAtMs', described['ended_at']),
    budget: readBudget(described),
    spent: readSpending(described),
  });
}

function readScope(described: JsonObject): LeaseScope {
  const scope = create(LeaseScopeSchema, { tools: textsOf(described['tools']) });
  for (const [field, name] of entriesOf(lists)) {
    if (described[name] !== undefined) scope[field] = namesOf(described[name]);
  }
  return scope;
}

export function readBudget(described: JsonObject): Budget {
  const budget = create(BudgetSchema);
  for (const [field, name] of entriesOf(limits)) {
    if (described[name] !== undefined) budget[field] = countOf(described[name]);
  }
  return budget;
}

export function readSpending(described: JsonObject): Spending {
  return create(SpendingSchema, {
    calls: countOf(described['calls_used']),
    activeMs: countOf(described['active_ms_used']),
    tokens: countOf(described['tokens_used']),
    costMicros: countOf(described['cost_micros_used']),
  });
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

export function timeOf(value: Json | undefined): bigint | undefined {
  return typeof value === 'string' ? BigInt(Date.parse(value)) : undefined;
}

/** A time that is set only when there is one. */
export function optionalTime<Field extends string>(field: Field, value: Json | undefined): { [F in Field]?: bigint } {
  const time = timeOf(value);
  return (time === undefined ? {} : { [field]: time }) as { [F in Field]?: bigint };
}

function countOf(value: Json | undefined): bigint {
  return typeof value === 'number' ? BigInt(Math.ceil(value)) : 0n;
}

function namesOf(value: Json): NameList {
  return { $typeName: 'sallyport.v1.NameList', names: textsOf(value) };
}

function entriesOf<Field extends ListField | LimitField, Name extends string>(
  table: Readonly<Record<Field, Name>>,
): [Field, Name][] {
  return Object.entries(table) as [Field, Name][];
}
