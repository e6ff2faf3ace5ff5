import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { anomalyTime } from './anomaly-time.ts';
import { askedCall } from './asked-call.ts';
import { gatesTime } from './gates-time.ts';
import { callStream } from './call-stream.ts';
import { indexTime, searchTime } from './index-time.ts';
import { governedRead, governedReadAlone } from './governed-read.ts';
import { largeWrites } from './large-writes.ts';
import { limitsTime } from './limits-time.ts';
import { replayTime, toolStatusTime, usageTime } from './log-questions.ts';
import { measure } from './measure.ts';
import type { Budget, Measured } from './measure.ts';
import { rulesDecision, rulesLoading, rulesStart } from './rules-time.ts';
import { spawnAgainstSrt } from './spawn-against-srt.ts';
import { spawnCold, spawnManyCold } from './spawn-cold.ts';
import { spawnPrepared } from './spawn-prepared.ts';
import { spawnWarm } from './spawn-warm.ts';
import { idleDaemonMemory, startTime } from './start-time.ts';
import { compareWithTrend, readTrend, recordTrend } from './trend.ts';
import { idleMemory, manyStdioEchoes, manyUpstreamEchoes, upstreamEcho } from './upstream-echo.ts';
import { verifyTime } from './verify-time.ts';
import { writerTime } from './writer-time.ts';

const budgets: readonly Budget[] = [
  governedRead('http', 'tmpfs'),
  governedRead('http', 'disk'),
  governedRead('grpc', 'tmpfs'),
  governedRead('grpc', 'disk'),
  callStream(),
  governedReadAlone('tmpfs'),
  writerTime('tmpfs'),
  writerTime('disk'),
  gatesTime(),
  limitsTime(),
  anomalyTime(),
  askedCall(),
  largeWrites('memory'),
  largeWrites('others'),
  rulesDecision('folders'),
  rulesDecision('globs'),
  rulesDecision('conditions'),
  rulesLoading(),
  rulesStart(),
  spawnCold(),
  spawnManyCold(),
  spawnPrepared(),
  spawnWarm(),
  spawnAgainstSrt(),
  upstreamEcho('stdio', 'tmpfs'),
  upstreamEcho('stdio', 'disk'),
  upstreamEcho('http', 'disk'),
  manyUpstreamEchoes('tmpfs'),
  manyUpstreamEchoes('disk'),
  manyStdioEchoes(),
  startTime(),
  idleDaemonMemory(),
  idleMemory(),
  verifyTime(),
  indexTime(),
  searchTime(),
  usageTime(),
  toolStatusTime(),
  replayTime(),
];

const { values } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Usage: npm run bench -- [--quick] [--only TEXT] [--seconds N] [--record] [--json]
       npm run bench -- --list

  --quick      a second each: shows that it works, measures little
  --only TEXT  only budgets whose name contains TEXT
  --seconds N  how long to measure each; 20 unless told
  --record     append the figures to bench/trend.jsonl, with which later runs compare theirs
  --json       one JSON object
  --list       names and bars, as docs/performance.md has them; measures nothing
`);
} else if (values.list) {
  for (const { name, bar } of budgets) process.stdout.write(`| ${name} | ${bar} |\n`);
} else {
  // What was started ends with this process, also when somebody has seen enough.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const options = { seconds: values.quick ? 1 : Number(values.seconds) };
  const trend = readTrend();
  const results: Measured[] = [];
  const selected = budgets.filter(({ name }) => name.includes(values.only));
  for (const budget of selected) {
    if (!values.json) process.stderr.write(`measuring ${budget.name} …\n`);
    try {
      const result = await (budget.isAlone && selected.length > 1 ? measureAlone : measure)(budget, options);
      results.push(result);
      if (!values.json) process.stdout.write(`${describe(result, compareWithTrend(result, trend))}\n`);
    } catch (error) {
      // The others took minutes, and are worth something without it.
      process.exitCode = 1;
      process.stderr.write(`✘ ${budget.name} could not be measured: ${String(error)}\n`);
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ results })}\n`);
  if (values.record) recordTrend(results);
}

async function measureAlone({ name }: Budget, { seconds }: { readonly seconds: number }): Promise<Measured> {
  const args = [import.meta.filename, '--json', '--only', name, '--seconds', String(seconds)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { results } = JSON.parse(stdout) as { readonly results: readonly Measured[] };
  if (results[0] === undefined) throw new Error('its process measured nothing');
  return results[0];
}

function describe(result: Measured, warnings: readonly string[]): string {
  const details = Object.entries(result.details).map(([name, value]) => `  ${name}: ${round(value)}`);
  return [
    `${result.meetsBar ? '✔' : '✘'} ${result.name}`,
    `  ratio ${result.ratio.toFixed(2)} (${result.lowestRatio.toFixed(2)}–${result.highestRatio.toFixed(2)}, ${result.rounds} rounds); bar ${result.bar}`,
    `  subject ${round(result.subject)} ${result.unit}, floor ${round(result.floor)} ${result.unit}`,
    ...(result.cpuRatio === undefined ? [] : [`  CPU of a call: ${result.cpuRatio.toFixed(2)} × that of the floor`]),
    ...details,
    ...warnings.map((warning) => `  ⚠ ${warning}`),
    '',
  ].join('\n');
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
