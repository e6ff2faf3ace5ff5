import { isAbsolute, relative } from 'node:path';
import { spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { redactEnd } from '../../call/redacted.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { defineTool } from '../define-tool.ts';
import { objectSchema, pathSchema } from '../files/define-file-tool.ts';
import { linterNames, linters } from './linters.ts';
import type { LinterName, Problem } from './linters.ts';
import type { Project } from './find-project.ts';
import { claimProject, findCommand, noneFound, runCommand, showCommand } from './project-command.ts';
import type { ProjectCommand } from './project-command.ts';

interface LintArguments {
  readonly path: string;
  readonly linter: LinterName | 'auto';
  readonly files: readonly string[];
  readonly max_problems: number;
  readonly timeout_ms: number;
}

const maxTimeoutMs = 600_000;
const marginMs = 10_000;

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
    timeoutMsFor: ({ timeout_ms: timeoutMs }: LintArguments) => timeoutMs + marginMs,
    pathArguments: ['path'],
    inputSchema: objectSchema({
      path: pathSchema('The folder of the project.', { default: '.' }),
      linter: {
        type: 'string',
        enum: ['auto', ...linterNames],
        default: 'auto',
        description: 'Which linter to run. auto: the first of these that the project uses.',
      },
      files: {
        type: 'array',
        maxItems: 200,
        items: { type: 'string', minLength: 1, maxLength: 4096 },
        default: [],
        description: 'Files and folders to look at, from the folder of the project. Empty: all of it.',
      },
      max_problems: { type: 'integer', minimum: 1, maximum: 5000, default: 200, description: 'The most problems.' },
      timeout_ms: {
        type: 'integer',
        minimum: 1000,
        maximum: maxTimeoutMs,
        default: 120_000,
        description: 'After this time the linter is ended.',
      },
    }),
    outputSchema: objectSchema({
      linter: { type: 'string', enum: linterNames, description: 'The linter that ran.' },
      ok: { type: 'boolean', description: 'Whether it found no problem that counts for its exit code.' },
      exit_code: { type: 'integer', description: 'Its exit code.' },
      problems: {
        type: 'array',
        description: 'What it found.',
        items: objectSchema(
          {
            file: { type: 'string', description: 'From the folder of the project. Absent: it is about no file.' },
            line: { type: 'integer', minimum: 1, description: 'Absent: the whole file.' },
            column: { type: 'integer', minimum: 1, description: 'Absent: the whole line.' },
            rule: { type: 'string', description: 'The rule of the linter. Absent: none, such as for wrong syntax.' },
            severity: { type: 'string', enum: ['error', 'warning'], description: 'As the linter says.' },
            message: { type: 'string', description: 'What is wrong.' },
          },
          { optional: ['file', 'line', 'column', 'rule'] },
        ),
      },
      truncated: { type: 'boolean', description: 'Whether there are more problems.' },
      hidden: { type: 'integer', minimum: 0, description: 'How many files and folders the rules hid from it.' },
    }),
    claim: (args: LintArguments, session) => claimProject(args.path, session, (project) => findLinter(args, project)),
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
  try {
    return linters[name].read(stdout).map((each) => ({
      ...each,
      ...fileFrom(folder, each['file']),
    }));
  } catch {
    return undefined;
  }
}

function fileFrom(folder: string, file: string | number | undefined): { readonly file?: string } {
  if (typeof file !== 'string') return {};
  return { file: isAbsolute(file) ? relative(folder, file) : file };
}
