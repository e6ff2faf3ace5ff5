import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportLine } from './test-reporter.ts';
import { root, toolEnvironment } from './workspace.ts';

export interface TestResult {
  /** From the root of the checkout. */
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Absent for what is no test, such as a crash. */
  readonly durationMs?: number;
  /** Absent when the test passed. */
  readonly problem?: string;
}

export interface TestRun {
  readonly results: readonly TestResult[];
  /** By file, in milliseconds. */
  readonly durations: ReadonlyMap<string, number>;
  /** Of the process and what it started. Absent after a crash. */
  readonly cpuMs?: number;
  /** The last of what the tests printed. */
  readonly output: string;
}

const reporter = join(import.meta.dirname, 'test-reporter.ts');
const maxOutputCharacters = 64_000;
const running = new Map<number, readonly string[]>();

process.on('exit', () => {
  for (const group of running.keys()) killGroup(group);
});

/** On Ctrl-C and the like: ends what runs and says what it was, which helps to find a test that hangs. */
export function stopOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const files = [...running.values()].map((list) => (list.length === 1 ? nameOf(list[0]) : 'unit tests'));
      console.error(`${signal} during ${files.join(' and ') || 'the checks'}`);
      process.exit(1);
    });
  }
}

/**
 * Runs test files in one process of their own. Whatever happens in there becomes results: a crash, a hang and an early
 * exit are failed tests. The process leads a group, and what is left of the group afterwards is killed.
 */
export async function runTestProcess(
  files: readonly string[],
  options: { readonly timeoutMs: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const reportFile = join(folder, 'report');
  const args = ['--test', '--test-isolation=none', `--test-reporter=${reporter}`];
  const child = spawn(process.execPath, [...args, `--test-reporter-destination=${reportFile}`, ...files], {
    cwd: root,
    // A runner above us would take our test process for one of its own.
    env: { ...toolEnvironment(), ...options.environment, NODE_TEST_CONTEXT: undefined },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const group = child.pid;
  if (group === undefined) throw new Error('the test process did not start');
  running.set(group, files);

  let output = '';
  const keep = (chunk: string): void => {
    output = (output + chunk).slice(-maxOutputCharacters);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);

  let isTooLate = false;
  const timer = setTimeout(() => {
    isTooLate = true;
    killGroup(group);
  }, options.timeoutMs);
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(timer);
  killGroup(group);
  running.delete(group);
  // A process that left the group may hold the pipes open for as long as it likes.
  await Promise.race([closed, sleep(2_000, undefined, { ref: false })]);
  child.stdout.destroy();
  child.stderr.destroy();

  const lines = readReport(reportFile);
  rmSync(folder, { recursive: true, force: true });
  const end = isTooLate ? `was killed after ${options.timeoutMs / 1000} s` : `ended with ${signal ?? `code ${code}`}`;
  const isFailure = code !== 0 || isTooLate;
  return {
    results: judge(lines, files, { end, isFailure }),
    durations: sumDurations(lines, files),
    ...cpuOf(lines),
    output,
  };
}

function judge(
  lines: readonly ReportLine[],
  files: readonly string[],
  process: { readonly end: string; readonly isFailure: boolean },
): TestResult[] {
  const results: TestResult[] = [];
  const outside = { file: files.length === 1 ? nameOf(files[0]) : '', line: 0 };
  for (const line of lines) {
    if (line.kind === 'test') results.push({ ...line, file: nameOf(line.file) });
    if (line.kind === 'stray') results.push({ ...outside, name: 'outside any test', problem: line.problem });
  }
  const isComplete = lines.some((line) => line.kind === 'end');
  const hasFailed = results.some((result) => result.problem !== undefined);
  if (!isComplete || (process.isFailure && !hasFailed)) {
    const problem = `The process ${process.end}${isComplete ? '' : ' before its tests had ended'}.`;
    results.push({ ...outside, name: 'the test process', problem });
  }
  return results;
}

function sumDurations(lines: readonly ReportLine[], files: readonly string[]): Map<string, number> {
  const durations = new Map<string, number>();
  for (const line of lines) {
    if (line.kind !== 'time') continue;
    const file = nameOf(files.length === 1 ? files[0] : line.file);
    durations.set(file, (durations.get(file) ?? 0) + line.durationMs);
  }
  return durations;
}

function cpuOf(lines: readonly ReportLine[]): { readonly cpuMs?: number } {
  const end = lines.find((line) => line.kind === 'end');
  return end ? { cpuMs: end.cpuMs } : {};
}

function nameOf(file = ''): string {
  return relative(root, file);
}

function readReport(file: string): ReportLine[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A process that ended at once has written nothing; the missing end says so.
  }
  // The last piece is empty, or a line that a crash cut off.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ReportLine);
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}
