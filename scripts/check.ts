// Types, lint, format, generated code and unit tests: everything that takes seconds.
import { listStaticChecks } from './static-checks.ts';
import { listUnitTests } from './test-files.ts';
import { runTestProcess, stopOnSignals } from './test-process.ts';
import { TestReport } from './test-report.ts';

const report = new TestReport({ verbose: process.argv.includes('--verbose') });
stopOnSignals();

const units = runTestProcess(listUnitTests(), { timeoutMs: 30 * 60_000 });
await Promise.all(listStaticChecks(report).map((check) => check()));
report.addRun(await units);
report.finish();
process.exitCode = report.hasFailed ? 1 : 0;
