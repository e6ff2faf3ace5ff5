import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitPayload, encodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import type { JsonObject } from '@sallyport/contract';
import { readEntry } from '../../../audit/search/entry.ts';
import { matchesFilter, parseFilter } from '../../../audit/search/parse-filter.ts';
import { makeFolder } from '../../../policy/test-world.ts';
import { IndexFile } from './index-file.ts';
import { PlaceSet } from './place-set.ts';

const startMs = Date.UTC(2026, 0, 1);

/** A log in memory, whose payloads can be erased. */
class MadeLog {
  readonly records: StoredRecord[] = [];

  add(
    payload: JsonObject,
    result: 'ok' | 'denied' | 'error' = 'ok',
    timeMs = startMs + 1000 * this.records.length,
  ): void {
    const text = JSON.stringify({ principal: 'agent', ...payload });
    const salt = randomBytes(32);
    const facts = { kind: 'outcome', result, timeMs, callId: randomUUIDv7() } as const;
    const leaf = encodeLeaf(facts, commitPayload(salt, text));
    this.records.push({ index: this.records.length, leaf, salt, payload: text, tag: Buffer.alloc(32) });
  }

  erase(index: number): void {
    const { leaf, tag } = this.records[index] as StoredRecord;
    this.records[index] = { index, leaf, tag };
  }

  readonly find = (index: number): StoredRecord | undefined => this.records[index];
  readonly read = (from: number, to: number): StoredRecord[] => this.records.slice(from, to + 1);
}

function openIndex(log: MadeLog, file: string): IndexFile {
  return IndexFile.open(file, (index) => log.find(index)?.leaf);
}

function takeIn(index: IndexFile, log: MadeLog): void {
  index.gather(log.read(index.nextToGather, log.records.length), log.find);
  index.write();
}

/** What the index finds and the log confirms, as a search does it. */
function search(index: IndexFile, log: MadeLog, text: string, { isForward = false } = {}): number[] {
  const filter = parseFilter(text, startMs);
  const found: number[] = [];
  for (const { places } of index.find(filter, isForward ? -1 : Number.MAX_SAFE_INTEGER, { isForward }))
    found.push(...places.filter((place) => isMeant(log, place, text)));
  return found;
}

function isMeant(log: MadeLog, place: number, text: string): boolean {
  const record = log.find(place);
  const facts = record && readEntry(record, log.find)?.facts;
  return facts !== undefined && matchesFilter(parseFilter(text, startMs), facts);
}

function makeLog(entries: number): MadeLog {
  const log = new MadeLog();
  for (let nth = 0; nth < entries; nth += 1) {
    log.add(
      {
        ...{ agent: `agent-${nth % 7}`, tool: nth % 2 === 0 ? 'files.read' : 'git.log', workspace: '/w' },
        arguments: { path: `src/part${nth % 11}/f${nth}.ts`, note: `word${nth % 13} größe ${nth}` },
      },
      nth % 5 === 0 ? 'denied' : nth % 3 === 0 ? 'error' : 'ok',
    );
  }
  return log;
}

const filters = [
  '',
  'agent:agent-3',
  'agent:agent-3 tool:git.* status:denied,error',
  '-agent:agent-3 -status:ok',
  'path:src/part4',
  'path:f77.ts',
  'agent:nobody',
  'word7',
  'word1* agent:agent-1',
  'größe grosse*',
  'GRÖSSE',
  'grö* status:error',
  'tool:files.read tool:git.log',
  `since:${new Date(startMs + 100_000).toISOString()} until:${new Date(startMs + 222_000).toISOString()}`,
  `word2 since:${new Date(startMs + 500_000).toISOString()}`,
];

test('a search finds exactly what the log has, however the log came in', () => {
  for (const [portion, entries] of [
    [1, 200],
    [17, 600],
    [5000, 1000],
  ] as const) {
    const whole = makeLog(entries);
    const log = new MadeLog();
    const index = openIndex(log, join(makeFolder(), 'index.db'));
    while (log.records.length < entries) {
      log.records.push(...whole.records.slice(log.records.length, log.records.length + portion));
      takeIn(index, log);
    }
    assert.equal(index.next, entries);
    for (const filter of filters) {
      const expected = log.records.map((record) => record.index).filter((place) => isMeant(log, place, filter));
      assert.deepEqual(search(index, log, filter, { isForward: true }), expected, `${filter}, by ${portion}`);
      assert.deepEqual(search(index, log, filter), expected.toReversed(), `${filter}, backwards, by ${portion}`);
    }
    index.close();
  }
});

test('what is too much for one run, or was gathered and not written, is found after the next opening', () => {
  const log = new MadeLog();
  const words = 1000;
  const wordsOf = (nth: number) => Array.from({ length: words }, (_, at) => (words * nth + at).toString(36));
  for (let nth = 0; nth < 700; nth += 1)
    log.add({ agent: `agent-${nth % 7}`, arguments: { note: wordsOf(nth).join(' ') } });
  const file = join(makeFolder(), 'index.db');
  const cut = openIndex(log, file);
  cut.gather(log.records, log.find);
  const written = cut.next;
  assert.ok(written > 0 && written < 700, 'what is full is written');
  assert.equal(cut.nextToGather, 700);
  cut.close();
  const index = openIndex(log, file);
  assert.equal(index.nextToGather, written, 'the rest was lost');
  takeIn(index, log);
  assert.equal(search(index, log, 'agent:agent-6').length, 100);
  for (const nth of [0, 5, written, 699]) assert.deepEqual(search(index, log, wordsOf(nth).at(3) ?? ''), [nth]);
  index.close();
});

test('two who write the same index do not count anything twice', () => {
  const log = makeLog(500);
  const file = join(makeFolder(), 'index.db');
  const [one, other] = [openIndex(log, file), openIndex(log, file)];
  one.gather(log.read(0, 499), log.find);
  takeIn(other, log);
  one.write();
  takeIn(one, log);
  for (const index of [one, other]) {
    assert.equal(search(index, log, 'kind:call').length, 500);
    assert.equal(
      index.activity.totals('agent').reduce((sum, { denied }) => sum + denied, 0),
      100,
    );
  }
  for (let nth = 0; nth < 2000; nth += 1) log.add({ agent: 'late', tool: 'git.log', arguments: { note: 'again' } });
  takeIn(other, log);
  assert.equal(search(one, log, 'agent:late again').length, 2000, 'also what the other one has put together anew');
  one.close();
  other.close();
});

test('what was erased is in no byte of the file, and the rest is found as before', () => {
  const log = new MadeLog();
  const file = join(makeFolder(), 'index.db');
  const index = openIndex(log, file);
  const secret = (nth: number): boolean => nth % 3 === 0;
  // In small portions, so that runs are put together again and again.
  for (let nth = 0; nth < 1200; nth += 1) {
    log.add(
      secret(nth)
        ? {
            agent: 'zqagent',
            tool: 'zqserver.tool',
            decision: { rule_id: 'zqrule' },
            arguments: { note: `zqword${nth} kept` },
          }
        : { agent: 'ada', tool: 'files.read', decision: { rule_id: 'reads' }, arguments: { note: `plain${nth} kept` } },
    );
    if (nth % 7 === 0) takeIn(index, log);
  }
  takeIn(index, log);
  assert.equal(search(index, log, 'zqword*').length, 400);
  assert.ok(readFileSync(file).includes('zqword') || readFileSync(`${file}-wal`).includes('zqword'));
  for (const { index: place } of log.records) if (secret(place)) log.erase(place);
  const erased = new PlaceSet(
    log.records.filter(({ payload }) => payload === undefined).map(({ index: at }) => [at, at]),
  );
  const steps = index.forget(erased, log, 1);
  while (steps.next().done !== true);
  for (const filter of ['agent:ada', 'plain1*', 'kept', 'kind:call', 'status:ok', 'zqword*', 'agent:zqagent']) {
    const expected = log.records.map((record) => record.index).filter((place) => isMeant(log, place, filter));
    assert.deepEqual(search(index, log, filter, { isForward: true }), expected, filter);
  }
  assert.deepEqual(
    index.activity.totals('agent').map(({ name }) => name),
    ['ada'],
  );
  index.close();
  const bytes = readFileSync(file);
  for (const gone of ['zqword', 'zqagent', 'zqserver', 'zqrule']) assert.ok(!bytes.includes(gone), gone);
});
