import { resolve } from 'node:path';
import type {
  CreateSessionResponse,
  GetSessionResponseJson,
  InJson,
  ListSessionsResponse,
  TerminateSessionResponse,
} from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { count, file, flag, list, text, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { showFields } from './lease.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { printFields, printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export const sessionCommands = [
  operatorCommand('create', {
    help: 'open a session for an agent and print its token',
    arguments: { agent: word('agent') },
    options: {
      tools: list('patterns', 'tools the session may use, such as files.*'),
      expiresInMinutes: count('when the session expires'),
      maxCalls: count('how many calls it may make'),
      maxTokens: count('how many tokens of language models it may use'),
      maxCostMicros: count('what its calls may cost, in millionths of your currency'),
      workspace: text('folder', 'where it works: an accepted folder (default: the one around this folder)'),
      workingDirectory: file('folder', 'where its relative paths start'),
      callback: text('url', 'an address that is told the decision about each waiting call'),
    },
    tool: 'sessions.create',
    input: (given, { config: { startFolder } }) => ({
      agent: given.agent,
      expires_in_minutes: given.expiresInMinutes,
      max_calls: given.maxCalls,
      max_tokens: given.maxTokens,
      max_cost_micros: given.maxCostMicros,
      tools: given.tools,
      workspace: given.workspace && resolve(startFolder, given.workspace),
      client_folder: startFolder,
      working_directory: given.workingDirectory,
      callback_url: given.callback,
    }),
    print: (created: InJson<CreateSessionResponse>, context, { agent, callback = '' }) =>
      showCreated(created, agent, callback, context),
  }),
  operatorCommand('list', {
    help: 'list the open sessions',
    options: { all: flag('also list sessions that have ended') },
    tool: 'sessions.list',
    input: ({ all = false }) => ({ include_ended: all }),
    print: showList,
  }),
  operatorCommand('show', {
    help: 'show one session, what it spent and its lease',
    arguments: { sessionId: word('session-id') },
    tool: 'sessions.show',
    print: ({ session = {}, lease = {} }: GetSessionResponseJson, context) => {
      // It is shown by itself.
      showFields(Object.fromEntries(Object.entries(session).filter(([field]) => field !== 'lease')), context);
      context.terminal.print('', 'Lease');
      showFields(lease, context);
    },
  }),
  operatorCommand('end', {
    help: 'end a session for good, with its running calls',
    arguments: { sessionId: word('session-id') },
    tool: 'sessions.end',
    print: ({ ended }: InJson<TerminateSessionResponse>, { terminal }, { sessionId }) => {
      if (!ended) throw usageFailure(`No open session has the id ${sessionId}.`, '`session list` shows the open ones.');
      terminal.print('The session and its running calls have ended. Its token no longer works.');
    },
  }),
];

async function showCreated(
  { sessionId, token, workspace, expiresAtMs, callbackSecret }: InJson<CreateSessionResponse>,
  agent: string,
  callback: string,
  { openOperatorClient, terminal, commandName }: CommandContext,
): Promise<void> {
  const { address, agentSocket } = await openOperatorClient().call('OperatorService/GetStatus', {});
  const { print, paint } = terminal;
  print(
    `Session for ${paint('bold', makeVisibleLine(agent))}. The token is shown this once:`,
    '',
    `  ${makeVisibleLine(token)}`,
    '',
  );
  printFields(terminal, [
    ['address', address],
    ['socket', agentSocket],
    ['session', sessionId],
    ['workspace', workspace],
    ['expires', expiresAtMs === undefined ? 'never; end it with `session end`' : formatTime(Number(expiresAtMs))],
  ]);
  if (callbackSecret !== '') {
    const told = `${makeVisibleLine(callback)} is told of decisions, signed with a secret that is shown this once:`;
    print('', told, '', `  ${makeVisibleLine(callbackSecret)}`);
  }
  print(
    '',
    'The agent sends the token as `authorization: Bearer TOKEN`. To try what it may do:',
    `  SALLYPORT_TOKEN=${makeVisibleLine(token)} ${commandName} tool list`,
  );
}

function showList({ sessions }: InJson<ListSessionsResponse>, { terminal, commandName }: CommandContext): void {
  if (sessions.length === 0) {
    return terminal.print(`No session is open. Create one: ${commandName} session create NAME`);
  }
  const ids = shortenIds(sessions.map(({ sessionId }) => sessionId));
  const columns: [string, (session: (typeof sessions)[number]) => string][] = [
    ['SESSION', ({ sessionId }) => ids.get(sessionId) ?? ''],
    ['AGENT', ({ agent }) => agent],
    ['STATUS', ({ status }) => status],
    ['CALLS', ({ spent, budget }) => [spent?.calls ?? '0', budget?.maxCalls ?? []].flat().join(' of ')],
    ['EXPIRES', ({ expiresAtMs }) => (expiresAtMs === undefined ? 'never' : formatTime(Number(expiresAtMs)))],
    ['CALLBACK', ({ callbackUrl }) => (callbackUrl === '' ? '' : 'yes')],
    ['TOOLS', ({ tools }) => tools.join(' ')],
    ['WORKSPACE', ({ workspace }) => workspace],
  ];
  // Few sessions have one, and the table has to fit into a terminal.
  const hasCallbacks = sessions.some(({ callbackUrl }) => callbackUrl !== '');
  const hasWorkspaces = new Set(sessions.map(({ workspace }) => workspace)).size > 1;
  const shown = columns.filter(([name]) =>
    name === 'CALLBACK' ? hasCallbacks : name !== 'WORKSPACE' || hasWorkspaces,
  );
  printTable(
    terminal,
    shown.map(([name]) => name),
    sessions.map((session) => shown.map(([, read]) => read(session))),
  );
}
