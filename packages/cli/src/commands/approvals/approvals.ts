import { InvalidArgumentError } from 'commander';
import type {
  DecideApprovalResponse,
  GetApprovalResponse,
  InJson,
  ListApprovalsResponse,
  ListStandingApprovalsResponse,
  RevealedSecrets,
  RevokeStandingApprovalResponse,
} from '@sallyport/contract';
import { renderEffect, renderHead, titleOf } from './approval-card.ts';
import type { ShownApproval } from './approval-card.ts';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { choice, command, flag, parsed, text, word } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { confirmEffect } from '../../terminal/confirm-effect.ts';
import { declined, usageFailure } from '../../client/failure.ts';
import { formatDuration, formatTime } from '../../terminal/format-time.ts';
import { askReason, mustBeRevealed, renderRevealed, showMasked } from './reveal-masked.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { completeId, shortenIds } from '../../terminal/short-id.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine } from '../../terminal/visible-text.ts';

export const countFromOne = (help: string) =>
  parsed('number', help, (given) => {
    if (!/^[1-9]\d{0,6}$/.test(given)) throw new InvalidArgumentError('It must be a whole number from 1.');
    return Number(given);
  });

const task = { taskId: word('task-id') };
const showOptions = {
  reveal: flag('show the secrets that are masked in it; the log records that you looked, and why'),
  secret: countFromOne('show only this secret'),
  reason: text('text', 'why you look; without it you are asked'),
};
const approveOptions = {
  effectSha256: text(
    'hash',
    'approve the effect with this hash, which you have seen; without it the effect is shown first',
  ),
  runs: countFromOne('how many runs to approve; without it, as many as were shown, or one'),
  note: text('text', 'kept with the decision'),
  forSession: flag('also approve further calls of this tool by this session; not for high risk'),
  minutes: countFromOne('also approve further calls that touch the same things, for this long'),
  uses: countFromOne('how many further calls'),
};

export const approvalCommands = [
  operatorCommand('list', {
    help: 'list the calls that wait',
    options: {
      status: choice(
        'status',
        ['pending', 'approved', 'denied', 'expired', 'used', 'all'],
        'filter by status (default: pending)',
      ),
    },
    tool: 'approvals.list',
    input: ({ status = 'pending' }) => ({ status, limit: 200 }),
    print: (listed: InJson<ListApprovalsResponse>, context, { status = 'pending' }) =>
      showList(listed, status, context),
  }),
  command('show', {
    help: 'show one call and exactly what it would do',
    arguments: task,
    options: showOptions,
    run: (given, context) => (given.reveal === true ? revealSecrets(given, context) : showApproval(given, context)),
  }),
  command('approve', {
    help: 'let a call run; its effect is shown first',
    arguments: task,
    options: approveOptions,
    run: approveApproval,
  }),
  operatorCommand('deny', {
    help: 'stop a call',
    arguments: task,
    options: { note: text('text', 'tell the agent what to change') },
    tool: 'approvals.deny',
    print: ({ approval }: InJson<DecideApprovalResponse>, { terminal }, { note }) => {
      terminal.print(`${terminal.paint('red', 'Denied')}  ${nameCall(approval)}`);
      if (note !== undefined) terminal.print('The agent is told what you wrote.');
    },
  }),
  command('watch', {
    help: 'show calls as they come, and decide with one key',
    run: async (_, context) => (await import('./approvals-watch.ts')).watchApprovals(context),
  }),
  operatorCommand('standing', {
    help: 'list approvals that are valid for more than one call',
    tool: 'approvals.standing_list',
    print: ({ standing }: InJson<ListStandingApprovalsResponse>, { terminal }) => {
      if (standing.length === 0) return terminal.print('No standing approval is in force.');
      const ids = shortenIds(standing.map(({ id }) => id));
      const rows = standing.map(({ id, agent, tool, exactScope, usesLeft = 'any', expiresAtMs, grantedBy }) => [
        ids.get(id) ?? '',
        agent,
        `${tool}${exactScope ? ', one scope' : ''}`,
        String(usesLeft),
        formatTime(Number(expiresAtMs)),
        grantedBy,
      ]);
      printTable(terminal, ['STANDING', 'AGENT', 'TOOL', 'USES', 'EXPIRES', 'BY'], rows);
    },
  }),
  operatorCommand('revoke', {
    help: 'end one of these approvals',
    arguments: { standingId: word('standing-id') },
    tool: 'approvals.standing_revoke',
    print: ({ revoked }: InJson<RevokeStandingApprovalResponse>, { terminal }) => {
      if (!revoked) throw usageFailure('It is not in force any more.', 'See `approvals standing`.');
      terminal.print('Revoked. The next call asks again.');
    },
  }),
];

function showList(
  { approvals, more }: InJson<ListApprovalsResponse>,
  status: string,
  { terminal }: CommandContext,
): void {
  const isPending = status === 'pending';
  if (approvals.length === 0)
    return terminal.print(isPending ? 'Nothing waits for a decision.' : 'No call has this status.');
  const ids = shortenIds(approvals.map(({ id }) => id));
  const rows = approvals.map((each) => [
    ...[ids.get(each.id) ?? '', each.status, untilOf(each)],
    ...[each.agent, each.risk, `${each.tool}: ${titleOf(each)}`],
  ]);
  printTable(terminal, ['TASK', 'STATUS', 'LEFT', 'AGENT', 'RISK', 'CALL'], rows);
  if (!more) return;
  const rest = isPending ? '; decide about some to see the rest' : '';
  terminal.print('', `There are more. These are the ${approvals.length} newest${rest}.`);
}

function showApproval({ taskId }: { readonly taskId: string }, context: CommandContext): Promise<number> {
  const { terminal, commandName } = context;
  const input = { task_id: taskId };
  return runOperatorTool('approvals.show', input, context, ({ approval }: InJson<GetApprovalResponse>) => {
    const { print } = terminal;
    if (approval === undefined) return;
    print(...renderHead(approval, terminal), '', ...renderEffect(approval.effect, terminal));
    const { id, status, hold, masked, effectSha256, wanted } = approval;
    if (status !== 'pending') return;
    const deny = `${commandName} approvals deny ${id} --note 'what to change'`;
    // The card says why it cannot be approved.
    if (hold !== '') return print('', deny);
    const unseen = mustBeRevealed(masked).length;
    print(
      '',
      ...(unseen === 0 ? [] : [`${unseen} of what is masked must be revealed before you can approve it.`]),
      ...(masked.length === 0 ? [] : [`${commandName} approvals show ${id} --reveal`]),
      `${commandName} approvals approve ${id} --effect-sha256 ${effectSha256}${wanted > 1 ? ` --runs ${wanted}` : ''}`,
      deny,
    );
  });
}

/** What is masked in the effect. The gate asks before it shows it, and who looked and why is on record. */
async function revealSecrets(
  { taskId, reason, secret }: Given<typeof task, typeof showOptions>,
  context: CommandContext,
): Promise<number> {
  const input = { task_id: taskId, number: secret, reason: reason ?? (await askReason(context)) };
  return runOperatorTool('approvals.reveal', input, context, ({ revealed }: InJson<RevealedSecrets>) =>
    context.terminal.print(...renderRevealed(revealed, context.terminal)),
  );
}

/** A decision names the effect that was seen: here, or with `approvals show` before. */
async function approveApproval(
  { taskId: id, effectSha256, runs, note, forSession, minutes, uses }: Given<typeof task, typeof approveOptions>,
  context: CommandContext,
): Promise<number> {
  const taskId = await completeId('task_id', id, context);
  const standing = { for_session: forSession, minutes, uses };
  const hasStanding = Object.values(standing).some((value) => value !== undefined);
  let seen: Seen = { effect_sha256: effectSha256 ?? '', runs };
  if (effectSha256 === undefined) {
    const shown = await lookFirst(taskId, context);
    if (typeof shown === 'number') return shown;
    seen = { ...shown, runs: runs ?? shown.runs };
  }
  const input = { task_id: taskId, ...seen, note, standing: hasStanding ? standing : undefined };
  return runOperatorTool(
    'approvals.approve',
    input,
    context,
    ({ approval, standingId }: InJson<DecideApprovalResponse>) => {
      const { print, paint } = context.terminal;
      print(`${paint('green', 'Approved')}  ${nameCall(approval)}`);
      if (standingId !== '') {
        print('Calls like it run without a question. To end that:');
        print(`  ${context.commandName} approvals revoke ${makeVisibleLine(standingId)}`);
      }
    },
  );
}

/** What a decision names of the card. */
interface Seen {
  readonly effect_sha256: string;
  readonly runs: number | undefined;
}

/** What a person at this terminal looked at and agreed to, or the exit code. */
async function lookFirst(id: string, context: CommandContext): Promise<Seen | number> {
  const { terminal } = context;
  if (context.json || !terminal.interactive) {
    throw usageFailure(
      'Nobody is at this terminal to look at the effect.',
      `Name the effect that was seen: --effect-sha256, as \`approvals show ${makeVisibleLine(id)}\` prints it.`,
    );
  }
  const client = context.openOperatorClient();
  const answer = await client.executeTool({ name: 'approvals.show', inputJson: JSON.stringify({ task_id: id }) });
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  const { approval } = outputOf(answer) as InJson<GetApprovalResponse>;
  if (approval === undefined) return showAnswer(answer, context);
  terminal.print(...renderHead(approval, terminal), '');
  if (approval.hold === '' && mustBeRevealed(approval.masked).length > 0) {
    terminal.print(
      'Part of the effect is masked, and could be anything. It has to be revealed before you can approve.',
    );
    const call = { tool: 'approvals.reveal', input: { task_id: id } } as const;
    await showMasked(call, await askReason(context), client, context);
    terminal.print('');
  }
  if (!(await confirmEffect(makeVisible(approval.effect), approval.tool, terminal))) throw declined();
  return { effect_sha256: approval.effectSha256, runs: approval.wanted };
}

function nameCall({ tool, agent }: Partial<ShownApproval> = {}): string {
  return makeVisibleLine(`${tool} of ${agent}`);
}

function untilOf({ status, expiresAtMs }: ShownApproval): string {
  return status === 'pending' ? formatDuration(Math.max(0, Number(expiresAtMs) - Date.now())) : '-';
}
