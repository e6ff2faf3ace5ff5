import { styleText } from 'node:util';
import type { TestResult, TestRun } from './test-process.ts';

/** Prints one line a file while tests run, and what failed at the end. */
export class TestReport {
  readonly #verbose: boolean;
  readonly #failures: TestResult[] = [];
  readonly #outputs: string[] = [];
  #passed = 0;

  constructor(options: { readonly verbose: boolean }) {
    this.#verbose = options.verbose;
  }

  get failures(): readonly TestResult[] {
    return this.#failures;
  }

  /** Nothing ran, or something failed. */
  get hasFailed(): boolean {
    return this.#failures.length > 0 || this.#passed === 0;
  }

  addCheck(name: string, durationMs: number, problem?: string): void {
    const result = { file: '', line: 0, name };
    this.#count(problem === undefined ? result : { ...result, problem });
    print(mark(problem === undefined), name.padEnd(60), ' '.repeat(10), seconds(durationMs));
  }

  addRun(run: TestRun): void {
    const [onlyFile] = run.durations.size === 1 ? run.durations.keys() : [];
    const byFile = Object.groupBy(run.results, (result) => onlyFile ?? (result.file || 'unit tests'));
    for (const [file, results = []] of Object.entries(byFile)) {
      const durationMs = run.durations.get(file) ?? 0;
      const isGood = results.every((result) => result.problem === undefined);
      const count = `${results.length} ${results.length === 1 ? 'test' : 'tests'}`;
      // Files that share a process share its processor time too.
      const cpu = onlyFile !== undefined && run.cpuMs !== undefined ? `${seconds(run.cpuMs)} CPU` : '';
      print(mark(isGood), file.padEnd(60), count.padStart(10), seconds(durationMs), cpu);
      for (const result of results) {
        this.#count(result);
        if (this.#verbose)
          print('   ', mark(result.problem === undefined), seconds(result.durationMs ?? 0), result.name);
      }
      if (this.#verbose || !isGood) this.#keepOutput(file, run.output);
    }
  }

  /** The very last line is for machines: `N passed, N failed`. */
  finish(summary?: string): void {
    for (const output of this.#outputs) print(output);
    for (const { file, line, name, problem = '' } of this.#failures) {
      print(`\n${mark(false)} ${file ? `${file}${line > 0 ? `:${line}` : ''}  ` : ''}${name}`);
      print(problem.replaceAll(/^/gm, '    '));
    }
    if (this.#failures.length > 0) print('');
    if (summary !== undefined) print(summary);
    print(`${this.#passed} passed, ${this.#failures.length} failed`);
  }

  #count(result: TestResult): void {
    if (result.problem === undefined) this.#passed++;
    else this.#failures.push(result);
  }

  #keepOutput(file: string, output: string): void {
    const text = output.trim();
    if (text) this.#outputs.push(`\noutput of ${file}:\n${text.replaceAll(/^/gm, '    ')}`);
  }
}

function mark(isGood: boolean): string {
  return styleText(isGood ? 'green' : 'red', isGood ? '✔' : '✖', { stream: process.stdout });
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
}

function print(...parts: readonly string[]): void {
  console.log(parts.join(' '));
}
