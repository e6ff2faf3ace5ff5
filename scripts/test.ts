// Everything. `npm test -- <part of a path>` runs the test files whose path holds that part; --verbose names each test.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requirements } from '../test/requirements.ts';
import { runStaticChecks } from './static-checks.ts';
import { listProcessTests, listUnitTests } from './test-files.ts';
import { runTestProcess, stopOnSignals } from './test-process.ts';
import { TestReport } from './test-report.ts';

const timeoutMs = 10 * 60_000;
const { values, positionals } = parseArgs({ options: { verbose: { type: 'boolean' } }, allowPositionals: true });
const wanted = (file: string): boolean => positionals.every((part) => file.includes(part));

const folder = mkdtempSync(join(tmpdir(), 'sallyport-tests-'));
const requirementsFile = join(folder, 'requirements');
/** Shared by all daemons that tests start: each has a new home, and would compile everything anew. */
const compiledFolder = join(folder, 'compiled');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
stopOnSignals();

const report = new TestReport({ verbose: values.verbose === true });

async function runFiles(files: readonly string[]): Promise<void> {
  const environment = { SALLYPORT_REQUIREMENTS_OUT: requirementsFile, NODE_COMPILE_CACHE: compiledFolder };
  if (files.length > 0) report.addRun(await runTestProcess(files, { timeoutMs, environment }));
}

/** Two lanes, because the machine of a contributor may have no more cores than that. */
async function runInTwoLanes(files: readonly string[]): Promise<void> {
  const queue = files.values();
  const lane = async (): Promise<void> => {
    for (const file of queue) await runFiles([file]);
  };
  await Promise.all([lane(), lane()]);
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

const { parallel, alone } = listProcessTests();
// Who asks for some files is in the middle of something, and types may be broken on purpose.
if (positionals.length === 0) await runStaticChecks(report);
await runFiles(listUnitTests().filter(wanted));
await runInTwoLanes(parallel.filter(wanted));
for (const file of alone.filter(wanted)) await runFiles([file]);

report.finish(summarizeRequirements());
process.exitCode = report.hasFailed ? 1 : 0;
