import { randomUUIDv7 } from 'node:crypto';
import {
  ArchivedPayloadsSchema,
  ErasurePreviewSchema,
  ErasureSchema,
  ErasuresSchema,
  RetentionReportSchema,
  spellCount,
} from '@sallyport/contract';
import type { Erasure as ErasureMessage, InJson } from '@sallyport/contract';
import { refuse } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import { defineOperatorTool } from '../registry/define-operator-tool.ts';
import type { ArchiveFolder } from '../storage/archive/archive-folder.ts';
import type { Erasure, ErasureRepository, ErasureSubject } from '../storage/stores.ts';
import { archivePayloads } from './archive-payloads.ts';
import type { ArchiveParts } from './archive-payloads.ts';
import { chooseRecords, readPayload, sessionsOf } from './choose-records.ts';
import type { ChooserParts } from './choose-records.ts';
import { resolveSubject } from './resolve-subject.ts';
import type { NamedSubject, SubjectParts } from './resolve-subject.ts';
import { dayMs, delayMs, effectiveMs, lastByAge } from './retention.ts';
import * as schema from '../registry/schemas/schema.ts';

export interface ErasureToolParts extends ChooserParts {
  readonly store: ErasureRepository & ChooserParts['store'] & SubjectParts['store'] & ArchiveParts['store'];
  readonly isDirector: (person: Session) => boolean;
  readonly archive: Pick<ArchiveFolder, 'write' | 'findMissing'>;
  readonly archiveFolder: string;
  readonly keepDays: () => number | undefined;
  readonly onRequested: () => void;
  readonly nowMs: () => number;
}

const longMs = 15 * 60_000;
const mostListed = 1000;

/** Tools for erasure, retention and archives. Only for people: agents cannot use them. */
export function erasureTools(parts: ErasureToolParts): readonly AnyTool[] {
  return [
    eraseTool(parts),
    previewTool(parts),
    cancelTool(parts),
    listTool(parts),
    retentionTool(parts),
    archiveTool(parts),
  ];
}

const name = (description: string) => schema.string(description, { minLength: 1, maxLength: 128 });

const subjects = {
  agent: name('The agent whose calls are erased.'),
  person: name('The person whose own calls are erased.'),
  session_id: schema.id('The session whose calls are erased.'),
  call_id: schema.id('The call that is erased, with its steps.'),
  before_ms: schema.integer('Calls that ended before this moment are erased.', { minimum: 1 }),
};

function eraseTool(parts: ErasureToolParts) {
  const { store, nowMs } = parts;
  return defineOperatorTool({
    name: 'audit.erase',
    description:
      'Erases the arguments and results of calls, 24 hours from now. The log still proves that they happened.',
    mutates: true,
    risk: 'critical',
    confirmation: 'always',
    requiresApproval: true,
    properties: { ...subjects, reason: { ...name('Why. It stays in the log.'), maxLength: 500 } },
    required: ['reason'],
    answers: ErasureSchema,
    claim: requireDirector('audit.erase', parts),
    preview: ({ reason, ...named }) => ({
      summary: `Erase the arguments and results of ${spellNamed(named)}, 24 hours from now.`,
      detail: `${whatGoes}\nWhy: ${reason}\nUntil then it can be cancelled. Afterwards nobody can bring it back.`,
      undoable: false,
    }),
    run: async ({ reason, ...named }, context) => {
      const subject = await resolveSubject(named, parts);
      const missing = await findMissingArchives(parts);
      if (missing.length > 0) throw archivesMissing(missing, parts);
      const requestedAtMs = nowMs();
      const erasure = {
        id: randomUUIDv7(),
        subject,
        reason: context.redact(reason),
        requestedBy: context.session.agent,
        requestedAtMs,
        dueAtMs: requestedAtMs + delayMs,
      };
      await store.requestErasure(erasure);
      parts.onRequested();
      return describeErasure({ ...erasure, status: 'waiting', untilIndex: 0, nextIndex: 0, erasedRecords: 0 });
    },
    summarize: (_args, { subject }) => `will erase ${subject}`,
  });
}

const whatGoes = `Payloads of their records in the log, results kept for dedupe keys, copies of changed files that undo has, approvals and
plans, stored content that nobody else may use, and all of it in the search index, the archives and the daemon's own logs.
Records of the administration stay: people, rules, modes, grants, alerts, erasures.`;

function previewTool(parts: ErasureToolParts) {
  const { store, nowMs } = parts;
  return defineOperatorTool({
    name: 'audit.preview_erasure',
    description: 'Shows how much would be erased. Nothing changes.',
    mutates: false,
    timeoutMs: longMs,
    properties: subjects,
    answers: ErasurePreviewSchema,
    run: async (named, context) => {
      const subject = await resolveSubject(named, parts);
      const untilIndex = await store.logSize();
      let [calls, records] = [0, 0];
      for await (const portion of chooseRecords({ subject, requestedBy: 'preview', nextIndex: 0, untilIndex }, parts)) {
        context.signal.throwIfAborted();
        calls += portion.calls;
        records += portion.indexes.length;
      }
      const sessionIds = await sessionsOf(subject, store);
      const [callIds, contents] = subject.kind === 'call' ? [subject.callIds, subject.contentHashes] : [[], undefined];
      const beforeMs = subject.kind === 'before' ? { beforeMs: subject.timeMs } : {};
      const rows = { callIds, decisionIds: [], sessionIds, ...beforeMs, untilMs: nowMs() };
      return {
        subject: spellSubject(subject),
        calls: String(calls),
        records: String(records),
        trashEntries: String((await store.listKeptOnlyFor(rows)).length),
        contents: String((contents ?? (await store.listContentOnlyFor(rows))).length),
        missingArchives: [...(await findMissingArchives(parts))],
      };
    },
    summarize: (_args, { records }) => spellCount(Number(records), 'record'),
  });
}

function cancelTool(parts: ErasureToolParts) {
  return defineOperatorTool({
    name: 'audit.cancel_erasure',
    description: 'Cancels an erasure that has not begun.',
    mutates: true,
    properties: { erasure_id: schema.id('The erasure, as it was shown when it was asked for.') },
    required: ['erasure_id'],
    answers: ErasureSchema,
    claim: requireDirector('audit.cancel_erasure', parts),
    preview: ({ erasure_id: id }) => ({ summary: `Cancel the erasure ${id}.` }),
    run: async ({ erasure_id: id }, context) => {
      const isCancelled = await parts.store.cancelErasure(id, context.session.agent, parts.nowMs());
      const erasure = (await parts.store.listErasures(mostListed)).find((each) => each.id === id);
      if (erasure === undefined) throw new ToolFailure('NOT_FOUND', `There is no erasure ${id}.`);
      if (isCancelled) return describeErasure(erasure);
      throw new ToolFailure('EXECUTION_ERROR', `The erasure ${id} is ${erasure.status} and cannot be cancelled.`);
    },
    summarize: (_args, { subject }) => `will not erase ${subject}`,
  });
}

function listTool({ store }: ErasureToolParts) {
  return defineOperatorTool({
    name: 'audit.erasures',
    description: 'Lists erasures, newest first.',
    mutates: false,
    properties: { limit: { type: 'integer', minimum: 1, maximum: mostListed, default: 50 } },
    answers: ErasuresSchema,
    run: async ({ limit }) => {
      return { erasures: (await store.listErasures(limit)).map(describeErasure) };
    },
    summarize: (_args, { erasures }) => spellCount(erasures.length, 'erasure'),
  });
}

function retentionTool({ store, keepDays }: ErasureToolParts) {
  return defineOperatorTool({
    name: 'audit.retention',
    description: 'Shows how long payloads are kept, and what was last erased because of that.',
    mutates: false,
    answers: RetentionReportSchema,
    run: async () => {
      const [days, noted, last] = [keepDays(), await store.readRetention(), await lastByAge(store)];
      const isNoted = noted !== undefined && noted.days === days;
      return {
        ...(days === undefined ? {} : { keepPayloadDays: days }),
        ...(days === undefined || !isNoted ? {} : { effectiveAtMs: String(effectiveMs(noted)) }),
        ...(last === undefined ? {} : { lastErasure: describeErasure(last) }),
      };
    },
    summarize: (_args, { keepPayloadDays: days }) =>
      days === undefined ? 'kept for ever' : `kept for ${spellCount(days, 'day')}`,
  });
}

function archiveTool(parts: ErasureToolParts) {
  return defineOperatorTool({
    name: 'audit.archive',
    description: 'Moves the payloads of old records from the database into files, where they can still be searched.',
    mutates: true,
    timeoutMs: longMs,
    properties: { before_ms: { ...subjects.before_ms, description: 'Records from before this moment are moved.' } },
    required: ['before_ms'],
    answers: ArchivedPayloadsSchema,
    claim: requireDirector('audit.archive', parts),
    preview: ({ before_ms: beforeMs }) => ({
      summary: `Move the payloads of records from before ${spellTime(beforeMs)} into files.`,
      detail: `They go to ${parts.archiveFolder}. Searches, receipts and \`audit verify\` read them there.`,
    }),
    run: async ({ before_ms: beforeMs }, context) => {
      if (beforeMs > parts.nowMs() - dayMs) {
        throw new ToolFailure('EXECUTION_ERROR', 'Only records that are older than a day go into an archive.');
      }
      const by = context.session.agent;
      const { records, files } = await archivePayloads({ beforeMs, by, signal: context.signal }, parts);
      const compacted = records === 0 || (await parts.store.compact({ isRoutine: true }));
      return { records: String(records), files: [...files], folder: parts.archiveFolder, compacted };
    },
    summarize: (_args, { records, files }) =>
      `${spellCount(Number(records), 'record')} in ${spellCount(files.length, 'file')}`,
  });
}

function requireDirector(tool: string, { isDirector }: ErasureToolParts) {
  return (_args: unknown, session: Session) => {
    if (isDirector(session)) return { paths: [] };
    const message = `Only a director may use ${tool}.`;
    throw new ToolRefused(refuse('RULE_DENIES', 'director', message, { remedy: 'Ask a director to do it.' }));
  };
}

/** Files that the log says payloads were moved into, and that are not there: what is in them could not be erased. */
async function findMissingArchives({ store, archive }: ErasureToolParts): Promise<readonly string[]> {
  const names: string[] = [];
  for (const record of await store.listRemovals('archived')) {
    const { file } = readPayload(record);
    if (typeof file === 'string') names.push(file);
  }
  return archive.findMissing(names);
}

function archivesMissing(files: readonly string[], { archiveFolder }: ErasureToolParts): ToolFailure {
  const more = files.length > 1 ? ` and ${spellCount(files.length - 1, 'other')}` : '';
  return new ToolFailure(
    'EXECUTION_ERROR',
    `The archive ${files[0]}${more} is not there, so nothing in it could be erased.`,
    {
      forOperators: `Put it back into ${archiveFolder} and try again. Copies elsewhere are yours to erase.`,
    },
  );
}

function describeErasure(erasure: Erasure): InJson<ErasureMessage> {
  const { id, subject, reason, requestedBy = '', requestedAtMs, dueAtMs, status, erasedRecords } = erasure;
  return {
    erasureId: id,
    subject: spellSubject(subject),
    ...{ reason, requestedBy, status },
    requestedAtMs: String(requestedAtMs),
    dueAtMs: String(dueAtMs),
    erasedRecords: String(erasedRecords),
    ...(erasure.endedAtMs === undefined ? {} : { endedAtMs: String(erasure.endedAtMs) }),
    cancelledBy: erasure.cancelledBy ?? '',
  };
}

function spellSubject(subject: ErasureSubject): string {
  if (subject.kind === 'before') return `before ${spellTime(subject.timeMs)}`;
  return `${subject.kind} ${'name' in subject ? subject.name : subject.id}`;
}

function spellNamed(named: NamedSubject): string {
  const { agent, person, session_id: session, call_id: call, before_ms: beforeMs } = named;
  if (agent !== undefined) return `the agent ${agent}`;
  if (person !== undefined) return `the person ${person}`;
  if (session !== undefined) return `the session ${session}`;
  return call === undefined ? `all calls that ended before ${spellTime(beforeMs ?? 0)}` : `the call ${call}`;
}

function spellTime(timeMs: number): string {
  return Math.abs(timeMs) > 8.64e15 ? String(timeMs) : new Date(timeMs).toISOString();
}
