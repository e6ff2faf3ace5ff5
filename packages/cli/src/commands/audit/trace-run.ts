import { spellCount } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import { usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { wholeId } from '../../terminal/short-id.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { openSearch } from './open-search.ts';
import type { Search } from './open-search.ts';
import { renderRun } from './render-run.ts';
import { arrangeRun, readRunCall } from './run-calls.ts';
import type { RunCall } from './run-calls.ts';

/** Of one run; of more the newest are shown. */
const mostCalls = 500;
/** How far back the beginning of an id is looked for. */
const mostLookedAt = 5000;
const perRead = 200;
const mostStates = 50;

const wholeTrace = /^[0-9a-f]{32}$/;
const anyStart = /^[0-9a-f-]{4,36}$/;

type Field = 'call' | 'session' | 'trace';
interface Subject {
  readonly field: Field;
  readonly id: string;
}

interface States {
  readonly states: readonly { readonly call_id: string; readonly state: string; readonly meaning: string }[];
}

/** A whole run: what was called, how it went, who agreed, what it changed and reached. */
export async function traceRun(given: string, context: CommandContext): Promise<number> {
  const start = given.toLowerCase();
  if (!anyStart.test(start)) throw usageFailure('Name a run by its trace id, or by the id of a call or a session.');
  const search = await openSearch(context);
  try {
    const subject = await findSubject(start, search);
    if (subject === undefined) throw usageFailure(`There is no record of ${given}.`, 'See `audit tail`.');
    const { calls, isCut } = await readRun(subject, search);
    const changing = calls.filter(({ changedPaths }) => changedPaths.length > 0).map(({ callId }) => callId);
    const undo = search.isRunning ? await readStates(changing.slice(-mostStates), context) : new Map<string, string>();
    const placed = arrangeRun(calls).map((call) => {
      const state = undo.get(call.callId);
      return state === undefined ? call : { ...call, undo: state };
    });
    const { terminal, json } = context;
    if (json) terminal.print(visibleJson({ [`${subject.field}Id`]: subject.id, calls: placed, isCut }));
    else terminal.print(...renderRun(placed, subject.id, terminal));
    if (isCut && !json) terminal.note('', `Only the newest ${spellCount(mostCalls, 'call')} are shown.`);
    return exitCodes.success;
  } finally {
    search.close();
  }
}

/** A call stands for the run that it is a part of. */
async function readRun({ field, id }: Subject, search: Search): Promise<{ calls: readonly RunCall[]; isCut: boolean }> {
  if (field !== 'call') return readCalls(`${field}:${id}`, search);
  const found = await readCalls(`call:${id}`, search);
  const traceId = found.calls.find(({ callId }) => callId === id)?.traceId ?? '';
  return traceId === '' ? found : readCalls(`trace:${traceId}`, search);
}

async function readCalls(filter: string, search: Search): Promise<{ calls: readonly RunCall[]; isCut: boolean }> {
  const calls = new Map<string, RunCall>();
  let next: number | undefined;
  do {
    const page = await search.ask({ filter: `${filter} kind:call,housekeeping`, limit: perRead, before: next });
    for (const entry of page.entries) {
      const call = readRunCall(entry);
      if (call !== undefined && !calls.has(call.callId)) calls.set(call.callId, call);
    }
    ({ next } = page);
  } while (next !== undefined && calls.size < mostCalls);
  return { calls: [...calls.values()].slice(0, mostCalls), isCut: next !== undefined || calls.size > mostCalls };
}

async function findSubject(start: string, search: Search): Promise<Subject | undefined> {
  if (wholeTrace.test(start))
    return (await isThere('trace', start, search)) ? { field: 'trace', id: start } : undefined;
  if (wholeId.test(start)) {
    for (const field of ['call', 'session', 'trace'] as const)
      if (await isThere(field, start, search)) return { field, id: start };
    return undefined;
  }
  const found = new Map<string, Subject>();
  let looked = 0;
  let next: number | undefined;
  do {
    const page = await search.ask({ filter: 'kind:call,housekeeping', limit: perRead, before: next });
    for (const entry of page.entries) {
      const call = readRunCall(entry);
      if (call === undefined) continue;
      const ids: readonly Subject[] = [
        { field: 'trace', id: call.traceId },
        { field: 'call', id: call.callId },
        { field: 'session', id: call.sessionId },
      ];
      for (const subject of ids) if (subject.id.startsWith(start)) found.set(subject.id, subject);
    }
    looked += page.entries.length;
    ({ next } = page);
  } while (next !== undefined && looked < mostLookedAt);
  if (found.size <= 1) return [...found.values()][0];
  const some = [...found.values()].slice(0, 5).map(({ field, id }) => `${field} ${makeVisibleLine(id)}`);
  throw usageFailure(`${start} is the beginning of ${found.size} ids.`, `Give more of it: ${some.join(', ')}`);
}

async function isThere(field: Field, id: string, search: Search): Promise<boolean> {
  const { entries } = await search.ask({ filter: `${field}:${id} kind:call,housekeeping`, limit: 1 });
  return entries.length > 0;
}

/** What is not known is left out: a run is shown as well without it. */
async function readStates(ids: readonly string[], context: CommandContext): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const answer = await context.openOperatorClient().executeTool({
    name: 'undo.state',
    inputJson: JSON.stringify({ call_ids: ids }),
  });
  if (statusOf(answer) !== 'success') return new Map();
  return new Map((outputOf(answer) as States).states.map(({ call_id: id, meaning }) => [id, meaning]));
}
