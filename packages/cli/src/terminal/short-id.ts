import { outputOf, statusOf } from '../client/answer-json.ts';
import type { CommandContext } from '../command-context.ts';
import { usageFailure } from '../client/failure.ts';
import { makeVisibleLine } from './visible-text.ts';

/** Where the ids of a kind are listed, by the name that arguments have for them. */
const lists = {
  call_id: { tool: 'calls.list', input: {}, member: 'calls', field: 'callId', kind: 'call' },
  session_id: {
    tool: 'sessions.list',
    input: { include_ended: true },
    member: 'sessions',
    field: 'sessionId',
    kind: 'session',
  },
  task_id: {
    tool: 'approvals.list',
    input: { status: 'all', limit: 200 },
    member: 'approvals',
    field: 'id',
    kind: 'approval',
  },
  anomaly_id: { tool: 'anomalies.list', input: { limit: 200 }, member: 'anomalies', field: 'id', kind: 'anomaly' },
  plan_id: { tool: 'plans.list', input: { limit: 200 }, member: 'plans', field: 'id', kind: 'plan' },
  standing_id: {
    tool: 'approvals.standing_list',
    input: {},
    member: 'standing',
    field: 'id',
    kind: 'standing approval',
  },
} as const;
type IdName = keyof typeof lists;

export const wholeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const idStart = /^[0-9a-f-]{4,36}$/;
/** Ids begin with the time in milliseconds. */
const shortestShown = 13;

/** The arguments with every id that was given by its beginning completed. */
export async function completeIds<Input extends object>(input: Input, context: CommandContext): Promise<Input> {
  const completed = { ...input } as Record<string, unknown>;
  for (const name of Object.keys(lists) as IdName[]) {
    const given = completed[name];
    if (typeof given === 'string') completed[name] = await completeId(name, given, context);
  }
  return completed as Input;
}

/** What is not the beginning of an id goes to the gate as it is, which says what it makes of it. */
export async function completeId(name: IdName, given: string, context: CommandContext): Promise<string> {
  const start = given.toLowerCase();
  if (wholeId.test(start) || !idStart.test(start)) return given;
  const { tool, input, member, field, kind } = lists[name];
  const answer = await context.openClient().executeTool({ name: tool, inputJson: JSON.stringify(input) });
  if (statusOf(answer) !== 'success') return given;
  const rows = (outputOf(answer) as Record<string, readonly Record<string, string>[] | undefined>)[member] ?? [];
  return (
    pickId(
      rows.map((row) => row[field] ?? ''),
      start,
      kind,
    ) ?? given
  );
}

/** The one id that begins like this. Undefined: none does. */
export function pickId(ids: readonly string[], start: string, kind: string): string | undefined {
  const found = ids.filter((id) => id.startsWith(start));
  if (found.length <= 1) return found[0];
  const some = found.slice(0, 5).map((id) => makeVisibleLine(id));
  throw usageFailure(
    `${start} is the beginning of ${found.length} ids: which ${kind} is meant?`,
    `Give more of it: ${some.join(', ')}`,
  );
}

/** As much of each id as tells them apart, for a table; every command takes it in place of the whole. */
export function shortenIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const distinct = new Set(ids);
  let length = shortestShown;
  const isEnough = (): boolean => new Set([...distinct].map((id) => id.slice(0, length))).size === distinct.size;
  while (length < 36 && !isEnough()) length += 1;
  return new Map(ids.map((id) => [id, id.slice(0, length).replace(/-$/, '')]));
}
