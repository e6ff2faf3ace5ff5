import { existsSync } from 'node:fs';
import { attempt, isJsonObject, textOf } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { runtimeFolder } from '@sallyport/sandbox';
import type { Project } from './find-project.ts';
import { readJunit } from './read-junit.ts';
import type { TestCase } from './read-junit.ts';

export const runnerNames = ['vitest', 'jest', 'node', 'pytest', 'unittest'] as const;
export type RunnerName = (typeof runnerNames)[number];

export interface TestRunner {
  /** The command, or undefined when the project does not use the runner. `report`: where it may write its report. */
  readonly find: (project: Project, report: string) => readonly [string, ...string[]] | undefined;
  /** What stands before the pattern for names of tests. */
  readonly byName: (pattern: string) => readonly string[];
  /** Undefined: it is no report. */
  readonly read: (report: string) => readonly TestCase[] | undefined;
}

const python = '/usr/bin/python3';
const usesScript = ({ scripts }: Project, pattern: RegExp): boolean => pattern.test(scripts['test'] ?? '');

/** In the order in which they are looked for. */
export const testRunners: Readonly<Record<RunnerName, TestRunner>> = {
  vitest: {
    find: (project, report) => {
      const program = project.findInstalled('vitest');
      const isUsed =
        usesScript(project, /\bvitest\b/) || project.has('vitest.config.ts', 'vitest.config.js', 'vitest.config.mts');
      if (program === undefined || !isUsed) return undefined;
      return [program, 'run', '--reporter=junit', `--outputFile=${report}`, '--cache=false'];
    },
    byName: (pattern) => ['--testNamePattern', pattern],
    read: readJunit,
  },
  jest: {
    find: (project, report) => {
      const program = project.findInstalled('jest');
      const isUsed =
        usesScript(project, /\bjest\b/) || project.has('jest.config.js', 'jest.config.ts', 'jest.config.mjs');
      if (program === undefined || !isUsed) return undefined;
      return [program, '--json', `--outputFile=${report}`, '--cacheDirectory=/tmp/jest'];
    },
    byName: (pattern) => ['--testNamePattern', pattern],
    read: readJest,
  },
  node: {
    find: (project, report) => {
      if (!usesScript(project, /\bnode\b.*--test\b/)) return undefined;
      const reporter = ['--test-reporter=junit', `--test-reporter-destination=${report}`];
      return [`${runtimeFolder}/bin/node`, '--test', ...reporter];
    },
    byName: (pattern) => [`--test-name-pattern=${pattern}`],
    read: readJunit,
  },
  pytest: {
    find: ({ has, read }, report) => {
      const isUsed =
        has('pytest.ini', 'conftest.py') ||
        /\[tool\.pytest|\[tool:pytest\]|^\[pytest\]/m.test(
          read('pyproject.toml') + read('setup.cfg') + read('tox.ini'),
        );
      if (!isUsed || !existsSync(python)) return undefined;
      return [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junitxml=${report}`];
    },
    byName: (pattern) => ['-k', pattern],
    read: readJunit,
  },
  unittest: {
    find: ({ has }) => {
      const isPython = has('pyproject.toml', 'setup.py', 'setup.cfg', 'tests', 'test');
      return isPython && existsSync(python) ? [python, '-m', 'unittest', 'discover', '-v'] : undefined;
    },
    byName: (pattern) => ['-k', pattern],
    read: readUnittest,
  },
};

function readJest(report: string): readonly TestCase[] | undefined {
  const value = parse(report);
  const files = isJsonObject(value) ? value['testResults'] : undefined;
  if (!Array.isArray(files)) return undefined;
  return files.filter(isJsonObject).flatMap((file) => {
    const tests = Array.isArray(file['assertionResults']) ? file['assertionResults'].filter(isJsonObject) : [];
    return tests.map((each) => readJestCase(textOf(file['name']), each));
  });
}

function readJestCase(file: string, found: JsonObject): TestCase {
  const { fullName, status, duration, failureMessages } = found;
  const messages = Array.isArray(failureMessages) ? failureMessages.map(String).join('\n').slice(0, 2000) : '';
  return {
    name: textOf(fullName).slice(0, 500),
    file,
    status: status === 'passed' || status === 'failed' ? status : 'skipped',
    ...(typeof duration === 'number' ? { duration_ms: Math.round(duration) } : {}),
    ...(messages === '' ? {} : { message: messages }),
  };
}

/** What it says about each test; why one failed stands further down. */
function readUnittest(text: string): readonly TestCase[] | undefined {
  const lines = text.split('\n');
  if (!lines.some((line) => /^Ran \d+ tests? in /.test(line))) return undefined;
  const found = lines.flatMap((line) => {
    const [, name, suite, ending] =
      /^(\w{1,200}) \(([\w.]{1,300})\).* \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b/.exec(
        line,
      ) ?? [];
    if (name === undefined || suite === undefined) return [];
    const status =
      ending === 'ok' || ending === 'expected failure' ? 'passed' : ending === 'skipped' ? 'skipped' : 'failed';
    return [
      { name, suite, status, ...(status === 'failed' ? { message: findReason(text, name, suite) } : {}) } as const,
    ];
  });
  return found;
}

function findReason(text: string, name: string, suite: string): string {
  const start = [`FAIL: ${name} (${suite})`, `ERROR: ${name} (${suite})`]
    .map((head) => text.indexOf(head))
    .find((at) => at >= 0);
  if (start === undefined) return '';
  const end = text.indexOf('\n======', start);
  return text
    .slice(start, end < 0 ? undefined : end)
    .slice(0, 2000)
    .trim();
}

function parse(text: string): Json {
  return attempt(() => JSON.parse(text) as Json) ?? null;
}
