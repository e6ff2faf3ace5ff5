import { Command } from 'commander';
import { version } from '@sallyport/gateway';
import { addApprovalCommands } from './commands/approvals/approval-commands.ts';
import type { CommandContext } from './command-context.ts';
import { addCompletionCommands } from './commands/completion/completion-commands.ts';
import { addContentCommands } from './commands/content/content-commands.ts';
import { parseCount } from './terminal/option-values.ts';
import { addPolicyCommands } from './commands/policy/policy-commands.ts';
import { addModeCommands } from './commands/modes/mode-commands.ts';
import { addOrganisationCommands } from './commands/organisation/organisation-commands.ts';
import { addPeopleCommands } from './commands/organisation/people-commands.ts';
import type { AuditTailOptions } from './commands/audit/audit-tail.ts';
import type { AuditVerifyOptions } from './commands/audit/audit-verify.ts';
import type { LeaseGrantOptions } from './commands/sessions/lease.ts';
import type { McpOptions } from './commands/mcp/mcp.ts';
import type { SessionCreateOptions } from './commands/sessions/session.ts';
import { addToolCommands } from './commands/tools/tool-commands.ts';
import { addUpstreamCommands } from './commands/upstreams/upstream-commands.ts';
import { addWorkspaceCommands } from './commands/workspaces/workspace-commands.ts';

export interface GlobalOptions {
  readonly json?: boolean;
  readonly tokenFile?: string;
}

/** Gives a command its context and keeps the exit code it returns. */
export type Run = (
  options: GlobalOptions,
  command: (context: CommandContext) => number | Promise<number>,
) => Promise<void>;

/** The commands. Each loads its own file when it is called, so that none waits for the others. */
export function buildProgram(run: Run, { json }: { readonly json: boolean }): Command {
  const program = new Command('sallyport')
    .description('The one gate between AI agents and their tools.')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print exactly one JSON object')
    .option('--token-file <file>', 'act as the agent whose token the file holds (or set SALLYPORT_TOKEN)')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help to see what is possible.')
    .exitOverride();
  program.configureOutput({
    outputError: (text, write) =>
      write(text.replace(/^error: (.)/, (_, first: string) => `Error  ${first.toUpperCase()}`)),
    // Scripts get errors as JSON on standard output, once.
    ...(json ? { writeErr: () => undefined } : {}),
  });
  const start = (command: Parameters<Run>[1]): Promise<void> => run(program.opts<GlobalOptions>(), command);

  program
    .command('up')
    .description('run the daemon in the foreground until Ctrl-C')
    .action(() => start(async (context) => (await import('./commands/daemon/up.ts')).runDaemon(context)));
  program
    .command('status')
    .description('show how the daemon is doing')
    .action(() => start(async (context) => (await import('./commands/daemon/status.ts')).showStatus(context)));
  program
    .command('stop')
    .description('stop the daemon and all running calls, and wait until it has stopped')
    .action(() => start(async (context) => (await import('./commands/daemon/stop.ts')).stopDaemon(context)));
  program
    .command('mcp')
    .description('serve MCP on standard input and output, for clients that start their servers; needs a session token')
    .option('--start', 'start a daemon if none is running')
    .action((options: McpOptions) =>
      start(async (context) => (await import('./commands/mcp/mcp.ts')).serveMcp(options, context)),
    );
  program
    .command('console')
    .description('print a link that opens the web console, once')
    .action(() => start(async (context) => (await import('./commands/daemon/console.ts')).showConsoleLink(context)));
  program
    .command('doctor')
    .description('check what Sallyport needs on this machine, and say how to install what is missing')
    .action(() => start(async (context) => (await import('./commands/doctor/doctor.ts')).runDoctor(context)));
  addToolCommands(program, start);
  addUpstreamCommands(program, start);
  addWorkspaceCommands(program, start);
  addSessionCommands(program, start);
  addCallCommands(program, start);
  addLeaseCommands(program, start);
  addApprovalCommands(program, start);
  addAuditCommands(program, start);
  addContentCommands(program, start);
  addPeopleCommands(program, start);
  addModeCommands(program, start);
  addOrganisationCommands(program, start);
  addPolicyCommands(program, start);
  addCompletionCommands(program, start);
  return program;
}

type Start = (command: Parameters<Run>[1]) => Promise<void>;

function addSessionCommands(program: Command, start: Start): void {
  const session = program.command('session').description('manage the sessions of agents');
  session
    .command('create <agent>')
    .description('open a session for an agent and print its token')
    .option('--tools <patterns...>', 'tools the session may use, such as files.*')
    .option('--expires-in-minutes <number>', 'when the session expires', parseCount)
    .option('--max-calls <number>', 'how many calls it may make', parseCount)
    .option('--workspace <folder>', 'where it works: an accepted folder (default: the one around this folder)')
    .option('--working-directory <folder>', 'where its relative paths start')
    .option('--callback <url>', 'an address that is told the decision about each waiting call')
    .action((agent: string, options: SessionCreateOptions) =>
      start(async (context) => (await import('./commands/sessions/session.ts')).createSession(agent, options, context)),
    );
  session
    .command('list')
    .description('list the open sessions')
    .option('--all', 'also list sessions that have ended')
    .action((options: { all?: boolean }) =>
      start(async (context) => (await import('./commands/sessions/session.ts')).listSessions(options, context)),
    );
  session
    .command('show <session-id>')
    .description('show one session, what it spent and its lease')
    .action((id: string) =>
      start(async (context) => (await import('./commands/sessions/session.ts')).showSession(id, context)),
    );
  session
    .command('end <session-id>')
    .description('end a session for good, with its running calls')
    .action((id: string) =>
      start(async (context) => (await import('./commands/sessions/session.ts')).endSession(id, context)),
    );
}

function addCallCommands(program: Command, start: Start): void {
  const call = program.command('call').description('list and end running calls');
  call
    .command('list')
    .description('list the calls that run or wait')
    .option('--session <session-id>', 'only calls of this session')
    .action((options: { session?: string }) =>
      start(async (context) => (await import('./commands/sessions/call.ts')).listCalls(options, context)),
    );
  call
    .command('cancel <call-id>')
    .description('end a call; its caller is told who ended it')
    .action((id: string) =>
      start(async (context) => (await import('./commands/sessions/call.ts')).cancelCall(id, context)),
    );
}

function addLeaseCommands(program: Command, start: Start): void {
  const lease = program.command('lease').description('manage what sessions may use');
  lease
    .command('grant <session-id>')
    .description('give a session a new lease; its old lease ends for good')
    .option('--tools <patterns...>', 'tools, such as files.*')
    .option('--paths <folders...>', 'absolute folders and files')
    .option('--hosts <patterns...>', 'hosts')
    .option('--commands <names...>', 'programs')
    .option('--git-operations <names...>', 'such as DIFF or PUSH')
    .option('--providers <names...>', 'providers of inference')
    .option('--models <names...>', 'models for inference')
    .option('--expires-in-minutes <number>', 'when the lease expires', parseCount)
    .option('--max-calls <number>', 'how many calls', parseCount)
    .option('--max-active-seconds <number>', 'how long calls may run, added up', parseCount)
    .option('--max-tokens <number>', 'how many tokens of language models', parseCount)
    .option('--max-cost-micros <number>', 'what calls may cost, in millionths', parseCount)
    .action((id: string, options: LeaseGrantOptions) =>
      start(async (context) => (await import('./commands/sessions/lease.ts')).grantLease(id, options, context)),
    );
  lease
    .command('show <session-id>')
    .description('show the leases of a session')
    .action((id: string) =>
      start(async (context) => (await import('./commands/sessions/lease.ts')).showLeases(id, context)),
    );
  lease
    .command('revoke <session-id>')
    .description('end the lease of a session for good')
    .action((id: string) =>
      start(async (context) => (await import('./commands/sessions/lease.ts')).revokeLease(id, context)),
    );
}

function addAuditCommands(program: Command, start: Start): void {
  const audit = program.command('audit').description('read and verify the log of all calls');
  audit
    .command('tail')
    .description('show the last records')
    .option('-n, --lines <number>', 'how many', parseCount, 20)
    .option('-f, --follow', 'keep showing new records')
    .action((options: AuditTailOptions) =>
      start(async (context) => (await import('./commands/audit/audit-tail.ts')).tailAudit(options, context)),
    );
  audit
    .command('show <call-or-record>')
    .description('show everything that is recorded about one call, or one record by its index')
    .action((which: string) =>
      start(async (context) => (await import('./commands/audit/audit-show.ts')).showAudit(which, context)),
    );
  audit
    .command('export <file>')
    .description('write the log into a file that can be verified without the gate')
    .action((file: string) =>
      start(async (context) => (await import('./commands/audit/audit-export.ts')).exportAudit(file, context)),
    );
  audit
    .command('verify')
    .description('check that nothing in the log was changed, removed or added')
    .option('--checkpoint <file>', 'also compare with a checkpoint kept elsewhere')
    .option('--key <verifier>', 'the public key of the log, or a file that holds it')
    .action((options: AuditVerifyOptions) =>
      start(async (context) => (await import('./commands/audit/audit-verify.ts')).verifyAudit(options, context)),
    );
}
