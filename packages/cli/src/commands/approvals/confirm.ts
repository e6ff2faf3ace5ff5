import type { ConfirmToken, InJson } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { command, file, flag, required, text, word, words } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { countFromOne } from './approvals.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

const issueArguments = { tool: word('tool'), pairs: words('key=value', { completes: 'tool-argument' }) };
const issueOptions = {
  session: required(text('session-id', 'who may make the call')),
  trace: required(text('trace-id', 'the trace id that the call will have: 32 hexadecimal digits')),
  input: text('json', 'the arguments as one JSON object'),
  inputFile: file('file', 'the same from a file, or - for standard input'),
  ttlSeconds: countFromOne('how long the token is valid; 60 by default'),
  reusable: flag('allow any number of uses'),
};

export const confirmCommands = [
  command('issue', {
    help: 'make a token for a call; its effect is shown first',
    arguments: issueArguments,
    options: issueOptions,
    run: issueToken,
  }),
  operatorCommand('revoke', {
    help: 'revoke a token; for the token of a plan, give the id of the plan',
    arguments: { tokenId: word('token-id') },
    tool: 'confirm.revoke',
    print: (_, { terminal }) => terminal.print('Revoked. No call can use it any more.'),
  }),
  operatorCommand('rotate', {
    help: 'sign with a new key',
    options: { revokeAll: flag('stop accepting all existing tokens') },
    tool: 'confirm.rotate_key',
    input: ({ revokeAll = false }) => ({ revoke_all: revokeAll }),
    print: (_, { terminal }, { revokeAll = false }) =>
      terminal.print(
        revokeAll
          ? 'Signing key rotated. Existing tokens are no longer accepted.'
          : 'Signing key rotated. Existing tokens stay valid.',
      ),
  }),
];

/** A token for one call, which is written as for `tool invoke`. The effect is shown and asked about first. */
async function issueToken(
  { tool, session, trace, ttlSeconds, reusable, ...given }: Given<typeof issueArguments, typeof issueOptions>,
  context: CommandContext,
): Promise<number> {
  const args = {
    session_id: session,
    trace_id: trace,
    calls: [{ tool, arguments: parseArguments(await readInputFor(tool, given, context)) }],
    ttl_seconds: ttlSeconds,
    reusable,
  };
  return runOperatorTool('confirm.issue', args, context, (issued: InJson<ConfirmToken>) => {
    context.terminal.print(
      `The token is valid until ${formatTime(Number(issued.expiresAtMs))}${reusable === true ? '' : ', for one use'}:`,
      '',
      `  ${makeVisibleLine(issued.confirmToken)}`,
      '',
      'The agent sends it as confirm_token, in this trace. To take it back:',
      `  ${context.commandName} confirm revoke ${makeVisibleLine(issued.tokenId)}`,
    );
  });
}

function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw usageFailure('The input is not JSON.');
  }
}
