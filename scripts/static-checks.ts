import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { TestReport } from './test-report.ts';
import { binFolder, root, toolEnvironment } from './workspace.ts';

interface StaticCheck {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

const staticChecks: readonly StaticCheck[] = [
  { name: 'types', program: join(binFolder, 'tsc'), args: ['-p', root] },
  { name: 'types of the console', program: join(binFolder, 'tsc'), args: ['-p', join(root, 'packages/console')] },
  { name: 'types of the receipt page', program: join(binFolder, 'tsc'), args: ['-p', join(root, 'packages/log/page')] },
  { name: 'lint', program: join(binFolder, 'oxlint'), args: [] },
  { name: 'format', program: join(binFolder, 'oxfmt'), args: ['--check'] },
  { name: 'generated code', program: process.execPath, args: [join(root, 'scripts/generate.ts'), '--check'] },
];

/** What can be said about the code without running it. Each check is reported as one test. */
export function listStaticChecks(report: TestReport): (() => Promise<void>)[] {
  return staticChecks.map((check) => async () => {
    const startedAt = performance.now();
    const problem = await run(check);
    report.addCheck(check.name, performance.now() - startedAt, problem);
  });
}

function run({ program, args }: StaticCheck): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: toolEnvironment(), maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error) resolve(`${stdout}${stderr}`.trim() || error.message);
      else resolve(undefined);
    });
  });
}
