import { inspect } from 'node:util';
import { readCpuMs } from './cpu-time.ts';
import type { TestEvent } from 'node:test/reporters';

/** One line of JSON on the way from a test process to the runner. */
export type ReportLine =
  | {
      readonly kind: 'test';
      readonly file: string;
      readonly line: number;
      readonly name: string;
      readonly durationMs: number;
      /** Absent when the test passed. */
      readonly problem?: string;
    }
  /** How long a test or suite on the top level took. */
  | { readonly kind: 'time'; readonly file: string; readonly durationMs: number }
  /** Something that went wrong outside any test. */
  | { readonly kind: 'stray'; readonly problem: string }
  /** The process came to its regular end, and used this much of the processors. Missing after a crash. */
  | { readonly kind: 'end'; readonly cpuMs: number };

/** Between two files nothing runs while the next one is loaded, which takes long when the disk is busy. */
const patienceMs = Number(process.env['SALLYPORT_TEST_PATIENCE_MS'] ?? 180_000);
/** Patience is counted in so many steps: a machine that stood still meanwhile has taken one of them. */
const patienceSteps = 100;

/** A reporter for `node --test` that tells the runner all it needs and prints nothing. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let openCount = 0;
  let lingering: NodeJS.Timeout | undefined;
  const wait = (steps: number): NodeJS.Timeout => {
    const next = (): void => {
      if (steps <= 1) leaveLoudly();
      lingering = wait(steps - 1);
    };
    return setTimeout(next, patienceMs / patienceSteps).unref();
  };
  for await (const event of events) {
    if (event.type === 'test:dequeue') openCount++;
    if (event.type === 'test:complete') openCount--;
    clearTimeout(lingering);
    if (openCount === 0) lingering = wait(patienceSteps);
    for (const line of translate(event)) yield `${JSON.stringify(line)}\n`;
  }
}

/** A server or worker that a test left open would keep the process for ever. */
function leaveLoudly(): never {
  console.error(
    `All tests have ended, but this keeps the process alive: ${process.getActiveResourcesInfo().join(', ')}`,
  );
  process.exit(1);
}

function* translate(event: TestEvent): Generator<ReportLine> {
  if (event.type === 'test:summary' && event.data.file === undefined) yield { kind: 'end', cpuMs: readCpuMs() };
  if (event.type === 'test:diagnostic' && event.data.message.startsWith('Error:')) {
    yield { kind: 'stray', problem: event.data.message };
  }
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return;

  const { file = '', line = 0, name, nesting, details } = event.data;
  const problem = describeProblem(event);
  const durationMs = details.duration_ms;
  if (nesting === 0) yield { kind: 'time', file, durationMs };
  // A suite is no test; it matters only when something besides its tests failed.
  if (problem !== undefined) yield { kind: 'test', file, line, name, durationMs, problem };
  else if (details.type !== 'suite') yield { kind: 'test', file, line, name, durationMs };
}

function describeProblem(event: Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>): string | undefined {
  const { data } = event;
  if (data.skip !== undefined && data.skip !== false) return 'The test is skipped. Make it run or delete it.';
  if (data.todo !== undefined && data.todo !== false) return 'The test is marked todo. Finish it or delete it.';
  if (event.type === 'test:pass') {
    // This is how node:test reports a file in which nothing was declared.
    return data.name === data.file ? 'The file holds no tests.' : undefined;
  }
  const error: Error & { readonly failureType?: unknown } = event.data.details.error;
  if (data.details.type === 'suite' && error.failureType === 'subtestsFailed') return undefined;
  return inspect(error.cause ?? error, { colors: false })
    .split('\n')
    .filter((line) => !/^\s+at .*\(?node:internal/.test(line))
    .join('\n');
}
