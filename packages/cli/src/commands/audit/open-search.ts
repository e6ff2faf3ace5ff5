import { existsSync } from 'node:fs';
import type { AuditEntry, AuditRecord, InJson } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { decodeLeaf, hashLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { FilterError, openKeptSearch, parseFilter } from '@sallyport/gateway';
import { CommandFailure, usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';

export interface SearchQuestion {
  readonly filter: string;
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly waitMs?: number;
}

export interface SearchAnswer {
  readonly entries: readonly InJson<AuditEntry>[];
  readonly next: number | undefined;
  readonly indexedSize: number;
  readonly logSize: number;
}

export interface Search {
  readonly isRunning: boolean;
  readonly ask: (question: SearchQuestion) => Promise<SearchAnswer>;
  readonly close: () => void;
}

/** Asks the daemon, and where none runs reads the files of the gate itself. */
export async function openSearch(context: CommandContext): Promise<Search> {
  const client = context.openOperatorClient();
  try {
    await client.call('OperatorService/GetStatus', {});
  } catch (error) {
    const isDown = error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
    if (!isDown || !existsSync(context.config.home.databaseFile)) throw error;
    return openKept(context);
  }
  return {
    isRunning: true,
    ask: async ({ filter, limit, before, after, waitMs = 0 }) => {
      const answer = await client.call('OperatorService/SearchAudit', {
        ...{ filter, limit, waitMs },
        ...(before === undefined ? {} : { before: String(before) }),
        ...(after === undefined ? {} : { after: String(after) }),
      });
      return {
        entries: answer.entries,
        next: answer.next === undefined ? undefined : Number(answer.next),
        indexedSize: Number(answer.indexedSize),
        logSize: Number(answer.logSize),
      };
    },
    close: () => undefined,
  };
}

function openKept({ config, terminal, json }: CommandContext): Search {
  const kept = openKeptSearch(config.home, (indexed) => {
    if (!json) terminal.progress(`Indexing: ${indexed} records`);
  });
  if (!json) terminal.progress('');
  const describe = (record: StoredRecord): InJson<AuditRecord> => describeRecord(record, kept.hideHeldInJson);
  return {
    isRunning: false,
    ask: async ({ filter, limit, before, after }) => {
      const page = kept.search({ filter: readFilter(filter), limit, before, after });
      const entries = page.entries.map(({ kind, records }) => ({ kind, records: records.map(describe) }));
      return { entries, next: page.next, indexedSize: page.indexedSize, logSize: kept.logSize };
    },
    close: () => kept.close(),
  };
}

function readFilter(text: string): ReturnType<typeof parseFilter> {
  try {
    return parseFilter(text, Date.now());
  } catch (error) {
    if (error instanceof FilterError) throw usageFailure(error.message);
    throw error;
  }
}

function describeRecord(record: StoredRecord, hideHeldInJson: (json: string) => string): InJson<AuditRecord> {
  const { kind, result, timeMs, callId = '', sessionId = '', rulesHash = '' } = decodeLeaf(record.leaf);
  return {
    index: String(record.index),
    leafHash: hashLeaf(record.leaf).toString('hex'),
    ...{ kind, result, timeMs: String(timeMs), callId, sessionId, rulesHash },
    payloadJson: hideHeldInJson(record.payload ?? ''),
  };
}
