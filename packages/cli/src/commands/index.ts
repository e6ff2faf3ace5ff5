import { startWriterAhead } from '@sallyport/gateway';
import {
  command,
  count,
  file,
  flag,
  group,
  list,
  optionalWord,
  text,
  withDefault,
  word,
  words,
} from '../command-table.ts';
import type { CommandGroup, CommandSpec } from '../command-table.ts';

/** What every command takes. */
export const globalOptions = {
  version: flag('print the version', { short: 'V' }),
  json: flag('print exactly one JSON object'),
  tokenFile: file('file', 'act as the agent whose token the file holds (or set SALLYPORT_TOKEN)'),
};

const shells = ['bash', 'zsh', 'fish'];

/** Every command, in the order of the help. A group has its commands in a file of its own. */
export const commandTable: readonly (CommandSpec | CommandGroup)[] = [
  command('up', {
    help: 'run the daemon in the foreground until Ctrl-C',
    run: async (_, context) => {
      startWriterAhead();
      return (await import('./daemon/up.ts')).runDaemon(context);
    },
  }),
  command('status', {
    help: 'show how the daemon is doing',
    run: async (_, context) => (await import('./daemon/status.ts')).showStatus(context),
  }),
  command('stop', {
    help: 'stop the daemon and all running calls, and wait until it has stopped',
    run: async (_, context) => (await import('./daemon/stop.ts')).stopDaemon(context),
  }),
  command('restart', {
    help: 'stop the daemon, and start the program as it is on disk now, in the background',
    run: async (_, context) => (await import('./daemon/restart.ts')).restartDaemon(context),
  }),
  command('logs', {
    help: "show the daemon's own log, or the events of calls",
    options: {
      calls: flag('the calls: when each started, completed, failed or was blocked'),
      lines: withDefault(count('how many lines', 'n'), 50),
      follow: flag('keep showing new lines', { short: 'f' }),
    },
    run: async (given, context) => (await import('./daemon/logs.ts')).showLogs(given, context),
  }),
  command('backup', {
    help: 'copy the whole gate into a file, while it runs: log, keys, rules, tools, secrets, content',
    arguments: { target: word('file', { completes: 'files' }) },
    run: async ({ target }, context) => (await import('./daemon/backup.ts')).backUp(target, context),
  }),
  command('restore', {
    help: 'restore a gate from a backup, into a new home',
    arguments: { source: word('file', { completes: 'files' }) },
    run: async ({ source }, context) => (await import('./daemon/backup.ts')).restore(source, context),
  }),
  group(
    'service',
    'run the daemon as a service, under your user or its own',
    async () => (await import('./service/service.ts')).serviceCommands,
  ),
  command('mcp', {
    help: 'serve MCP on standard input and output, for clients that start their servers; needs a session token',
    options: {
      start: flag('start a daemon if none is running'),
      client: text('name', 'act in the session that `init` opened for this client in the project'),
    },
    run: async (given, context) => (await import('./mcp/mcp.ts')).serveMcp(given, context),
  }),
  command('init', {
    help: 'put the gate in front of the coding agents of this machine: hooks, MCP servers, tokens',
    options: {
      client: list('name', 'only these, such as claude-code'),
      undo: flag('put their settings back as they were'),
      managed: flag('for every user of this machine, so that users cannot switch the hooks off (root only)'),
      yes: flag('agree without being asked, for scripts'),
    },
    run: async (given, context) => (await import('./clients/init.ts')).runInit(given, context),
  }),
  command('coverage', {
    help: 'show which coding agents come through the gate, and what went around it',
    options: { client: list('name', 'only these') },
    run: async (given, context) => (await import('./clients/coverage.ts')).showCoverage(given, context),
  }),
  command('connect', {
    help: 'print the settings for a client, to do by hand what `init` does',
    arguments: { client: word('client') },
    run: async ({ client }, context) => (await import('./clients/connect.ts')).showConnection(client, context),
  }),
  command('console', {
    help: 'print a link that opens the web console, once',
    run: async (_, context) => (await import('./daemon/console.ts')).showConsoleLink(context),
  }),
  command('doctor', {
    help: 'check what Sallyport needs on this machine, make calls through a running gate, and say what to do about problems',
    run: async (_, context) => (await import('./doctor/doctor.ts')).runDoctor(context),
  }),
  group(
    'tool',
    'see, call, write and install tools',
    async () => (await import('./tools/tool-commands.ts')).toolCommands,
  ),
  group(
    'upstream',
    'put MCP servers behind the gate',
    async () => (await import('./upstreams/upstream.ts')).upstreamCommands,
  ),
  group(
    'workspace',
    'manage the folders that sessions may work in',
    async () => (await import('./workspaces/workspace.ts')).workspaceCommands,
  ),
  group(
    'session',
    'manage the sessions of agents',
    async () => (await import('./sessions/session.ts')).sessionCommands,
  ),
  group('call', 'list, show and end calls', async () => (await import('./sessions/call.ts')).callCommands),
  command('undo', {
    help: 'undo what a call changed in files and git repositories; without a call, list the calls that can be undone',
    arguments: { callId: optionalWord('call-id') },
    options: {
      trace: text('trace-id', 'undo a whole run, the newest call first'),
      session: text('session-id', 'undo all calls of a session, the newest first'),
      dryRun: flag('show what would change, and what prevents it'),
      yes: flag('agree without being asked, for scripts'),
    },
    run: async (given, context) => (await import('./undo/undo.ts')).undo(given, context),
  }),
  command('why', {
    help: 'say which call wrote a file, or one line of it, and who approved that',
    arguments: { place: word('file[:line]', { completes: 'files' }) },
    run: async ({ place }, context) => (await import('./undo/why.ts')).explainFile(place, context),
  }),
  command('trace', {
    help: 'show a whole run: its calls and steps, who approved them, what they changed and reached',
    arguments: { id: word('trace-id, call-id or session-id') },
    run: async ({ id }, context) => (await import('./audit/trace-run.ts')).traceRun(id, context),
  }),
  group('lease', 'manage what sessions may use', async () => (await import('./sessions/lease.ts')).leaseCommands),
  group(
    'approvals',
    'decide about calls that wait for a person',
    async () => (await import('./approvals/approvals.ts')).approvalCommands,
  ),
  group(
    'plan',
    'decide about plans of agents: several calls at once',
    async () => (await import('./approvals/plan.ts')).planCommands,
  ),
  group(
    'confirm',
    'agree to a call beforehand, with a token',
    async () => (await import('./approvals/confirm.ts')).confirmCommands,
  ),
  group(
    'audit',
    'read and verify the log of all calls',
    async () => (await import('./audit/audit-commands.ts')).auditCommands,
  ),
  group(
    'content',
    'store and read bytes by their hash',
    async () => (await import('./content/content.ts')).contentCommands,
  ),
  group(
    'artifact',
    'publish content for good, and see what was published',
    async () => (await import('./content/artifact.ts')).artifactCommands,
  ),
  group(
    'secret',
    'keep secrets for tools; nothing shows them again',
    async () => (await import('./secrets/secret.ts')).secretCommands,
  ),
  group(
    'person',
    'manage the people who may run the gate, each with their own credential',
    async () => (await import('./organisation/person.ts')).personCommands,
  ),
  group('mode', 'see and change the mode of the gate', async () => (await import('./modes/mode.ts')).modeCommands),
  group(
    'anomalies',
    'see what was out of the ordinary in the calls of agents',
    async () => (await import('./anomalies/anomalies.ts')).anomalyCommands,
  ),
  group(
    'agent',
    'manage the agents of the organisation',
    async () => (await import('./organisation/organisation.ts')).agentCommands,
  ),
  group('team', 'manage the teams', async () => (await import('./organisation/organisation.ts')).teamCommands),
  group('role', 'manage who has which role', async () => (await import('./organisation/organisation.ts')).roleCommands),
  group('grant', 'grant and revoke tools', async () => (await import('./organisation/organisation.ts')).grantCommands),
  group(
    'policy',
    'understand, try and apply the rules',
    async () => (await import('./policy/policy.ts')).policyCommands,
  ),
  command('completion', {
    help: 'print a script that completes commands, options and tool names in your shell',
    arguments: { shell: word('shell', { choices: shells }) },
    more: [
      '',
      'Put it to use:',
      '  bash  sallyport completion bash > ~/.local/share/bash-completion/completions/sallyport',
      '  zsh   source <(sallyport completion zsh)',
      '  fish  sallyport completion fish > ~/.config/fish/completions/sallyport.fish',
    ].join('\n'),
    run: async ({ shell }, context) => (await import('./completion/complete.ts')).printScript(shell, context),
  }),
  command('complete', {
    help: 'print what could follow the words, one per line',
    arguments: { typed: words('words') },
    isHidden: true,
    run: async ({ typed }, context) => (await import('./completion/complete.ts')).complete(typed, context),
  }),
];
