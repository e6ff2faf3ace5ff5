import { isAbsolute, relative } from 'node:path';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { cutText, redactEnd } from '../../call/redacted.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool } from '../define-tool.ts';
import type { Project } from './find-project.ts';
import { claimProject, findCommand, noneFound, runCommand, showCommand } from './project-command.ts';
import type { ProjectCommand } from './project-command.ts';
import type { TestCase } from './read-junit.ts';
import { runnerNames, testRunners } from './test-runners.ts';
import type { RunnerName } from './test-runners.ts';
import * as schema from '../../registry/schemas/schema.ts';

const maxTimeoutMs = 1_800_000;
const marginMs = 10_000;
const mostShown = 500;
const report = '/tmp/sallyport-report';
/** Output of the tests goes to standard error, and the report alone to standard output. */
const reporting = `"$@" >&2; code=$?; cat ${report} 2>/dev/null; exit $code`;

const inputSchema = schema.object(
  {
    path: schema.path('The folder of the project.', { default: '.' }),
    runner: schema.choice(
      'What runs the tests. auto: the first of these that the project uses.',
      ['auto', ...runnerNames],
      { default: 'auto' },
    ),
    files: schema.array(
      'Test files, from the folder of the project. Empty: all tests. unittest takes none.',
      { type: 'string', minLength: 1, maxLength: 4096 },
      { maxItems: 200, default: [] },
    ),
    name: schema.string('Only tests whose name fits, as the runner compares names.', {
      pattern: '^[^-\\0-\\x1f][^\\0-\\x1f]{0,199}$',
    }),
    timeout_ms: schema.integer('After this time the tests are ended.', {
      minimum: 1000,
      maximum: maxTimeoutMs,
      default: 300_000,
    }),
  },
  { optional: ['name'] },
);
type TestArguments = schema.ValueOf<typeof inputSchema>;

export function codeTest(): AnyTool {
  return defineTool({
    name: 'code.test',
    aliases: ['run_tests'],
    description:
      "Run the project's own tests (Vitest, Jest, node --test, pytest or unittest) and get which passed and failed, and why. They run in a sandbox without network in which they can change nothing but /tmp; use shell.run for tests that need more.",
    tags: ['code'],
    risk: 'medium',
    scopes: ['paths', 'commands'],
    requiresSandbox: true,
    timeoutMs: maxTimeoutMs + marginMs,
    timeoutMsFor: ({ timeout_ms: timeoutMs }) => timeoutMs + marginMs,
    pathArguments: ['path'],
    inputSchema,
    outputSchema: schema.object({
      runner: schema.choice('What ran the tests.', runnerNames),
      ok: schema.boolean('Whether all is well, as the exit code says.'),
      exit_code: schema.integer('The exit code of the runner.'),
      passed: schema.count('How many tests passed.'),
      failed: schema.count('How many tests failed.'),
      skipped: schema.count('How many tests were skipped.'),
      tests: schema.array(
        `The tests, failed ones first, at most ${mostShown}.`,
        schema.object(
          {
            name: schema.string('The name of the test.'),
            suite: schema.string('The group that it belongs to. Absent: none.'),
            file: schema.string('From the folder of the project. Absent: not told.'),
            status: schema.choice('How it ended.', ['passed', 'failed', 'skipped']),
            duration_ms: schema.count('Absent: not told.'),
            message: schema.string('Why it failed.'),
          },
          { optional: ['suite', 'file', 'duration_ms', 'message'] },
        ),
      ),
      output: schema.string('The end of what the runner wrote.'),
      truncated: schema.boolean('Whether there are more tests than are shown.'),
      hidden: schema.count('How many files and folders the rules hid from the tests.'),
    }),
    claim: (args, session) => claimProject(args.path, session, (project) => findRunner(args, project)),
    preview: (args, context) => {
      const found = findCommand(args.path, context, (project) => findRunner(args, project));
      return showCommand(found, context, args.timeout_ms);
    },
    run: (args, context) => runTests(args, context),
    summarize: (_, { runner, passed, failed }) => `${runner}: ${passed} passed, ${failed} failed`,
  });
}

async function runTests(args: TestArguments, context: ToolContext) {
  const found = findCommand(args.path, context, (project) => findRunner(args, project));
  const wrapped = { ...found, argv: ['/bin/sh', '-c', reporting, 'sh', ...found.argv] as const };
  const { output, hidden } = await runCommand(wrapped, context, { timeoutMs: args.timeout_ms });
  const { how } = output;
  const [stdout, stderr] = [output.stdout.bytes.toString('utf8'), output.stderr.bytes.toString('utf8')];
  const said = redactEnd(stderr, 4000, context.redact);
  if (how.kind !== 'exited') throw new ToolFailure('EXECUTION_ERROR', `The tests were ended by ${how.signal}. ${said}`);
  const tests = testRunners[found.name].read(found.name === 'unittest' ? stderr : stdout);
  if (tests === undefined) {
    const told = cutText(redactEnd(stderr, 1000, context.redact), 1000).trim();
    throw new ToolFailure(
      'EXECUTION_ERROR',
      `${found.name} ended with exit code ${how.code} and without a report: ${told}`,
    );
  }
  const count = (status: TestCase['status']): number => tests.filter((each) => each.status === status).length;
  const order = { failed: 0, passed: 1, skipped: 2 };
  const sorted = tests.toSorted((a, b) => order[a.status] - order[b.status]);
  return {
    runner: found.name,
    ok: how.code === 0,
    exit_code: how.code,
    ...{ passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    tests: sorted.slice(0, mostShown).map(({ file, message, ...each }) => ({
      ...each,
      ...(typeof file === 'string' ? { file: isAbsolute(file) ? relative(found.folder, file) : file } : {}),
      ...(typeof message === 'string' ? { message: context.redact(message) } : {}),
    })),
    output: said,
    truncated: tests.length > mostShown,
    hidden,
  };
}

function findRunner({ runner, files, name }: TestArguments, project: Project): ProjectCommand<RunnerName> {
  const wanted = runner === 'auto' ? runnerNames : [runner];
  for (const each of wanted) {
    const { find, byName } = testRunners[each];
    const command = find(project, report);
    if (command === undefined || (files.length > 0 && each === 'unittest')) continue;
    const named = files.map((file) => parsePath(file, project.folder).path);
    const argv = [...command, ...(name === undefined ? [] : byName(name)), ...named] as const;
    return { name: each, argv: [argv[0] ?? '', ...argv.slice(1)], folder: project.folder };
  }
  throw noneFound('test runner', wanted);
}
