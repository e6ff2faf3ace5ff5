// How long searches take in a long log, how long its index takes to build, how fast it is verified, and how large both are:
// times of a core. Not part of `npm run bench`: node bench/search-time.ts [--records N] (default 200,000; 10,000,000 takes most of an
// hour and 12 GB of disk).
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import {
  commitPayload,
  createSigningKey,
  deriveTagKey,
  encodeLeaf,
  hashLeaf,
  MerkleFrontier,
  openSigner,
  parseVerifier,
  signCheckpoint,
  tagRecord,
  verifyLog,
} from '@sallyport/log';
import { parseFilter } from '../packages/gateway/src/audit/search/parse-filter.ts';
import type { SearchRequest } from '../packages/gateway/src/audit/search/search-page.ts';
import { openLog } from '../packages/gateway/src/storage/sqlite/log-reader.ts';
import { IndexKeeper } from '../packages/gateway/src/storage/sqlite/index/index-keeper.ts';

const { values } = parseArgs({ options: { records: { type: 'string', default: '200000' } } });
const records = Number(values.records);
const rounds = 400;
const limit = 50;
const folder = mkdtempSync(join(tmpdir(), 'sallyport-search-'));
const databaseFile = join(folder, 'sallyport.db');
const indexFile = join(folder, 'index.db');
const startMs = Date.now() - records * 10;
const calls = Math.floor(records / 2);
const signer = openSigner(createSigningKey('example.org/gate').privateKey);
const tagKey = deriveTagKey(signer);

/** Of the nth call: agents, tools and rules of different size, and paths that come again. */
function describe(nth: number) {
  const result = nth % 97 === 0 ? 'fault' : nth % 17 === 0 ? 'error' : nth % 5 === 0 ? 'denied' : 'ok';
  return {
    agent: `agent-${nth % 200}`,
    tool: `family${nth % 5}.tool_${nth % 40}`,
    rule: `rule-${nth % 60}`,
    trace: createHash('md5').update(String(nth)).digest('hex'),
    path: `src/part-${nth % 100}/file-${nth % 100_000}.ts`,
    word: `topic${nth % 7777}`,
    result,
  } as const;
}

function writeLog(): void {
  const database = new DatabaseSync(databaseFile);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
  database.exec('CREATE TABLE records (position INTEGER PRIMARY KEY, leaf BLOB, salt BLOB, payload TEXT, tag BLOB)');
  database.exec('CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, note TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?)');
  const salt = randomBytes(32);
  const tree = new MerkleFrontier();
  const write = (index: number, facts: Parameters<typeof encodeLeaf>[0], payload: string): void => {
    const leaf = encodeLeaf(facts, commitPayload(salt, payload));
    const leafHash = hashLeaf(leaf);
    tree.append(leafHash);
    insert.run(index, leaf, salt, payload, tagRecord(tagKey, index, leafHash));
  };
  const sessions = Array.from({ length: 5000 }, () => randomUUIDv7());
  database.exec('BEGIN');
  for (let nth = 0; nth < calls; nth += 1) {
    const { agent, tool, rule, trace, path, word, result } = describe(nth);
    const ids = { callId: randomUUIDv7(), sessionId: sessions[nth % sessions.length], timeMs: startMs + nth * 20 };
    const intent = JSON.stringify({
      ...{
        request_id: ids.callId,
        trace_id: trace,
        door: 'grpc',
        agent,
        principal: 'agent',
        workspace: '/home/me/project',
      },
      ...{ tool, arguments: { path, note: `look at ${word} now` }, decision: { effect: 'allow', rule_id: rule } },
    });
    const outcome = JSON.stringify({ intent: 2 * nth, tool, agent, summary: '12 bytes read', duration_ms: 3 });
    write(2 * nth, { kind: 'intent', result: 'none', ...ids }, intent);
    write(2 * nth + 1, { kind: 'outcome', result, ...ids }, outcome);
    if (nth % 50_000 === 0) database.exec('COMMIT; BEGIN');
  }
  const note = signCheckpoint(signer, { origin: signer.name, size: tree.size, root: tree.root() });
  database.prepare('INSERT INTO checkpoints VALUES (?, ?)').run(tree.size, note);
  database.exec('COMMIT');
  database.close();
}

function secondsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}

function measureVerification(): void {
  const log = openLog(databaseFile);
  let isIntact = false;
  const seconds = secondsOf(() => {
    isIntact = verifyLog(log, { verifier: parseVerifier(signer.verifier), tagKey }).ok;
  });
  log.close();
  const perSecond = ((2 * calls) / seconds).toFixed(0);
  console.log(
    `verified in ${seconds.toFixed(1)} s of a core (${perSecond} records/s)${isIntact ? '' : ': NOT INTACT'}`,
  );
}

function measure(keeper: IndexKeeper, name: string, filterOf: (nth: number) => string, atEnd = false): void {
  const timesMs: number[] = [];
  let found = 0;
  for (let round = 0; round < rounds; round += 1) {
    const nth = Math.floor(Math.random() * calls);
    const request: SearchRequest = {
      filter: parseFilter(filterOf(nth), Date.now()),
      limit,
      before: atEnd ? undefined : 2 * Math.floor(Math.random() * calls) + 2,
    };
    const before = process.threadCpuUsage();
    found += keeper.search(request).entries.length;
    const { user, system } = process.threadCpuUsage(before);
    timesMs.push((user + system) / 1000);
  }
  timesMs.sort((a, b) => a - b);
  const at = (share: number): string => (timesMs[Math.floor(rounds * share)] ?? 0).toFixed(2).padStart(7);
  console.log(`${name.padEnd(26)} p50 ${at(0.5)}  p99 ${at(0.99)} ms   ${(found / rounds).toFixed(1)} entries a page`);
}

try {
  writeLog();
  measureVerification();
  const keeper = new IndexKeeper({ databaseFile, indexFile });
  const seconds = secondsOf(() => {
    while (keeper.catchUp());
  });
  const megabytes = (file: string): string => (statSync(file).size / 1e6).toFixed(0);
  console.log(
    `${2 * calls} records; index built in ${seconds.toFixed(1)} s of a core (${((2 * calls) / seconds).toFixed(0)} records/s)`,
  );
  keeper.close();
  console.log(`log ${megabytes(databaseFile)} MB, index ${megabytes(indexFile)} MB`);
  const opened = new IndexKeeper({ databaseFile, indexFile });
  measure(opened, 'newest', () => '', true);
  measure(opened, 'any page', () => '');
  measure(opened, 'agent', (nth) => `agent:${describe(nth).agent}`);
  measure(opened, 'session of nobody', () => `session:${randomUUIDv7()}`);
  measure(opened, 'tool', (nth) => `tool:${describe(nth).tool}`);
  measure(opened, 'family of tools', (nth) => `tool:family${nth % 5}.*`);
  measure(opened, 'status ok', () => 'status:ok');
  measure(opened, 'status fault', () => 'status:fault');
  measure(opened, 'rule', (nth) => `rule:${describe(nth).rule}`);
  measure(opened, 'folder', (nth) => `path:src/part-${nth % 100}`);
  measure(opened, 'file', (nth) => `path:${describe(nth).path}`, true);
  measure(opened, 'trace', (nth) => `trace:${describe(nth).trace}`, true);
  measure(
    opened,
    'an hour',
    (nth) =>
      `since:${new Date(startMs + nth * 20).toISOString()} until:${new Date(startMs + nth * 20 + 3_600_000).toISOString()}`,
    true,
  );
  measure(
    opened,
    'agent, status and time',
    (nth) => `agent:agent-${nth % 200} status:error since:${new Date(startMs + nth * 20).toISOString()}`,
    true,
  );
  measure(opened, 'a word', (nth) => describe(nth).word);
  measure(opened, 'two common words', () => 'look now');
  measure(opened, 'the beginning of a word', () => 'topic77*');
  measure(opened, 'what never meets', () => 'agent:agent-1 tool:family0.tool_0');
  opened.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
