import { foldEffect } from '../../terminal/confirm-effect.ts';
import { formatDuration, formatTime } from '../../terminal/format-time.ts';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { breakWords } from '../../terminal/text-width.ts';
import { makeVisible, makeVisibleLine } from '../../terminal/visible-text.ts';

/** A task as the tools of approvals describe it. */
export interface ShownApproval {
  readonly task_id: string;
  readonly status: string;
  readonly agent: string;
  readonly session_id: string;
  readonly tool: string;
  readonly risk: string;
  readonly title: string;
  readonly undoable: boolean;
  readonly rule_id: string;
  readonly reason: string;
  readonly approver_role: string;
  /** Absent: people only. */
  readonly approver_agents?: readonly string[];
  readonly wanted: number;
  readonly created_at: string;
  readonly expires_at: string;
  /** Why nobody can approve it. Absent: it can be approved. */
  readonly hold?: string;
  readonly decided_by?: string;
  /** Absent: it was none. */
  readonly decided_by_agent?: boolean;
  readonly decided_at?: string;
  readonly note?: string;
}

export interface WholeApproval extends ShownApproval {
  readonly effect: string;
  readonly effect_sha256: string;
  /** The secrets that have a mark in the effect. Absent: none. */
  readonly masked?: readonly ShownMask[];
}

export interface ShownMask {
  readonly number: number;
  readonly mark: string;
  readonly characters: number;
  readonly name?: string;
  /** The gate holds it. Absent: it must be revealed before the call can be approved. */
  readonly held?: boolean;
}

/** With what stands around it. */
const widestLabel = 14;

type Screen = Pick<Terminal, 'columns' | 'paint'>;

/** What stands above the effect: who asks for what, why that needs a person, and until when. */
export function renderHead(task: ShownApproval, { columns, paint }: Screen, nowMs = Date.now()): string[] {
  const leftMs = Date.parse(task.expires_at) - nowMs;
  const isPending = task.status === 'pending';
  const fields: [string, string][] = [
    ['agent', task.agent],
    ['asks for', `${task.title}${task.wanted > 1 ? ` (${task.wanted} times)` : ''}`],
    ['risk', task.risk],
    ['because', `${task.reason} (rule ${task.rule_id})`],
    ['decides', [task.approver_role, ...(task.approver_agents ?? []).map((name) => `agent ${name}`)].join(', ')],
    ['expires', isPending ? `in ${formatDuration(Math.max(0, leftMs))}` : ''],
    ['on hold', task.hold ?? ''],
    ['decided', task.decided_by === undefined ? '' : describeDecision(task)],
    ['note', task.note ?? ''],
    ['task', task.task_id],
    ['session', task.session_id],
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

function describeDecision(task: ShownApproval): string {
  const { status, decided_by: by = '', decided_by_agent: isAgent = false, decided_at: at } = task;
  const when = at === undefined ? '' : `, ${formatTime(Date.parse(at))}`;
  return by === 'timeout' ? `nobody did in time${when}` : `${status} by ${isAgent ? 'agent ' : ''}${by}${when}`;
}
