import { resolve } from 'node:path';
import type {
  CreateSessionResponse,
  GetSessionResponseJson,
  InJson,
  ListSessionsResponse,
  TerminateSessionResponse,
} from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { showFields } from './lease.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { renderFields, renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface SessionCreateOptions {
  readonly expiresInMinutes?: number;
  readonly maxCalls?: number;
  readonly tools?: readonly string[];
  readonly workspace?: string;
  readonly workingDirectory?: string;
  readonly callback?: string;
}

export async function createSession(
  agent: string,
  options: SessionCreateOptions,
  context: CommandContext,
): Promise<number> {
  const client = context.openOperatorClient();
  const { expiresInMinutes, maxCalls, tools, workspace, workingDirectory, callback } = options;
  const { startFolder } = context.config;
  const input = {
    agent,
    expires_in_minutes: expiresInMinutes,
    max_calls: maxCalls,
    tools,
    workspace: workspace && resolve(startFolder, workspace),
    client_folder: startFolder,
    working_directory: workingDirectory,
    callback_url: callback,
  };
  return runOperatorTool('sessions.create', input, context, async (output: InJson<CreateSessionResponse>) => {
    const { sessionId, token, workspace: worksIn, expiresAtMs, callbackSecret } = output;
    const { address, agentSocket } = await client.call('OperatorService/GetStatus', {});
    context.terminal.print(
      `Session for ${context.terminal.paint('bold', makeVisibleLine(agent))}. The token is shown this once:`,
      '',
      `  ${makeVisibleLine(token)}`,
      '',
      ...renderFields(
        [
          ['address', address],
          ['socket', agentSocket],
          ['session', sessionId],
          ['workspace', worksIn],
          ['expires', expiresAtMs === undefined ? 'never; end it with `session end`' : formatTime(Number(expiresAtMs))],
        ].map(([label = '', value = '']) => [label, makeVisibleLine(value)]),
        context.terminal.columns,
      ),
      ...(callbackSecret === ''
        ? []
        : [
            '',
            `${makeVisibleLine(callback ?? '')} is told of decisions, signed with a secret that is shown this once:`,
            '',
            `  ${makeVisibleLine(callbackSecret)}`,
          ]),
      '',
      'The agent sends the token as `authorization: Bearer TOKEN`. To try what it may do:',
      `  SALLYPORT_TOKEN=${makeVisibleLine(token)} ${context.commandName} tool list`,
    );
  });
}

export function listSessions(options: { readonly all?: boolean }, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'sessions.list',
    { include_ended: options.all ?? false },
    context,
    ({ sessions }: InJson<ListSessionsResponse>) => {
      if (sessions.length === 0) {
        context.terminal.print(`No session is open. Create one: ${context.commandName} session create NAME`);
        return;
      }
      // Few sessions have one, and the table has to fit into a terminal.
      const showsCallbacks = sessions.some((session) => session.callbackUrl !== '');
      const showsWorkspaces = new Set(sessions.map(({ workspace }) => workspace)).size > 1;
      const ids = shortenIds(sessions.map((session) => session.sessionId));
      const rows = sessions.map((session) =>
        [
          ids.get(session.sessionId) ?? '',
          session.agent,
          session.status,
          [
            session.spent?.calls ?? '0',
            ...(session.budget?.maxCalls === undefined ? [] : [session.budget.maxCalls]),
          ].join(' of '),
          session.expiresAtMs === undefined ? 'never' : formatTime(Number(session.expiresAtMs)),
          ...(showsCallbacks ? [session.callbackUrl === '' ? '' : 'yes'] : []),
          session.tools.join(' '),
          ...(showsWorkspaces ? [session.workspace] : []),
        ].map(makeVisibleLine),
      );
      const { columns, paint, print } = context.terminal;
      const names = [
        'SESSION',
        'AGENT',
        'STATUS',
        'CALLS',
        'EXPIRES',
        ...(showsCallbacks ? ['CALLBACK'] : []),
        'TOOLS',
        ...(showsWorkspaces ? ['WORKSPACE'] : []),
      ];
      const [header = '', ...body] = renderTable([names, ...rows], columns);
      print(paint('dim', header), ...body);
    },
  );
}

export function showSession(sessionId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'sessions.show',
    { session_id: sessionId },
    context,
    ({ session = {}, lease = {} }: GetSessionResponseJson) => {
      showFields(session, context);
      context.terminal.print('', 'Lease');
      showFields(lease, context);
    },
  );
}

export function endSession(sessionId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'sessions.end',
    { session_id: sessionId },
    context,
    ({ ended }: InJson<TerminateSessionResponse>) => {
      if (!ended) throw usageFailure(`No open session has the id ${sessionId}.`, '`session list` shows the open ones.');
      context.terminal.print('The session and its running calls have ended. Its token no longer works.');
    },
  );
}
