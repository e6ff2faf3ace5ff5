// How long searches take in a long log, how long its index takes to build, how fast it is verified, and how large both are.
// Times are of a core, unless they are said to be of the wall. `npm run bench` measures a shorter log (index-time.ts):
//   node bench/search-time.ts [--records 10000000] [--folder FOLDER]
// Without --records there are 200,000. 10,000,000 take about 10 minutes and 6 GB of disk. A folder is kept, and its log is
// used again; without one everything is removed.
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deriveTagKey, parseVerifier, verifyLog } from '@sallyport/log';
import { parseFilter } from '../packages/gateway/src/audit/search/parse-filter.ts';
import type { SearchPage } from '../packages/gateway/src/audit/search/search-page.ts';
import { openLog } from '../packages/gateway/src/storage/sqlite/log/log-reader.ts';
import { IndexKeeper } from '../packages/gateway/src/storage/sqlite/index/index-keeper.ts';
import { percentile } from './measure.ts';
import { describeCall, SearchLog } from './search-log.ts';

const { values } = parseArgs({
  options: { records: { type: 'string', default: '200000' }, folder: { type: 'string' } },
});
const rounds = 400;
const limit = 50;
const pagesInARow = 300;
const schedule = `/proc/self/task/${process.pid}/schedstat`;

/** Milliseconds of a core that this thread has had. */
function ranMs(): number {
  return Number(readFileSync(schedule, 'latin1').split(' ')[0]) / 1e6;
}

function timesOf<Value>(work: () => Value): { readonly cpuMs: number; readonly wallMs: number; readonly value: Value } {
  const [ranBefore, before] = [ranMs(), performance.now()];
  const value = work();
  return { value, wallMs: performance.now() - before, cpuMs: ranMs() - ranBefore };
}

function measureVerification({ databaseFile, signer, calls }: SearchLog): void {
  const log = openLog(databaseFile);
  const { cpuMs, value } = timesOf(() =>
    verifyLog(log, { verifier: parseVerifier(signer.verifier), tagKey: deriveTagKey(signer) }),
  );
  log.close();
  if (!value.ok) throw new Error('the log is not intact');
  console.log(`verified at ${perSecond(2 * calls, cpuMs)} records/s (${(cpuMs / 1000).toFixed(1)} s)`);
}

function measureBuilding(log: SearchLog): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${log.indexFile}${end}`, { force: true });
  const keeper = new IndexKeeper(log);
  const { cpuMs, wallMs } = timesOf(() => {
    while (keeper.catchUp());
  });
  keeper.close();
  const records = 2 * log.calls;
  const seconds = `${(cpuMs / 1000).toFixed(1)} s of a core, ${(wallMs / 1000).toFixed(1)} s of the wall`;
  console.log(`indexed at ${perSecond(records, cpuMs)} records/s (${seconds})`);
  const size = (file: string): string =>
    `${(statSync(file).size / 1e6).toFixed(0)} MB (${(statSync(file).size / records).toFixed(0)} bytes a record)`;
  console.log(`log ${size(log.databaseFile)}, index ${size(log.indexFile)}`);
}

function perSecond(records: number, ms: number): string {
  return ((records / ms) * 1000).toFixed(0);
}

function searchTimes(keeper: IndexKeeper, calls: number) {
  return (name: string, filterOf: (nth: number) => string, from: 'newest' | 'anywhere' | 'forward'): void => {
    const [cpu, wall, found]: [number[], number[], number[]] = [[], [], []];
    let short = 0;
    for (let round = 0; round < rounds; round += 1) {
      const nth = Math.floor(Math.random() * calls);
      const place = 2 * Math.floor(Math.random() * calls);
      const request = {
        ...{ filter: parseFilter(filterOf(nth), Date.now()), limit },
        ...(from === 'anywhere' ? { before: place + 2 } : from === 'forward' ? { after: place } : {}),
      };
      const { cpuMs, wallMs, value } = timesOf(() => keeper.search(request));
      cpu.push(cpuMs);
      wall.push(wallMs);
      found.push(value.entries.length);
      if (value.entries.length < limit && value.next !== undefined) short += 1;
    }
    const at = (times: readonly number[], percent: number): string => percentile(times, percent).toFixed(2).padStart(6);
    const average = (found.reduce((sum, each) => sum + each, 0) / rounds).toFixed(1).padStart(4);
    const early = short === 0 ? '' : `, ${short} of ${rounds} ended early and said so`;
    console.log(
      `${name.padEnd(34)} p50 ${at(cpu, 50)}  p99 ${at(cpu, 99)} ms   wall p99 ${at(wall, 99)} ms   ${average} a page${early}`,
    );
  };
}

/** One page after the other: the last ones cost what the first ones do. */
function measurePaging(keeper: IndexKeeper, text: string): void {
  const times: number[] = [];
  let page: SearchPage | undefined;
  for (let nth = 0; nth < pagesInARow && (page === undefined || page.next !== undefined); nth += 1) {
    const request = { filter: parseFilter(text, Date.now()), limit, before: page?.next };
    const { cpuMs, value } = timesOf(() => keeper.search(request));
    times.push(cpuMs);
    page = value;
  }
  const tenth = Math.ceil(times.length / 10);
  const middle = (of: readonly number[]): string => percentile(of, 50).toFixed(2);
  console.log(
    `${`${times.length} pages of ${text}`.padEnd(34)} p50 ${middle(times.slice(0, tenth))} ms first, ${middle(times.slice(-tenth))} ms last`,
  );
}

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'sallyport-search-'));
try {
  const log = new SearchLog(folder, Number(values.records));
  const { calls } = log;
  console.log(`${2 * calls} records`);
  measureVerification(log);
  measureBuilding(log);
  const keeper = new IndexKeeper(log);
  const measure = searchTimes(keeper, calls);
  measure('newest', () => '', 'newest');
  measure('any page', () => '', 'anywhere');
  measure('what came after', () => '', 'forward');
  measure('history of an agent, first page', (nth) => `agent:${describeCall(nth).agent}`, 'newest');
  measure('history of an agent, any page', (nth) => `agent:${describeCall(nth).agent}`, 'anywhere');
  measure('session', (nth) => `session:${log.sessionOf(nth)}`, 'anywhere');
  measure('session of nobody', () => `session:${randomUUIDv7()}`, 'newest');
  measure('tool', (nth) => `tool:${describeCall(nth).tool}`, 'anywhere');
  measure('family of tools', (nth) => `tool:family${nth % 5}.*`, 'anywhere');
  measure('status ok', () => 'status:ok', 'anywhere');
  measure('status fault', () => 'status:fault', 'anywhere');
  measure('rule', (nth) => `rule:${describeCall(nth).rule}`, 'anywhere');
  measure('folder', (nth) => `path:src/part-${nth % 100}`, 'anywhere');
  measure('file', (nth) => `path:${describeCall(nth).path}`, 'newest');
  measure('host', (nth) => `host:${describeCall(nth - (nth % 3)).host}`, 'anywhere');
  measure('trace', (nth) => `trace:${describeCall(nth).trace}`, 'newest');
  measure('an hour', (nth) => `since:${log.timeOf(nth)} until:${log.timeOf(nth + 180_000)}`, 'newest');
  measure('a second', (nth) => `since:${log.timeOf(nth)} until:${log.timeOf(nth + 50)}`, 'newest');
  measure('a word', (nth) => describeCall(nth).word, 'anywhere');
  measure('a word of nobody', (nth) => `nobody${nth}`, 'newest');
  measure('two common words', () => 'look now', 'anywhere');
  measure('the beginning of a word', () => 'topic77*', 'anywhere');
  measure('a short beginning', () => 't*', 'anywhere');
  measure(
    'agent, status and time',
    (nth) => `agent:agent-${nth % 200} status:error since:${log.timeOf(nth)}`,
    'newest',
  );
  measure(
    'agent, tool, word',
    (nth) => `agent:agent-${nth % 200} tool:family${nth % 5}.* ${describeCall(nth).word}`,
    'newest',
  );
  measure('one of many, without two', () => 'status:error,fault -agent:agent-1 -tool:family0.*', 'anywhere');
  measure('two that never meet', () => 'agent:agent-1 tool:family0.tool_0', 'newest');
  measure('frequent ones that never meet', () => 'tool:family0.* tool:family1.*', 'newest');
  measurePaging(keeper, 'agent:agent-7');
  measurePaging(keeper, 'status:fault look');
  keeper.close();
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
