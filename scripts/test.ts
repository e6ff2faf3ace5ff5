// Everything. `npm test -- PART...` runs the test files whose path holds one of the parts; --verbose names each test,
// --long tries more where a test tries many cases.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requirements } from '../test/requirements.ts';
import { listStaticChecks } from './static-checks.ts';
import { TestDurations } from './test-durations.ts';
import { listProcessTests, listUnitTests } from './test-files.ts';
import { runTestProcess, stopOnSignals } from './test-process.ts';
import { TestReport } from './test-report.ts';

/** Of one process. The unit tests take a minute on a quiet machine, and ten on a very busy one. */
const timeoutMs = 30 * 60_000;
const { values, positionals } = parseArgs({
  options: { verbose: { type: 'boolean' }, long: { type: 'boolean' } },
  allowPositionals: true,
});
const wanted = (file: string): boolean => positionals.length === 0 || positionals.some((part) => file.includes(part));

const folder = mkdtempSync(join(tmpdir(), 'sallyport-tests-'));
const requirementsFile = join(folder, 'requirements');
/** Shared by all daemons that tests start: each has a new home, and would compile everything anew. */
const compiledFolder = join(folder, 'compiled');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
stopOnSignals();

const report = new TestReport({ verbose: values.verbose === true });

const durations = new TestDurations();

async function runFiles(files: readonly string[]): Promise<void> {
  const environment = {
    SALLYPORT_REQUIREMENTS_OUT: requirementsFile,
    NODE_COMPILE_CACHE: compiledFolder,
    // Files are loaded by the same threads that wait for the disk on behalf of tests.
    UV_THREADPOOL_SIZE: '16',
    ...(values.long === true && { SALLYPORT_LONG_TESTS: '1' }),
  };
  const run = await runTestProcess(files, { timeoutMs, environment });
  durations.add(run.durations);
  report.addRun(run);
}

/** Two lanes more than the machine has cores, because many tests wait for something that takes its time. */
async function runInLanes(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = jobs.values();
  const lane = async (): Promise<void> => {
    for (const job of queue) await job();
  };
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, lane));
}

/** A requirement counts as proved when a test that cites it ran and passed. */
function summarizeRequirements(): string {
  const failed = new Set(report.failures.map((failure) => `${failure.file}\t${failure.name}`));
  const proved = new Set<string>();
  for (const line of readCitations()) {
    const [id = '', ...test] = line.split('\t');
    if (!failed.has(test.join('\t'))) proved.add(id);
  }
  if (positionals.length > 0) return `These tests prove ${proved.size} requirements.`;
  const open = requirements.size - proved.size;
  return `Requirements: ${proved.size} of ${requirements.size} proved, ${open} open; npm run coverage lists them.`;
}

function readCitations(): string[] {
  try {
    return readFileSync(requirementsFile, 'utf8').trimEnd().split('\n');
  } catch {
    // No test cited anything.
    return [];
  }
}

const units = listUnitTests().filter(wanted);
const others = listProcessTests().filter(wanted);
if (units.length + others.length === 0) {
  process.stderr.write(`No test file has ${positionals.join(' or ')} in its path.\n`);
  process.exit(1);
}
await runInLanes([
  // Who asks for some files is in the middle of something, and types may be broken on purpose.
  ...(positionals.length === 0 ? listStaticChecks(report) : []),
  ...(units.length > 0 ? [() => runFiles(units)] : []),
  ...durations.longestFirst(others).map((file) => () => runFiles([file])),
]);
durations.save();

report.finish(summarizeRequirements());
process.exitCode = report.hasFailed ? 1 : 0;
