import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

/** One line of JSON on the way from a test process to the runner. */
export type ReportLine =
  | {
      readonly kind: 'test';
      readonly file: string;
      readonly line: number;
      readonly name: string;
      readonly durationMs: number;
      readonly isTopLevel: boolean;
      /** Absent when the test passed. */
      readonly problem?: string;
    }
  /** Something that went wrong outside any test. */
  | { readonly kind: 'stray'; readonly problem: string }
  /** The process came to its regular end. Missing after a crash. */
  | { readonly kind: 'end' };

/** A reporter for `node --test` that tells the runner all it needs and prints nothing. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const line = translate(event);
    if (line) yield `${JSON.stringify(line)}\n`;
  }
}

function translate(event: TestEvent): ReportLine | undefined {
  if (event.type === 'test:summary') return event.data.file === undefined ? { kind: 'end' } : undefined;
  if (event.type === 'test:diagnostic') {
    const { message } = event.data;
    return message.startsWith('Error:') ? { kind: 'stray', problem: message } : undefined;
  }
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined;

  const { data } = event;
  const problem = describeProblem(event);
  // A suite is no test; it matters only when something besides its tests failed.
  if (data.details.type === 'suite' && problem === undefined) return undefined;
  return {
    kind: 'test',
    file: data.file ?? '',
    line: data.line ?? 0,
    name: data.name,
    durationMs: data.details.duration_ms,
    isTopLevel: data.nesting === 0,
    ...(problem === undefined ? {} : { problem }),
  };
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
