import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { isRate, percentile } from './measure.ts';
import type { Measured } from './measure.ts';

const defaultFile = join(import.meta.dirname, 'trend.jsonl');
const tolerated = 1.1;
/** Compared with the middle of so many: with the last alone, a cost that comes in small steps would never show. */
const comparedWith = 5;

/** A line of the trend: what a budget came to at a commit. */
export interface TrendEntry {
  readonly at: string;
  readonly commit: string;
  readonly machine: string;
  readonly name: string;
  readonly unit: string;
  readonly floor: number;
  readonly subject: number;
  readonly ratio: number;
  readonly cpuRatio?: number;
}

export function readTrend(file = defaultFile): TrendEntry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TrendEntry);
}

export function recordTrend(results: readonly Measured[], file = defaultFile): void {
  const machine = describeMachine();
  const commit = describeCommit();
  const at = new Date().toISOString();
  for (const { name, unit, floor, subject, ratio, cpuRatio } of results) {
    const entry: TrendEntry = { at, commit, machine, name, unit, floor, subject, ratio, ...(cpuRatio && { cpuRatio }) };
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
  }
}

/** What has become more than a tenth worse than it was, in sentences. Other machines are not compared with. */
export function compareWithTrend(result: Measured, trend: readonly TrendEntry[]): string[] {
  const machine = describeMachine();
  const before = trend
    .filter((entry) => entry.name === result.name && entry.unit === result.unit && entry.machine === machine)
    .slice(-comparedWith);
  const compare = (what: string, now: number | undefined, past: readonly number[], moreIsBetter: boolean): string[] => {
    if (now === undefined || past.length === 0) return [];
    const usual = percentile(past, 50);
    const change = moreIsBetter ? usual / now : now / usual;
    if (!(change > tolerated)) return [];
    const percent = Math.round((change - 1) * 100);
    return [`${what} is ${percent} % worse than recorded: ${now.toFixed(2)}, before ${usual.toFixed(2)}`];
  };
  const pastCpu = before.flatMap(({ cpuRatio }) => (cpuRatio === undefined ? [] : [cpuRatio]));
  return [
    ...compare(
      'the ratio',
      result.ratio,
      before.map((entry) => entry.ratio),
      isRate(result.unit),
    ),
    ...compare('the CPU a call', result.cpuRatio, pastCpu, false),
  ];
}

function describeMachine(): string {
  const all = cpus();
  return `${all.length} × ${all[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
}

function describeCommit(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ':!bench/trend.jsonl') !== '';
  return git('rev-parse', '--short', 'HEAD') + (isChanged ? ' with changes' : '');
}
