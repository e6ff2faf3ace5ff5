import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { createSigningKey, deriveTagKey, openSigner, parseVerifier, signCheckpoint, tagRecord } from './checkpoint.ts';
import type { TagKey } from './checkpoint.ts';
import type { FindingKind } from './findings.ts';
import { commitPayload, encodeLeaf } from './leaf.ts';
import { hashLeaf, MerkleFrontier } from './merkle.ts';
import { verifyLog } from './verify.ts';
import type { LogReport } from './verify.ts';
import type { PackedRecords } from './packed-records.ts';
import type { RecordFacts, StoredCheckpoint, StoredRecord } from './record.ts';

const origin = 'example.org/sallyport';
const signer = openSigner(createSigningKey(origin).privateKey);
const stranger = openSigner(createSigningKey(origin).privateKey);
const strangersTagKey = deriveTagKey(stranger);
const keys = { verifier: parseVerifier(signer.verifier), tagKey: deriveTagKey(signer) };
const withoutTags = { verifier: keys.verifier };

interface Log {
  records: StoredRecord[];
  checkpoints: StoredCheckpoint[];
}

function makeRecord(index: number, text: string, tagKey: TagKey, event?: string): StoredRecord {
  const digest = createHash('sha256').update(`${text} ${index}`).digest('hex');
  const id = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-7${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  const entry: RecordFacts & { readonly payload: string } = {
    kind: event !== undefined ? 'event' : index % 2 === 0 ? 'intent' : 'outcome',
    result: index % 2 === 0 ? 'none' : 'ok',
    timeMs: 1_767_323_045_678 + index,
    callId: id,
    sessionId: id,
    rulesHash: digest,
    payload: event ?? `{"text":"${text} ${index} é"}`,
  };
  const salt = createHash('sha256').update(`salt ${text} ${index}`).digest();
  const leaf = encodeLeaf(entry, commitPayload(salt, entry.payload));
  return { index, leaf, salt, payload: entry.payload, tag: tagRecord(tagKey, index, hashLeaf(leaf)) };
}

interface LogOptions {
  readonly size?: number;
  readonly signedEvery?: number;
  readonly text?: string;
  readonly by?: typeof signer;
  /** Payloads of events, by their place. */
  readonly events?: Readonly<Record<number, string>>;
}

/** A log as the gate writes it: signed every 50 records, and some records after the last checkpoint. */
function writeLog({ size = 307, signedEvery = 50, text = 'call', by = signer, events = {} }: LogOptions = {}): Log {
  const tree = new MerkleFrontier();
  const checkpoints: StoredCheckpoint[] = [];
  const tagKey = deriveTagKey(by);
  const records = Array.from({ length: size }, (_, index) => makeRecord(index, text, tagKey, events[index]));
  for (const { leaf } of records) {
    tree.append(hashLeaf(leaf));
    if (tree.size % signedEvery !== 0) continue;
    checkpoints.push({ size: tree.size, note: signCheckpoint(by, { origin, size: tree.size, root: tree.root() }) });
  }
  return { records, checkpoints };
}

const written = writeLog();

/** A copy to spoil. Arrays of bytes are shared, so change them with `flip`. */
function copyLog(): Log {
  return { records: [...written.records], checkpoints: [...written.checkpoints] };
}

function verify(log: Log, options: { remembered?: readonly string[]; tags?: 'known' | 'unknown' } = {}): LogReport {
  const { tags = 'known', ...rest } = options;
  const source = { records: () => log.records.values(), checkpoints: () => log.checkpoints.values() };
  const chosen = tags === 'known' ? keys : withoutTags;
  const report = verifyLog(source, chosen, rest);
  const packed = verifyLog({ ...source, packedRecords: () => packRecords(log.records) }, chosen, rest);
  assert.deepEqual(packed, report, 'packed records are judged like others');
  return report;
}

/** As a store does it: up to seven in a pack, and alone whatever has unusual parts. */
function* packRecords(records: readonly StoredRecord[]): Generator<PackedRecords | StoredRecord> {
  let kept: { readonly index: number; readonly bytes: Buffer }[] = [];
  const takeKept = function* (): Generator<PackedRecords> {
    const [indexes, lengths] = [kept.map(({ index }) => index), kept.map(({ bytes }) => bytes.length)];
    if (kept.length > 0) yield { bytes: Buffer.concat(kept.map(({ bytes }) => bytes)), lengths, indexes };
    kept = [];
  };
  for (const record of records) {
    const bytes = packRecord(record);
    if (bytes !== undefined) kept.push({ index: record.index, bytes });
    if (bytes === undefined || kept.length === 7) yield* takeKept();
    if (bytes === undefined) yield record;
  }
  yield* takeKept();
}

function packRecord({ leaf, salt, payload, tag }: StoredRecord): Buffer | undefined {
  const isUsual = [leaf, tag].every((part) => part instanceof Uint8Array) && leaf.length === 108 && tag.length === 32;
  if (!isUsual) return undefined;
  const [before, after] = [Buffer.concat([Buffer.of(0), leaf]), tag];
  if (salt === undefined && payload === undefined) return Buffer.concat([before, after]);
  if (typeof payload !== 'string' || !payload.isWellFormed() || salt?.length !== 32) return undefined;
  return Buffer.concat([before, Buffer.of(2), salt, Buffer.from(payload), after]);
}

function found(report: LogReport): string[] {
  assert.equal(report.ok, report.findings.length === 0);
  return report.findings.map(({ kind, fromIndex, toIndex }) => `${kind} ${fromIndex}-${toIndex}`);
}

function assertFound(report: LogReport, expected: readonly `${FindingKind} ${number}-${number}`[]): void {
  assert.deepEqual(found(report), expected);
}

function recordAt(log: Log, index: number): StoredRecord {
  return log.records[index] as StoredRecord;
}

function change(log: Log, index: number, part: Partial<StoredRecord>): void {
  log.records[index] = { ...recordAt(log, index), ...part };
}

function flip(bytes: Uint8Array | undefined, place: number): Uint8Array {
  const copy = Uint8Array.from(bytes ?? []);
  copy[place] = (copy[place] as number) ^ 1;
  return copy;
}

function renumber(log: Log): void {
  log.records = log.records.map((record, index) => ({ ...record, index }));
}

function noteOver(size: number, log = written): string {
  return (log.checkpoints.find((checkpoint) => checkpoint.size === size) as StoredCheckpoint).note;
}

test('a log that nobody touched has nothing to report', () => {
  requirement('AUD-3');
  const report = verify(written, { remembered: [noteOver(100), noteOver(300)] });
  assertFound(report, []);
  assert.equal(report.size, 307);
  assert.equal(report.checkpointSize, 300);
  assert.equal(report.checkpoint, noteOver(300));
  assert.equal(report.coveredByTags, 7);
  assert.equal(report.erased, 0);
  const tree = new MerkleFrontier();
  for (const { leaf } of written.records) tree.append(hashLeaf(leaf));
  assert.deepEqual(report.root, tree.root());
});

test('a log that is signed to its end needs no tags', () => {
  const report = verify(writeLog({ size: 300 }));
  assertFound(report, []);
  assert.equal(report.checkpointSize, 300);
  assert.equal(report.coveredByTags, 0);
});

test('an empty log has nothing to report', () => {
  const report = verify({ records: [], checkpoints: [] });
  assertFound(report, []);
  assert.equal(report.size, 0);
  assert.equal(report.checkpoint, undefined);
});

/** Takes salt and payload away, and lets the gate say so in an event of its own. */
function erase(log: Log, indexes: readonly number[]): void {
  for (const index of indexes) {
    const { leaf, tag } = recordAt(log, index);
    log.records[index] = { index, leaf, tag };
  }
}

test('an erased payload is counted and named, where the log itself says that it was erased', () => {
  requirement('AUD-3');
  const told = {
    200: '{"event":"payloads_erased","records":"3-4,120"}',
    305: '{"event":"payloads_archived","records":"7"}',
  };
  const log = writeLog({ size: 307, events: told });
  erase(log, [3, 4, 120, 7]);
  for (const report of [verify(log), verify(log, { tags: 'unknown' })]) {
    assert.deepEqual(report.erasedRanges, [
      [3, 4],
      [120, 120],
    ]);
    assert.equal(report.erased, 3);
  }
  assertFound(verify(log), []);
  assert.equal(verify(log).archived, 1);
});

test('a payload that is gone without a record of the log is found', () => {
  requirement('AUD-3');
  const log = copyLog();
  erase(log, [3, 120, 305]);
  const report = verify(log);
  assertFound(report, ['payload-missing 3-3', 'payload-missing 120-120', 'payload-missing 305-305']);
  assert.equal(report.erased, 0);
});

test('a forged record of an erasure covers nothing', () => {
  requirement('AUD-3');
  // Put behind the last checkpoint of an export, whose reader has no key for tags.
  const log = writeLog({ size: 307, events: { 306: '{"event":"payloads_erased","records":"3"}' } });
  erase(log, [3]);
  assertFound(verify(log, { tags: 'unknown' }), ['payload-missing 3-3', 'record-appended 300-306']);
  // One that says more than the gate wrote.
  const changed = writeLog({ size: 307, events: { 200: '{"event":"payloads_erased","records":"3"}' } });
  erase(changed, [3, 4]);
  change(changed, 200, { payload: '{"event":"payloads_erased","records":"3-4"}' });
  assertFound(verify(changed), ['payload-missing 3-4', 'payload-changed 200-200']);
});

test('a payload that was erased and is there again is found, and so is an erasure of what was not there yet', () => {
  const log = writeLog({ size: 307, events: { 200: '{"event":"payloads_erased","records":"3"}' } });
  assertFound(verify(log), ['payload-restored 3-3']);
  for (const records of ['200', '7-3', '3,3', '', 'x', '1-99999999999999999999']) {
    const odd = writeLog({ size: 307, events: { 200: `{"event":"payloads_erased","records":"${records}"}` } });
    assertFound(verify(odd), ['removal-invalid 200-200']);
  }
});

test('an erasure that left the salt or the payload behind is reported', () => {
  const log = copyLog();
  const { leaf, tag, salt = new Uint8Array(), payload = '' } = recordAt(log, 3);
  log.records[3] = { index: 3, leaf, tag, salt };
  log.records[9] = { ...recordAt(log, 9), payload };
  log.records[20] = { index: 20, leaf: recordAt(log, 20).leaf, tag: recordAt(log, 20).tag, payload };
  assertFound(verify(log), ['payload-changed 3-3', 'payload-changed 9-9', 'payload-changed 20-20']);
});

for (const tags of ['known', 'unknown'] as const) {
  test(`a changed payload is found in its record, with the tag key ${tags}`, () => {
    requirement('AUD-3');
    const log = writeLog({ size: 300 });
    change(log, 120, { payload: `${recordAt(log, 120).payload} ` });
    change(log, 121, { salt: flip(recordAt(log, 121).salt, 31) });
    change(log, 200, { payload: 'half \ud800' });
    assertFound(verify(log, { tags }), ['payload-changed 120-121', 'payload-changed 200-200']);
  });
}

test('a changed leaf is found: the record by its tag, the stretch by the checkpoint', () => {
  requirement('AUD-3');
  const log = copyLog();
  change(log, 120, { leaf: flip(recordAt(log, 120).leaf, 20) });
  const report = verify(log);
  assertFound(report, ['checkpoint-root 100-149', 'leaf-changed 120-120']);
  assert.equal(report.checkpointSize, 100);
  assertFound(verify({ ...log, records: log.records.slice(0, 300) }, { tags: 'unknown' }), ['checkpoint-root 100-149']);
});

test('a leaf that the gate could not have written is found, also in a record without tag', () => {
  const log = copyLog();
  change(log, 120, { leaf: flip(recordAt(log, 120).leaf, 3) });
  change(log, 130, { leaf: new Uint8Array(5) });
  change(log, 140, { leaf: 'text' as never, tag: 7 as never, salt: 'text' as never });
  const report = verify(log);
  assertFound(report, [
    'checkpoint-root 100-149',
    'leaf-changed 120-120',
    'leaf-changed 130-130',
    'leaf-changed 140-140',
  ]);
  assert.match(report.findings[1]?.message ?? '', /reserved byte/);
});

test('a changed tag is found and told from a changed leaf', () => {
  const log = copyLog();
  change(log, 120, { tag: flip(recordAt(log, 120).tag, 0) });
  change(log, 121, { tag: null as never });
  change(log, 305, { tag: flip(recordAt(log, 305).tag, 0) });
  const report = verify(log);
  assertFound(report, ['tag-changed 120-121', 'record-appended 305-305']);
  assert.equal(report.coveredByTags, 6);
});

test('a removed record is named', () => {
  requirement('AUD-3');
  const log = copyLog();
  log.records.splice(120, 2);
  assertFound(verify(log), ['checkpoint-root 100-149', 'record-missing 120-121']);
  log.records.splice(0, 1);
  assertFound(verify(log), ['record-missing 0-0', 'checkpoint-root 0-49', 'record-missing 120-121']);
});

test('a removed record is found when the others were renumbered to hide it', () => {
  requirement('AUD-3');
  const log = copyLog();
  log.records.splice(120, 1);
  renumber(log);
  const report = verify(log);
  assertFound(report, ['checkpoint-root 100-149', 'record-moved 120-305']);
  assert.equal(report.findings[1]?.message, 'Records 121 to 306 stand at places 120 to 305.');
});

test('an inserted record is found when the others were renumbered to make room', () => {
  const log = copyLog();
  log.records.splice(120, 0, makeRecord(120, 'forged', strangersTagKey));
  renumber(log);
  assertFound(verify(log), ['checkpoint-root 100-149', 'leaf-changed 120-120', 'record-moved 121-307']);
});

for (const [first, second] of [
  [120, 121],
  [10, 290],
  [2, 305],
] as const) {
  test(`records ${first} and ${second} that changed places are both named`, () => {
    requirement('AUD-3');
    const log = copyLog();
    [log.records[first], log.records[second]] = [recordAt(log, second), recordAt(log, first)];
    renumber(log);
    const report = verify(log);
    const moved = report.findings.filter(({ kind }) => kind === 'record-moved').map(({ message }) => message);
    assert.deepEqual(moved, [
      `Record ${second} stands at place ${first}.`,
      `Record ${first} stands at place ${second}.`,
    ]);
    assert.equal(report.findings.length, 3);
  });
}

test('records far apart that changed places are both named', () => {
  const log = writeLog({ size: 2200, signedEvery: 500 });
  [log.records[10], log.records[2190]] = [recordAt(log, 2190), recordAt(log, 10)];
  renumber(log);
  const messages = verify(log).findings.map(({ message }) => message);
  assert.deepEqual(messages.slice(1), ['Record 2190 stands at place 10.', 'Record 10 stands at place 2190.']);
});

test('records that come in another order than their numbers are found', () => {
  const log = copyLog();
  [log.records[120], log.records[121]] = [recordAt(log, 121), recordAt(log, 120)];
  const report = verify(log);
  assertFound(report, ['checkpoint-root 100-149', 'record-missing 120-120', 'record-moved 122-122']);
  assert.equal(report.findings[2]?.message, 'Record 120 stands where record 122 belongs.');
});

test('a record that stands there twice, or under no number, is found', () => {
  const log = copyLog();
  log.records.splice(121, 0, recordAt(log, 120), { ...recordAt(log, 120), index: Number.NaN });
  assertFound(verify(log), ['record-moved 121-121', 'record-moved 121-121']);
});

test('a record appended by hand is found, however valid its leaf looks', () => {
  requirement('AUD-3');
  const log = copyLog();
  log.records.push(makeRecord(307, 'forged', strangersTagKey), makeRecord(308, 'forged', strangersTagKey));
  const report = verify(log);
  assertFound(report, ['record-appended 307-308']);
  assert.equal(report.coveredByTags, 7);
  const copied = copyLog();
  copied.records.push({ ...recordAt(copied, 40), index: 307 });
  assert.equal(verify(copied).findings[0]?.message, 'Record 40 stands at place 307.');
});

test('without the tag key, whatever lies beyond the last checkpoint is reported as unproven', () => {
  const report = verify(written, { tags: 'unknown' });
  assertFound(report, ['record-appended 300-306']);
  assert.equal(report.coveredByTags, 0);
  const unsigned = { records: written.records, checkpoints: [] };
  assertFound(verify(unsigned, { tags: 'unknown' }), ['record-appended 0-306']);
  assertFound(verify({ ...written, records: written.records.slice(0, 300) }, { tags: 'unknown' }), []);
});

test('a log cut behind its checkpoints is found', () => {
  requirement('AUD-3');
  const log = copyLog();
  log.records.length = 180;
  const report = verify(log);
  assertFound(report, ['log-truncated 180-299']);
  assert.equal(report.checkpointSize, 150);
  assert.equal(report.coveredByTags, 30);
});

test('a log cut together with its checkpoints is found with a checkpoint kept elsewhere, and only with one', () => {
  requirement('AUD-3');
  const log: Log = { records: written.records.slice(0, 180), checkpoints: written.checkpoints.slice(0, 3) };
  assertFound(verify(log, { remembered: [noteOver(300)] }), ['log-truncated 180-299']);
  assertFound(verify(log, { remembered: [noteOver(150)] }), []);
  assertFound(verify(log), []);
  assertFound(verify({ records: [], checkpoints: [] }, { remembered: [noteOver(300)] }), ['log-truncated 0-299']);
});

test('a history rewritten with the key itself is found with a checkpoint kept elsewhere, and only with one', () => {
  requirement('AUD-3');
  const rewritten = writeLog({ text: 'another' });
  assertFound(verify(rewritten), []);
  const mixed = { records: [...written.records.slice(0, 120), ...rewritten.records.slice(120)], checkpoints: [] };
  assertFound(verify(mixed), []);
  assertFound(verify(mixed, { remembered: [noteOver(100), noteOver(200), noteOver(300)] }), [
    'checkpoint-root 100-199',
  ]);
  // The forger's own checkpoints match; they do not narrow what the remembered one refutes.
  const report = verify(rewritten, { remembered: [noteOver(200)] });
  assertFound(report, ['checkpoint-root 0-199']);
  assert.equal(report.checkpointSize, 300);
});

test('a whole log written with another key is found', () => {
  requirement('AUD-3');
  const forged = writeLog({ by: stranger });
  const report = verify(forged);
  assertFound(report, ['checkpoint-invalid 0-299', 'record-appended 0-306']);
  assert.equal(report.checkpointSize, 0);
  assertFound(verify(forged, { tags: 'unknown' }), ['checkpoint-invalid 0-299', 'record-appended 0-306']);
});

test('a checkpoint with a replaced signature, or signed by another key, is named by the records it covers', () => {
  requirement('AUD-3');
  const log = copyLog();
  const [body] = noteOver(150).split('\n\n');
  log.checkpoints[2] = { size: 150, note: `${body}\n\n${noteOver(100).split('\n\n')[1]}` };
  const root = Buffer.from((body as string).split('\n')[2] as string, 'base64');
  log.checkpoints[4] = { size: 250, note: signCheckpoint(stranger, { origin, size: 250, root }) };
  const report = verify(log);
  assertFound(report, ['checkpoint-invalid 100-149', 'checkpoint-invalid 200-249']);
  assert.match(report.findings[0]?.message ?? '', /was changed/);
  assert.match(report.findings[1]?.message ?? '', /not signed by the key/);
  assert.equal(report.checkpointSize, 300);
});

test('a checkpoint of another log is found', () => {
  const log = copyLog();
  const foreign = signCheckpoint(signer, { origin: 'example.org/restored', size: 150, root: Buffer.alloc(32) });
  log.checkpoints[2] = { size: 150, note: foreign };
  assertFound(verify(log), ['checkpoint-origin 100-149']);
  assertFound(verify(written, { remembered: [foreign] }), ['checkpoint-origin 0-0']);
  const source = { records: () => written.records, checkpoints: () => written.checkpoints };
  assert.equal(verifyLog(source, { ...keys, origin: 'example.org/other' }).checkpointSize, 0);
});

test('a checkpoint kept elsewhere that was damaged is reported, not skipped', () => {
  assertFound(verify(written, { remembered: ['not a note'] }), ['checkpoint-invalid 0-0']);
});

test('two histories signed by the same key for one size are found', () => {
  const log = copyLog();
  log.checkpoints.splice(3, 0, {
    size: 150,
    note: signCheckpoint(signer, { origin, size: 150, root: Buffer.alloc(32) }),
  });
  assertFound(verify(log), ['checkpoint-root 149-149']);
});

test('a checkpoint signed over a log with a hole does not make the log whole', () => {
  const log = copyLog();
  log.records.splice(120, 1);
  const tree = new MerkleFrontier();
  for (const { leaf } of log.records.slice(0, 149)) tree.append(hashLeaf(leaf));
  log.checkpoints[2] = { size: 150, note: signCheckpoint(signer, { origin, size: 150, root: tree.root() }) };
  const report = verify(log);
  assertFound(report, ['checkpoint-root 100-149', 'record-missing 120-120']);
  assert.equal(report.checkpointSize, 100);
});

test('checkpoints out of order, or stored for another size, are found', () => {
  const log = copyLog();
  log.checkpoints.splice(1, 2, { size: 150, note: noteOver(150) }, { size: 100, note: noteOver(100) });
  assertFound(verify(log), ['checkpoint-order 99-99']);
  const mislabelled = copyLog();
  mislabelled.checkpoints[1] = { size: 90, note: noteOver(100) };
  mislabelled.checkpoints[5] = { size: Number.NaN, note: null as never };
  assertFound(verify(mislabelled), ['checkpoint-invalid 0-0', 'checkpoint-invalid 50-89']);
});

test('a ruined log gives a hundred findings and the number of all', () => {
  const log = writeLog({ size: 1000 });
  for (let index = 0; index < 1000; index += 2) change(log, index, { payload: 'changed' });
  const report = verify(log);
  assert.equal(report.findings.length, 100);
  assert.equal(report.findingCount, 500);
  assert.equal(report.findings[99]?.fromIndex, 198);
});

test('a log with more bad tags than can be kept is still reported to its end', () => {
  const log = writeLog({ size: 1000 });
  for (let index = 0; index < 1000; index += 2) change(log, index, { tag: new Uint8Array(32) });
  const report = verify(log);
  assert.ok(!report.ok);
  assert.equal(report.findingCount, 201);
  assert.equal(report.checkpointSize, 1000);
});

test('progress is told while records are read and when all are', () => {
  const log = writeLog({ size: 1 });
  const record = recordAt(log, 0);
  const records = () => Array.from({ length: 70_000 }, (_, index) => ({ ...record, index }));
  const told: number[] = [];
  verifyLog({ records, checkpoints: () => [] }, withoutTags, { onProgress: (read) => told.push(read) });
  assert.deepEqual(told, [65_536, 70_000]);
});

/** Spoils one thing, chosen by two numbers, and returns the place that must be named. */
type Mutation = (log: Log, pick: number, other: number) => number;
const size = written.records.length;

// The very last record is spared from removal: behind the last checkpoint nothing remembers that it was there.
const mutations: Record<string, Mutation> = {
  'a byte of a leaf': (log, pick, other) => {
    const at = pick % size;
    change(log, at, { leaf: flip(recordAt(log, at).leaf, other % 108) });
    return at;
  },
  'a byte of a salt': (log, pick, other) => {
    const at = pick % size;
    change(log, at, { salt: flip(recordAt(log, at).salt, other % 32) });
    return at;
  },
  'a byte of a tag': (log, pick, other) => {
    const at = pick % size;
    change(log, at, { tag: flip(recordAt(log, at).tag, other % 32) });
    return at;
  },
  'a character of a payload': (log, pick, other) => {
    const at = pick % size;
    const { payload = '' } = recordAt(log, at);
    const place = other % payload.length;
    change(log, at, { payload: payload.slice(0, place) + payload.slice(place + 1) });
    return at;
  },
  'a record replaced by another one': (log, pick, other) => {
    const at = pick % size;
    change(log, at, { ...recordAt(log, (at + 1 + (other % (size - 1))) % size), index: at });
    return at;
  },
  'a record replaced by a forged one': (log, pick) => {
    const at = pick % size;
    log.records[at] = makeRecord(at, 'forged', strangersTagKey);
    return at;
  },
  'a record removed': (log, pick) => {
    const at = pick % (size - 1);
    log.records.splice(at, 1);
    return at;
  },
  'a record removed and the others renumbered': (log, pick) => {
    const at = pick % (size - 1);
    log.records.splice(at, 1);
    renumber(log);
    return at;
  },
  'a record inserted and the others renumbered': (log, pick, other) => {
    const at = pick % (size + 1);
    const copied = other % size;
    log.records.splice(at, 0, recordAt(log, copied));
    renumber(log);
    return copied === at ? at + 1 : at;
  },
  'two records exchanged': (log, pick, other) => {
    const at = pick % size;
    const to = (at + 1 + (other % (size - 1))) % size;
    [log.records[at], log.records[to]] = [recordAt(log, to), recordAt(log, at)];
    renumber(log);
    return at;
  },
  'the end cut off below the last checkpoint': (log, pick) => {
    log.records.length = pick % 300;
    return log.records.length;
  },
  'a character of a checkpoint': (log, pick, other) => {
    const { size: signed, note } = log.checkpoints[pick % 6] as StoredCheckpoint;
    const place = other % note.length;
    const character = note[place] === 'A' ? 'B' : 'A';
    log.checkpoints[pick % 6] = { size: signed, note: note.slice(0, place) + character + note.slice(place + 1) };
    return signed - 1;
  },
  'a checkpoint replaced by that of another size': (log, pick, other) => {
    const { size: signed } = log.checkpoints[pick % 6] as StoredCheckpoint;
    log.checkpoints[pick % 6] = { size: signed, note: noteOver(50 * (1 + ((pick + 1 + (other % 5)) % 6))) };
    return signed - 1;
  },
};

for (const [name, mutate] of Object.entries(mutations)) {
  test(`any single change is found and its place named: ${name}`, () => {
    requirement('AUD-3');
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (pick, other) => {
        const log = copyLog();
        const place = mutate(log, pick, other);
        const { findings } = verify(log);
        assert.ok(findings.some(({ fromIndex, toIndex }) => fromIndex <= place && place <= toIndex));
      }),
      { numRuns: 25 },
    );
  });
}
