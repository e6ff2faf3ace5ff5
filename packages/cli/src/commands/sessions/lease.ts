import { factsOf } from '@sallyport/contract/facts-of';
import type { GrantLeaseResponseJson, InJson, ListLeasesResponse, RevokeLeaseResponse } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface LeaseGrantOptions {
  readonly tools?: readonly string[];
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  readonly commands?: readonly string[];
  readonly gitOperations?: readonly string[];
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
  readonly expiresInMinutes?: number;
  readonly maxCalls?: number;
  readonly maxActiveSeconds?: number;
  readonly maxTokens?: number;
  readonly maxCostMicros?: number;
}

export function grantLease(sessionId: string, options: LeaseGrantOptions, context: CommandContext): Promise<number> {
  const { expiresInMinutes, maxCalls, maxActiveSeconds, maxTokens, maxCostMicros, gitOperations, ...scope } = options;
  const input = {
    session_id: sessionId,
    ...scope,
    git_operations: gitOperations,
    expires_in_minutes: expiresInMinutes,
    max_calls: maxCalls,
    max_active_seconds: maxActiveSeconds,
    max_tokens: maxTokens,
    max_cost_micros: maxCostMicros,
  };
  return runOperatorTool('leases.grant', input, context, ({ lease = {} }: GrantLeaseResponseJson) => {
    context.terminal.print('The session has a new lease. The one it had has ended for good.', '');
    showFields(lease, context);
  });
}

export function showLeases(sessionId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'leases.show',
    { session_id: sessionId },
    context,
    ({ leases }: InJson<ListLeasesResponse>) => {
      for (const [at, lease] of leases.entries()) {
        if (at > 0) context.terminal.print('');
        showFields(lease, context);
      }
    },
  );
}

export function revokeLease(sessionId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'leases.revoke',
    { session_id: sessionId },
    context,
    ({ revoked }: InJson<RevokeLeaseResponse>) => {
      if (!revoked) throw usageFailure('The session has no lease in force.', 'See `lease show`.');
      context.terminal.print('The lease has ended for good. The session can call nothing until it gets another.');
    },
  );
}

/** One line a field that says something. */
export function showFields(message: object, { terminal }: CommandContext): void {
  const rows = factsOf(message, formatTime).map(([label, value]): [string, string] => [label, makeVisibleLine(value)]);
  terminal.print(...renderFields(rows, terminal.columns));
}
