import { factsOf } from '@sallyport/contract/facts-of';
import type { GrantLeaseResponseJson, InJson, ListLeasesResponse, RevokeLeaseResponse } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { count, list, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printFields } from '../../terminal/table.ts';

const session = { sessionId: word('session-id') };

export const leaseCommands = [
  operatorCommand('grant', {
    help: 'give a session a new lease; its old lease ends for good',
    arguments: session,
    options: {
      tools: list('patterns', 'tools, such as files.*'),
      paths: list('folders', 'absolute folders and files', { completes: 'files' }),
      hosts: list('patterns', 'hosts'),
      commands: list('names', 'programs'),
      gitOperations: list('names', 'such as DIFF or PUSH'),
      providers: list('names', 'providers of inference'),
      models: list('names', 'models for inference'),
      expiresInMinutes: count('when the lease expires'),
      maxCalls: count('how many calls'),
      maxActiveSeconds: count('how long calls may run, added up'),
      maxTokens: count('how many tokens of language models'),
      maxCostMicros: count('what calls may cost, in millionths'),
    },
    tool: 'leases.grant',
    print: ({ lease = {} }: GrantLeaseResponseJson, context) => {
      context.terminal.print('The session has a new lease. The one it had has ended for good.', '');
      showFields(lease, context);
    },
  }),
  operatorCommand('show', {
    help: 'show the leases of a session',
    arguments: session,
    tool: 'leases.show',
    print: ({ leases }: InJson<ListLeasesResponse>, context) => {
      for (const [at, lease] of leases.entries()) {
        if (at > 0) context.terminal.print('');
        showFields(lease, context);
      }
    },
  }),
  operatorCommand('revoke', {
    help: 'end the lease of a session for good',
    arguments: session,
    tool: 'leases.revoke',
    print: ({ revoked }: InJson<RevokeLeaseResponse>, { terminal }) => {
      if (!revoked) throw usageFailure('The session has no lease in force.', 'See `lease show`.');
      terminal.print('The lease has ended for good. The session can call nothing until it gets another.');
    },
  }),
];

/** One line a field that says something. */
export function showFields(message: object, { terminal }: CommandContext): void {
  printFields(terminal, factsOf(message, formatTime));
}
