import { randomUUIDv7 } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordKind, RecordResult } from '@sallyport/log';
import type { Redacted } from '../packages/gateway/src/call/redacted.ts';
import type { LogEntry } from '../packages/gateway/src/storage/stores.ts';
import { newPlace, TestDaemon } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { openStoreOf } from './open-store.ts';

export const longLogRecords = 600_000;
const hourMs = 3_600_000;
const spanMs = 20 * hourMs;
const perGroup = 2000;
const agents = 20;

interface Sample extends Pick<LogEntry, 'rulesHash'> {
  readonly kind: RecordKind;
  readonly result: RecordResult;
  readonly sessionId: string;
  readonly payload: string;
}

let shared: Promise<Place> | undefined;

/** One log for all budgets of a run, because it takes most of a minute to write. It goes when the process does. */
export function openLongLog(): Promise<Place> {
  shared ??= makeLongLog(longLogRecords).then((place) => {
    process.once('exit', () => rmSync(place.folder, { recursive: true, force: true }));
    return place;
  });
  return shared;
}

/**
 * A home whose log holds so many records of the last 20 hours. They are records of calls that a daemon took, again and
 * again under new ids and with other paths, written by the store itself: what reads them cannot tell the difference.
 */
async function makeLongLog(records: number): Promise<Place> {
  const place = newPlace();
  const samples = await takeCalls(place);
  const store = await openStoreOf(place);
  const startMs = Date.now() - spanMs;
  try {
    for (let at = await store.logSize(); at < records;) {
      const group = Array.from({ length: Math.min(perGroup, records - at) }, (_, nth) => at + nth);
      await Promise.all(
        group.map((index) => store.append(entryOf(samples, index, startMs + (spanMs * index) / records))),
      );
      at += group.length;
    }
  } finally {
    await store.close();
  }
  return place;
}

/** Reads by some agents, one in four refused, as intents, outcomes and refusals. */
async function takeCalls(place: Place): Promise<readonly Sample[]> {
  for (let file = 0; file < agents; file++)
    writeFileSync(join(place.workspace, `file-0000${file}.txt`), `text ${file}`);
  const daemon = await TestDaemon.start(place);
  try {
    for (let agent = 0; agent < agents; agent++) {
      const token = await daemon.newAgent(`agent-${agent}`);
      const path = agent % 4 === 3 ? `/etc/file-0000${agent}.txt` : `file-0000${agent}.txt`;
      await daemon.call('files.read', { path }, { token });
    }
    const { json } = await daemon.post('sallyport.v1.OperatorService/ReadAudit', { from: '0', limit: 1000 });
    const { records } = json as { records: (Sample & { payloadJson: string })[] };
    return records
      .filter(({ payloadJson }) => payloadJson.includes('"tool":"files.read"'))
      .map(({ payloadJson, ...record }) => ({ ...record, payload: payloadJson }));
  } finally {
    await daemon.kill('SIGTERM');
  }
}

function entryOf(samples: readonly Sample[], index: number, timeMs: number): LogEntry {
  const { kind, result, sessionId, rulesHash, payload } = samples[index % samples.length] as Sample;
  return {
    ...{ kind, result, timeMs: Math.floor(timeMs), callId: randomUUIDv7(), sessionId },
    ...(rulesHash === undefined || rulesHash === '' ? {} : { rulesHash }),
    payload: payload.replaceAll('file-0000', `file-${index % 1000}-`) as Redacted,
  };
}
