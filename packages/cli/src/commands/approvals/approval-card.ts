import type { Approval, InJson } from '@sallyport/contract';
import { approvalFacts } from '@sallyport/contract/facts-of';
import { foldEffect } from '../../terminal/confirm-effect.ts';
import { formatDuration, formatTime } from '../../terminal/format-time.ts';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { breakWords } from '../../terminal/text-width.ts';
import { makeVisible, makeVisibleLine } from '../../terminal/visible-text.ts';

export type ShownApproval = InJson<Approval>;

/** Including the characters around it. */
const widestLabel = 14;

type Screen = Pick<Terminal, 'columns' | 'paint'>;

/** A card may stand for several calls that are the same. */
export function titleOf({ title, wanted }: Pick<ShownApproval, 'title' | 'wanted'>): string {
  return wanted > 1 ? `${title} (${wanted} times)` : title;
}

/** The lines above the effect: who asks for what, why that needs a person, and until when. */
export function renderHead(task: ShownApproval, { columns, paint }: Screen, nowMs = Date.now()): string[] {
  const leftMs = Number(task.expiresAtMs) - nowMs;
  const isPending = task.status === 'pending';
  const fields: [string, string][] = [
    ['agent', task.agent],
    ['asks for', titleOf(task)],
    ['risk', task.risk],
    ['because', `${task.reason} (rule ${task.ruleId})`],
    ['expires', isPending ? `in ${formatDuration(Math.max(0, leftMs))}` : ''],
    ['on hold', task.hold],
    ['decided', task.decidedBy === '' ? '' : describeDecision(task)],
    ['note', task.note],
    ['task', task.id],
    ['session', task.sessionId],
    ...approvalFacts(task),
  ];
  return [
    `${paint(isPending ? 'yellow' : 'dim', task.status)}  ${paint('bold', makeVisibleLine(task.tool))}`,
    ...renderText(fields, columns),
  ];
}

/**
 * Fields whose values come from outside. No word of them is longer than its line: the terminal would go on with it in the
 * first column, where everything is ours, and a page would have more lines than were counted.
 */
export function renderText(fields: readonly (readonly [label: string, value: string])[], columns: number): string[] {
  return renderFields(
    fields.map(([label, value]) => [label, breakWords(makeVisible(value), Math.max(columns - widestLabel, 20))]),
    columns,
  );
}

export function renderEffect(effect: string, screen: Screen): string[] {
  return effect === '' ? [] : foldEffect(effect, screen);
}

function describeDecision({ status, decidedBy, decidedByAgent, decidedAtMs }: ShownApproval): string {
  const when = decidedAtMs === '0' ? '' : `, ${formatTime(Number(decidedAtMs))}`;
  if (decidedBy === 'timeout') return `nobody decided in time${when}`;
  return `${status} by ${decidedByAgent ? 'agent ' : ''}${decidedBy}${when}`;
}
