import { parseArgs } from 'node:util';
import { gatesTime } from './gates-time.ts';
import { governedRead } from './governed-read.ts';
import { limitsTime } from './limits-time.ts';
import { measure } from './measure.ts';
import type { Budget, Measured } from './measure.ts';
import { rulesDecision, rulesLoading, rulesStart } from './rules-time.ts';
import { spawnAgainstSrt } from './spawn-against-srt.ts';
import { spawnCold, spawnManyCold } from './spawn-cold.ts';
import { spawnWarm } from './spawn-warm.ts';
import { upstreamEcho } from './upstream-echo.ts';

const budgets: readonly Budget[] = [
  governedRead('http'),
  governedRead('grpc'),
  gatesTime(),
  limitsTime(),
  rulesDecision('folders'),
  rulesDecision('globs'),
  rulesDecision('conditions'),
  rulesLoading(),
  rulesStart(),
  spawnCold(),
  spawnManyCold(),
  spawnWarm(),
  spawnAgainstSrt(),
  upstreamEcho('stdio'),
  upstreamEcho('http'),
];

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Usage: npm run bench -- [--quick] [--only TEXT] [--json]

  --quick      one short round each: shows that it works, measures little
  --only TEXT  only budgets whose name contains TEXT
  --json       one JSON object
`);
} else {
  // What was started ends with this process, also when somebody has seen enough.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const options = values.quick ? { rounds: 1, seconds: 1 } : { rounds: 5, seconds: 5 };
  const results: Measured[] = [];
  for (const budget of budgets.filter(({ name }) => name.includes(values.only))) {
    if (!values.json) process.stderr.write(`measuring ${budget.name} …\n`);
    results.push(await measure(budget, options));
  }
  process.stdout.write(values.json ? `${JSON.stringify({ results })}\n` : results.map(describe).join('\n'));
}

function describe(result: Measured): string {
  const details = Object.entries(result.details).map(([name, value]) => `  ${name}: ${round(value)}`);
  return [
    `${result.meetsBar ? '✔' : '✘'} ${result.name}`,
    `  ratio ${result.ratio.toFixed(2)} (${result.lowestRatio.toFixed(2)}–${result.highestRatio.toFixed(2)}, ${result.rounds} rounds); bar ${result.bar}`,
    `  subject ${round(result.subject)} ${result.unit}, floor ${round(result.floor)} ${result.unit}`,
    ...details,
    '',
  ].join('\n');
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
