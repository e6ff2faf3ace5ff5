import type {
  DecideApprovalResponse,
  GetApprovalResponse,
  InJson,
  ListApprovalsResponse,
  ListStandingApprovalsResponse,
  RevealedSecrets,
  RevokeStandingApprovalResponse,
} from '@sallyport/contract';
import { renderEffect, renderHead } from './approval-card.ts';
import type { ShownApproval } from './approval-card.ts';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { confirmEffect } from '../../terminal/confirm-effect.ts';
import { declined, usageFailure } from '../../client/failure.ts';
import { formatDuration, formatTime } from '../../terminal/format-time.ts';
import { askReason, mustBeRevealed, renderRevealed, showMasked } from './reveal-masked.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { completeId, shortenIds } from '../../terminal/short-id.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine } from '../../terminal/visible-text.ts';

export interface ApproveOptions {
  readonly effectSha256?: string;
  readonly runs?: number;
  readonly note?: string;
  readonly forSession?: boolean;
  readonly minutes?: number;
  readonly uses?: number;
}

export interface ShowOptions {
  /** Shows what is masked, instead. */
  readonly reveal?: boolean;
  /** Which secret. Absent: all of them. */
  readonly secret?: number;
  readonly reason?: string;
}

export function listApprovals(options: { readonly status?: string }, context: CommandContext): Promise<number> {
  const { status = 'pending' } = options;
  return runOperatorTool(
    'approvals.list',
    { status, limit: 200 },
    context,
    ({ approvals, more }: InJson<ListApprovalsResponse>) => {
      const { print, paint, columns } = context.terminal;
      if (approvals.length === 0)
        return print(status === 'pending' ? 'Nothing waits for a decision.' : 'No call has this status.');
      const ids = shortenIds(approvals.map(({ id }) => id));
      const rows = approvals.map((task) =>
        [ids.get(task.id) ?? '', task.status, untilOf(task), task.agent, task.risk, `${task.tool}: ${task.title}`].map(
          makeVisibleLine,
        ),
      );
      const [header = '', ...body] = renderTable(
        [['TASK', 'STATUS', 'LEFT', 'AGENT', 'RISK', 'CALL'], ...rows],
        columns,
      );
      print(paint('dim', header), ...body);
      if (more) {
        const rest = status === 'pending' ? '; decide about some to see the rest' : '';
        print('', `There are more. These are the ${approvals.length} newest${rest}.`);
      }
    },
  );
}

export function showApproval(id: string, options: ShowOptions, context: CommandContext): Promise<number> {
  if (options.reveal === true) return revealSecrets(id, options, context);
  return runOperatorTool(
    'approvals.show',
    { task_id: id },
    context,
    ({ approval: task }: InJson<GetApprovalResponse>) => {
      const { print } = context.terminal;
      if (task === undefined) return;
      print(...renderHead(task, context.terminal), '', ...renderEffect(task.effect, context.terminal));
      if (task.status !== 'pending') return;
      const deny = `${context.commandName} approvals deny ${task.id} --note 'what to change'`;
      // The card says why it cannot be approved.
      if (task.hold !== '') return print('', deny);
      const unseen = mustBeRevealed(task.masked).length;
      print(
        '',
        ...(unseen === 0 ? [] : [`${unseen} of what is masked must be revealed before you can approve it.`]),
        ...(task.masked.length === 0 ? [] : [`${context.commandName} approvals show ${task.id} --reveal`]),
        `${context.commandName} approvals approve ${task.id} --effect-sha256 ${task.effectSha256}${task.wanted > 1 ? ` --runs ${task.wanted}` : ''}`,
        deny,
      );
    },
  );
}

/** What is masked in the effect. The gate asks before it shows it, and who looked and why is on record. */
async function revealSecrets(id: string, { reason, secret }: ShowOptions, context: CommandContext): Promise<number> {
  const why = reason ?? (await askReason(context));
  return runOperatorTool(
    'approvals.reveal',
    { task_id: id, number: secret, reason: why },
    context,
    ({ revealed }: InJson<RevealedSecrets>) => {
      context.terminal.print(...renderRevealed(revealed, context.terminal));
    },
  );
}

/** A decision names the effect that was seen: here, or with `approvals show` before. */
export async function approveApproval(id: string, options: ApproveOptions, context: CommandContext): Promise<number> {
  const { effectSha256, runs, note, forSession, minutes, uses } = options;
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

export function denyApproval(
  id: string,
  options: { readonly note?: string },
  context: CommandContext,
): Promise<number> {
  return runOperatorTool(
    'approvals.deny',
    { task_id: id, note: options.note },
    context,
    ({ approval }: InJson<DecideApprovalResponse>) => {
      const { print, paint } = context.terminal;
      print(`${paint('red', 'Denied')}  ${nameCall(approval)}`);
      if (options.note !== undefined) print('The agent is told what you wrote.');
    },
  );
}

export function listStanding(context: CommandContext): Promise<number> {
  return runOperatorTool(
    'approvals.standing_list',
    {},
    context,
    ({ standing }: InJson<ListStandingApprovalsResponse>) => {
      const { print, paint, columns } = context.terminal;
      if (standing.length === 0) return print('No standing approval is in force.');
      const ids = shortenIds(standing.map(({ id }) => id));
      const rows = standing.map((each) =>
        [
          ids.get(each.id) ?? '',
          each.agent,
          `${each.tool}${each.exactScope ? ', one scope' : ''}`,
          String(each.usesLeft ?? 'any'),
          formatTime(Number(each.expiresAtMs)),
          each.grantedBy,
        ].map(makeVisibleLine),
      );
      const header = ['STANDING', 'AGENT', 'TOOL', 'USES', 'EXPIRES', 'BY'];
      const [head = '', ...body] = renderTable([header, ...rows], columns);
      print(paint('dim', head), ...body);
    },
  );
}

export function revokeStanding(id: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'approvals.standing_revoke',
    { standing_id: id },
    context,
    ({ revoked }: InJson<RevokeStandingApprovalResponse>) => {
      if (!revoked) throw usageFailure('It is not in force any more.', 'See `approvals standing`.');
      context.terminal.print('Revoked. The next call asks again.');
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
  const { approval: task } = outputOf(answer) as InJson<GetApprovalResponse>;
  if (task === undefined) return showAnswer(answer, context);
  terminal.print(...renderHead(task, terminal), '');
  if (task.hold === '' && mustBeRevealed(task.masked).length > 0) {
    terminal.print(
      'Part of the effect is masked, and could be anything. It has to be revealed before you can approve.',
    );
    const call = { tool: 'approvals.reveal', input: { task_id: id } } as const;
    await showMasked(call, await askReason(context), client, context);
    terminal.print('');
  }
  if (!(await confirmEffect(makeVisible(task.effect), task.tool, terminal))) throw declined();
  return { effect_sha256: task.effectSha256, runs: task.wanted };
}

function nameCall({ tool, agent }: Partial<ShownApproval> = {}): string {
  return makeVisibleLine(`${tool} of ${agent}`);
}

function untilOf({ status, expiresAtMs }: ShownApproval): string {
  return status === 'pending' ? formatDuration(Math.max(0, Number(expiresAtMs) - Date.now())) : '-';
}
