import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { describeLimits } from '../../programs/run/describe-limits.ts';
import { attendTo } from '../../programs/run/attend-to.ts';
import { unattended, viewFor } from '../../programs/run/mounts-for.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import type { ProgramRunOptions } from '../../programs/run/run-program.ts';
import { defaultProgramLimits, isWithin } from '@sallyport/sandbox';
import type { Mount, Program } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { modesOutsideLockdown } from '../../call/session.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import { judgeFirst } from '../files/tree/judge-first.ts';
import { withDeadline } from './with-deadline.ts';
import { inlineBytes, outputSchema, presentOutput, presentWithheld, withheldProperties } from './present-output.ts';
import type { PresentedOutput } from './present-output.ts';
import { planCommand } from './shell-command.ts';
import { shellEnvironment } from './shell-environment.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface ShellArguments {
  readonly argv?: readonly string[];
  readonly command?: string;
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly network_access: boolean;
  readonly timeout_ms: number;
}

const maxTimeoutMs = 3_600_000;
/** Where a program runs that may see no folder at all. The sandbox has one of its own there. */
const anywhere = '/tmp';

// That there is either argv or command is checked by the tool: clients of language models take no such schema.
const inputSchema = schema.object(
  {
    argv: schema.array(
      'The program and its arguments; nothing in them is expanded. Prefer this to command.',
      { type: 'string', maxLength: 32_768 },
      { minItems: 1, maxItems: 1000 },
    ),
    command: schema.string(
      'A command line of plain words: quotes, |, &&, ||, ;, < and > work; variables, patterns, substitutions, assignments and keywords are refused.',
      { minLength: 1, maxLength: 1_048_576 },
    ),
    cwd: schema.path('The folder to run in.'),
    env: {
      type: 'object',
      maxProperties: 1000,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
      additionalProperties: { type: 'string', maxLength: 32_768 },
      default: {},
      description: 'Environment variables to set. The rules decide which ones the caller may set.',
    },
    stdin: schema.string('What the program reads from standard input.', { maxLength: 8_388_608, default: '' }),
    network_access: schema.flag(
      'Whether the program needs the network. It reaches only the hosts that the rules grant.',
    ),
    timeout_ms: schema.integer('After this time the program and everything it started are killed.', {
      minimum: 1,
      maximum: maxTimeoutMs,
      default: 30_000,
    }),
  },
  { optional: ['argv', 'command', 'cwd'] },
);

export const shellRun: AnyTool = {
  definition: {
    name: 'shell.run',
    aliases: ['run_command', 'execute_command', 'shell.exec', 'execute_shell_command'],
    version: '1.0.0',
    description:
      'Run a program in a sandbox that sees only the folders and hosts that the rules grant. An exit code other than 0 is a result, not an error of the call.',
    tags: ['shell', 'write'],
    category: 'system_write',
    inputSchema,
    outputSchema: outputSchema(withheldProperties),
    risk: 'high',
    confirmation: 'always',
    mutates: true,
    scopes: ['paths', 'commands', 'network'],
    allowedModes: modesOutsideLockdown,
    requiresApproval: true,
    requiresSandbox: true,
    timeoutMs: maxTimeoutMs,
    idempotent: false,
    audience: 'everyone',
    pathArguments: ['cwd'],
    examples: [{ argv: ['npm', 'test'] }, { command: 'sort names.txt | uniq' }],
  },
  claim: (args, session) => {
    const given = read(args);
    const cwd = parsePath(given.cwd ?? '.', session.workingDirectory).path;
    const { commands, paths } = planCommand(given, cwd);
    return { paths: [{ path: cwd, access: 'read' }, ...paths], commands };
  },
  preview: async (args, context) => {
    const given = read(args);
    const cwd = parsePath(given.cwd ?? '.', context.workingDirectory).path;
    const { commands, text } = planCommand(given, cwd);
    const { read: readable, write: writable, isolation } = context.grants;
    const environment = Object.entries(given.env).map(([name, value]) => `${name}=${value}`);
    shellEnvironment(given.env, context);
    await judgeFirst(async () => {
      return isolation === 'none' ? '' : chooseFolder(given, cwd, (await viewFor(context)).mounts);
    });
    const lines = [
      ...commands.map((command) => `runs: ${command}`),
      `in: ${cwd}`,
      ...environment.map((variable) => `with: ${variable}`),
      ...(given.stdin === '' ? [] : ['reads:', ...given.stdin.split('\n').map((line) => `  | ${line}`)]),
      ...readable.map((path) => `may read: ${path}`),
      ...writable.map((path) => `may change: ${path}`),
      ...hostsFor(given, context).map((host) => `may reach: ${host}`),
      ...(isolation === 'none' ? ['WITHOUT a sandbox: it can do whatever the daemon can'] : []),
      `at most: ${describeLimits(context.grants.limits, given.timeout_ms)}`,
      'What it will read and change in there is not known beforehand.',
    ];
    return {
      summary: makeVisibleLine(`Run ${text}`),
      detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join(''),
      undoable: false,
    };
  },
  run: async (args, context) => {
    const given = read(args);
    const cwd = parsePath(given.cwd ?? '.', context.workingDirectory).path;
    const { argv } = planCommand(given, cwd);
    return runCommand({ ...given, argv, hosts: hostsFor(given, context) }, cwd, context);
  },
  summarize: (_, output) => {
    const { exit_code: code, stdout, stderr } = output as PresentedOutput;
    return `exit code ${code}, ${spellCount(stdout.length, 'character')} of output, ${stderr.length} of errors`;
  },
};

/** What a program is started with. */
export interface PlannedCommand extends Pick<ShellArguments, 'cwd' | 'env' | 'stdin' | 'timeout_ms'> {
  readonly argv: Program['argv'];
  readonly hosts: readonly string[];
}

/** Runs a program with what the rules grant the call. */
export function runCommand(
  given: PlannedCommand,
  cwd: string,
  context: ToolContext,
  options: Pick<ProgramRunOptions, 'reportsStdout'> = {},
): Promise<PresentedOutput> {
  const environment = shellEnvironment(given.env, context);
  const { isolation, limits } = context.grants;
  return withDeadline(given.timeout_ms, context, async (timed) => {
    const view = isolation === 'none' ? unattended : await viewFor(timed);
    const program = {
      argv: given.argv,
      environment,
      workingDirectory: isolation === 'none' ? cwd : chooseFolder(given, cwd, view.mounts),
      stdin: Buffer.from(given.stdin),
      mounts: view.mounts,
      hosts: given.hosts,
      limits: { ...defaultProgramLimits, ...limits },
      isolation,
    };
    const run = () => runProgram(program, timed, { inlineBytes, ...options });
    const { value: output, withheld } = await attendTo(view, context, run);
    return { ...presentOutput(output), ...presentWithheld(withheld) };
  });
}

/** The gate passes only arguments that fit the input schema. */
function read(args: JsonObject): ShellArguments {
  return args as unknown as ShellArguments;
}

function hostsFor(given: ShellArguments, { grants }: ToolContext): readonly string[] {
  if (!given.network_access) return [];
  if (grants.hosts.length > 0) return grants.hosts;
  throw new ToolRefused(
    refuse('NO_RULE_ALLOWS', 'network', 'The command asks for the network, and no rule grants it a host.', {
      remedy: 'Leave network_access out.',
      forOperators: 'Leave network_access out, or name hosts under grants of the rule.',
    }),
  );
}

/** A folder that was named must be visible; the usual one need not be. */
function chooseFolder(given: Pick<ShellArguments, 'cwd'>, cwd: string, mounts: readonly Mount[]): string {
  if (mounts.some(({ target }) => isWithin(target, cwd))) return cwd;
  if (given.cwd === undefined) return anywhere;
  throw new ToolRefused(
    refuse('NO_RULE_ALLOWS', 'cwd', `The rules do not let the program see ${given.cwd}.`, {
      remedy: 'Run it in another folder.',
      forOperators: 'Run it in another folder, or grant this one in the rule.',
    }),
  );
}
