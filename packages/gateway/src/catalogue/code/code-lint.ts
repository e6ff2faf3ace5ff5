import { isAbsolute, relative } from 'node:path';
import { attempt, spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { redactEnd } from '../../call/redacted.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool } from '../define-tool.ts';
import { linterNames, linters } from './linters.ts';
import type { LinterName, Problem } from './linters.ts';
import type { Project } from './find-project.ts';
import { claimProject, findCommand, noneFound, runCommand, showCommand } from './project-command.ts';
import type { ProjectCommand } from './project-command.ts';
import * as schema from '../../registry/schemas/schema.ts';

const maxTimeoutMs = 600_000;
const marginMs = 10_000;

const inputSchema = schema.object({
  path: schema.path('The folder of the project.', { default: '.' }),
  linter: schema.choice(
    'Which linter to run. auto: the first of these that the project uses.',
    ['auto', ...linterNames],
    { default: 'auto' },
  ),
  files: schema.array(
    'Files and folders to look at, from the folder of the project. Empty: all of it.',
    { type: 'string', minLength: 1, maxLength: 4096 },
    { maxItems: 200, default: [] },
  ),
  max_problems: schema.integer('The most problems.', { minimum: 1, maximum: 5000, default: 200 }),
  timeout_ms: schema.integer('After this time the linter is ended.', {
    minimum: 1000,
    maximum: maxTimeoutMs,
    default: 120_000,
  }),
});
type LintArguments = schema.ValueOf<typeof inputSchema>;

export function codeLint(): AnyTool {
  return defineTool({
    name: 'code.lint',
    aliases: ['run_linter'],
    description:
      "Run the project's own linter (oxlint, Biome, ESLint, Ruff, Flake8 or the TypeScript compiler) and get its problems with file, line and rule. It runs in a sandbox in which it can change nothing.",
    tags: ['code'],
    risk: 'low',
    scopes: ['paths', 'commands'],
    requiresSandbox: true,
    timeoutMs: maxTimeoutMs + marginMs,
    timeoutMsFor: ({ timeout_ms: timeoutMs }) => timeoutMs + marginMs,
    pathArguments: ['path'],
    inputSchema,
    outputSchema: schema.object({
      linter: schema.choice('The linter that ran.', linterNames),
      ok: schema.boolean('Whether it found no problem that counts for its exit code.'),
      exit_code: schema.integer('Its exit code.'),
      problems: schema.array(
        'What it found.',
        schema.object(
          {
            file: schema.string('From the folder of the project. Absent: it is about no file.'),
            line: schema.integer('Absent: the whole file.', { minimum: 1 }),
            column: schema.integer('Absent: the whole line.', { minimum: 1 }),
            rule: schema.string('The rule of the linter. Absent: none, such as for wrong syntax.'),
            severity: schema.choice('As the linter says.', ['error', 'warning']),
            message: schema.string('What is wrong.'),
          },
          { optional: ['file', 'line', 'column', 'rule'] },
        ),
      ),
      truncated: schema.boolean('Whether there are more problems.'),
      hidden: schema.count('How many files and folders the rules hid from it.'),
    }),
    claim: (args, session) => claimProject(args.path, session, (project) => findLinter(args, project)),
    preview: (args, context) => {
      const found = findCommand(args.path, context, (project) => findLinter(args, project));
      return showCommand(found, context, args.timeout_ms);
    },
    run: async (args, context) => {
      const found = findCommand(args.path, context, (project) => findLinter(args, project));
      const { output, hidden } = await runCommand(found, context, { timeoutMs: args.timeout_ms });
      const { how, stdout, stderr } = output;
      const said = (): string =>
        redactEnd(`${stdout.bytes.toString('utf8')}\n${stderr.bytes.toString('utf8')}`, 1000, context.redact);
      if (how.kind !== 'exited')
        throw new ToolFailure('EXECUTION_ERROR', `The linter was ended by ${how.signal}. ${said()}`);
      const problems = readProblems(found, stdout.bytes.toString('utf8'));
      // A linter that says neither "all is well" nor what is wrong did not work.
      if (problems === undefined || (how.code !== 0 && problems.length === 0)) {
        throw new ToolFailure('EXECUTION_ERROR', `${found.name} ended with exit code ${how.code}: ${said().trim()}`);
      }
      return {
        linter: found.name,
        ok: how.code === 0,
        exit_code: how.code,
        problems: problems
          .slice(0, args.max_problems)
          .map((each) => ({ ...each, message: context.redact(each.message) })),
        truncated: problems.length > args.max_problems,
        hidden,
      };
    },
    summarize: (_, { linter, problems }) => `${linter}: ${spellCount(problems.length, 'problem')}`,
  });
}

function findLinter({ linter, files }: LintArguments, project: Project): ProjectCommand<LinterName> {
  const wanted = linter === 'auto' ? linterNames : [linter];
  for (const name of wanted) {
    const { find, beforeFiles, everything } = linters[name];
    const command = find(project);
    if (command === undefined || (files.length > 0 && beforeFiles === undefined)) continue;
    // Absolute, so that none is taken for an option.
    const named = files.map((file) => parsePath(file, project.folder).path);
    const rest = named.length === 0 ? everything : [...(beforeFiles ?? []), ...named];
    return { name, argv: [...command, ...rest], folder: project.folder };
  }
  throw noneFound('linter', wanted);
}

function readProblems({ name, folder }: ProjectCommand<LinterName>, stdout: string): readonly Problem[] | undefined {
  return attempt(() =>
    linters[name].read(stdout).map((each) => ({
      ...each,
      ...fileFrom(folder, each['file']),
    })),
  );
}

function fileFrom(folder: string, file: string | number | undefined): { readonly file?: string } {
  if (typeof file !== 'string') return {};
  return { file: isAbsolute(file) ? relative(folder, file) : file };
}
