import { decodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { ToolFailure } from '../call/tool.ts';
import type { ApprovalRepository, ErasureRepository, ErasureSubject } from '../storage/stores.ts';
import { readPayload, sessionsOf } from './choose-records.ts';
import type { ChooserParts } from './choose-records.ts';

/** What a person named: exactly one of them. */
export interface NamedSubject {
  readonly agent?: string;
  readonly person?: string;
  readonly session_id?: string;
  readonly call_id?: string;
  /** Milliseconds since 1970. */
  readonly before_ms?: number;
}

export interface SubjectParts {
  readonly store: ChooserParts['store'] &
    Pick<ApprovalRepository, 'findApproval' | 'listApprovals'> &
    Pick<ErasureRepository, 'listContentOnlyFor'>;
}

const mostApprovals = 10_000;
const perRead = 500;
const keptAs = /kept as ([0-9a-f]{64})$/;

/** Throws ToolFailure for what is not one subject, or is not known here. */
export async function resolveSubject(named: NamedSubject, { store }: SubjectParts): Promise<ErasureSubject> {
  const { agent, person, session_id: sessionId, call_id: callId, before_ms: timeMs } = named;
  if (Object.keys(named).filter((name) => name !== 'reason').length !== 1) {
    throw new ToolFailure('INVALID_ARGUMENTS', 'Name one of agent, person, session, call and before.');
  }
  if (callId !== undefined) return resolveCall(callId, store);
  const subject = subjectOf({ agent, person, sessionId, timeMs });
  if (subject.kind === 'session' && !(await store.listSessions()).some(({ id }) => id === subject.id)) {
    throw new ToolFailure('NOT_FOUND', `There was never a session ${subject.id}.`);
  }
  if ((subject.kind === 'agent' || subject.kind === 'person') && (await sessionsOf(subject, store)).length === 0) {
    throw new ToolFailure('NOT_FOUND', `There was never a session of the ${subject.kind} ${subject.name}.`);
  }
  return subject;
}

function subjectOf({
  agent,
  person,
  sessionId,
  timeMs = 0,
}: {
  readonly agent: string | undefined;
  readonly person: string | undefined;
  readonly sessionId: string | undefined;
  readonly timeMs: number | undefined;
}): Exclude<ErasureSubject, { kind: 'call' }> {
  if (agent !== undefined) return { kind: 'agent', name: agent };
  if (person !== undefined) return { kind: 'person', name: person };
  return sessionId === undefined ? { kind: 'before', timeMs } : { kind: 'session', id: sessionId };
}

/** Collects everything that belongs to a call, while its records still say so. */
async function resolveCall(id: string, store: SubjectParts['store']): Promise<ErasureSubject> {
  const records = await store.readRecordsOfCall(id);
  const ofCall = records.filter(({ leaf }) => decodeLeaf(leaf).kind !== 'event');
  const last = ofCall.at(-1);
  if (last === undefined) throw new ToolFailure('NOT_FOUND', `There is no record of the call ${id}.`);
  const { kind, sessionId = '' } = decodeLeaf(last.leaf);
  if (kind === 'intent') throw new ToolFailure('EXECUTION_ERROR', `The call ${id} is still running.`);
  const steps = await findSteps(id, ofCall, store);
  const own = [id, ...steps];
  const approvals = await store.listApprovals({ sessionId, limit: mostApprovals });
  const used = ofCall.flatMap((record) => taskOf(record));
  const decided = approvals.filter((task) => own.includes(task.callId) || used.includes(task.id));
  const payloads = (await Promise.all(steps.map((step) => store.readRecordsOfCall(step)))).flat().concat(ofCall);
  const kept = payloads.flatMap((record) => {
    const { summary } = readPayload(record);
    return typeof summary === 'string' ? (keptAs.exec(summary)?.[1] ?? []) : [];
  });
  const only = new Set(await store.listContentOnlyFor({ sessionIds: [sessionId] }));
  return {
    kind: 'call',
    id,
    // The call that asked for consent had the same arguments.
    callIds: [...new Set([...own, ...decided.map(({ callId }) => callId)])],
    decisionIds: decided.map((task) => task.id),
    contentHashes: kept.filter((hash) => only.has(hash)),
  };
}

function taskOf(record: StoredRecord): string[] {
  const consent = readPayload(record)['consent'];
  const task = typeof consent === 'object' && consent !== null && 'task' in consent ? consent['task'] : undefined;
  return typeof task === 'string' ? [task] : [];
}

/** Steps of a pipeline are calls of their own, recorded between its intent and its outcome. */
async function findSteps(
  id: string,
  ofCall: readonly StoredRecord[],
  store: SubjectParts['store'],
): Promise<readonly string[]> {
  const [first = 0, last = 0] = [ofCall[0]?.index, ofCall.at(-1)?.index];
  const steps = new Set<string>();
  for (let next = first; next < last; next += perRead) {
    for (const record of await store.readRecords(next, Math.min(perRead, last - next))) {
      const { callId } = decodeLeaf(record.leaf);
      if (callId !== undefined && readPayload(record)['parent_call_id'] === id) steps.add(callId);
    }
  }
  return [...steps];
}
