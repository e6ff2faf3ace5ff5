import type { ConfirmToken, InJson } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface ConfirmIssueOptions {
  readonly session: string;
  readonly trace: string;
  readonly input?: string;
  readonly inputFile?: string;
  readonly ttlSeconds?: number;
  readonly reusable?: boolean;
}

/** A token for one call, which is written as for `tool invoke`. The effect is shown and asked about first. */
export async function issueToken(
  tool: string,
  pairs: readonly string[],
  options: ConfirmIssueOptions,
  context: CommandContext,
): Promise<number> {
  const { session, trace, ttlSeconds, reusable, input, inputFile } = options;
  const given = { ...(input === undefined ? {} : { input }), ...(inputFile === undefined ? {} : { inputFile }) };
  const text = await readInputFor(tool, { pairs, ...given }, context);
  const args = {
    session_id: session,
    trace_id: trace,
    calls: [{ tool, arguments: parseArguments(text) }],
    ttl_seconds: ttlSeconds,
    reusable,
  };
  return runOperatorTool('confirm.issue', args, context, (issued: InJson<ConfirmToken>) => {
    context.terminal.print(
      `The token is good until ${formatTime(Number(issued.expiresAtMs))}${reusable === true ? '' : ', once'}:`,
      '',
      `  ${makeVisibleLine(issued.confirmToken)}`,
      '',
      'The agent sends it as confirm_token, in this trace. To take it back:',
      `  ${context.commandName} confirm revoke ${makeVisibleLine(issued.tokenId)}`,
    );
  });
}

export function revokeToken(id: string, context: CommandContext): Promise<number> {
  return runOperatorTool('confirm.revoke', { token_id: id }, context, () => {
    context.terminal.print('Revoked. No call can use it any more.');
  });
}

export function rotateKey(options: { readonly revokeAll?: boolean }, context: CommandContext): Promise<number> {
  const all = options.revokeAll ?? false;
  return runOperatorTool('confirm.rotate_key', { revoke_all: all }, context, () => {
    context.terminal.print(
      all ? 'A new key signs. No token from before is accepted.' : 'A new key signs. Tokens from before stay good.',
    );
  });
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageFailure('The input is not JSON.');
  }
}
