import { hash } from 'node:crypto';
import { canonicalJson, spellCount } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { checkShown } from '../../call/check-shown.ts';
import type { EntryState } from '../../call/journal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import { carryOut } from './carry-out.ts';
import { spellPath } from './describe-undo.ts';
import { planUndo } from './plan-undo.ts';
import type { Conflict, ContextFor, UndoPlan } from './plan-undo.ts';
import { PreparedUndo } from './prepare-undo.ts';

/** The most entries in one undo; more are undone in parts. */
export const mostEntries = 10_000;

/**
 * Undoes changes, the newest first. All of them are checked before the first one. They are in the journal before they
 * are made, so that an undo can be undone. If an undo is cut off, the same undo finishes it. Throws ToolFailure
 * FILE_CHANGED when something else has changed one of the files since; then nothing has happened.
 */
export async function undoEntries(
  entries: readonly JournalEntry[],
  context: ToolContext,
  contextFor: ContextFor,
): Promise<UndoPlan> {
  const plan = await planUndo(entries, context.trashFolder, contextFor);
  checkPossible(plan, context);
  checkShown(basisOf(plan), 'What the undo would change', context);
  using prepared = await PreparedUndo.of(plan.steps, context, contextFor);
  if (prepared.steps.length > 0) await context.journal(...prepared.steps.map(({ change }) => change));
  prepared.keep();
  for (const [done, { step, change, place }] of prepared.steps.entries()) {
    try {
      await carryOut(step, place, contextFor(step.entry));
    } catch (error) {
      throw done === 0 ? error : partly(error, done, prepared.steps.length);
    }
    context.noteChange(change);
  }
  return plan;
}

/** What consent to an undo is bound to: every path, what is there, and what would be. */
export function basisOf({ steps }: UndoPlan): string {
  const told = steps.map(({ path, from, to, repository }): Json => ({
    ...{ path, from: identityOf(from), to: identityOf(to) },
    names: [...(repository?.names ?? [])].map(([name, each]) => [name, each.from ?? '', each.to ?? '']),
  }));
  return hash('sha256', canonicalJson(told));
}

/** Without the access time, which changes when somebody reads what would be undone. */
function identityOf(state: EntryState): string {
  return JSON.stringify({ ...state, atimeUs: 0 });
}

const reasons: Readonly<Record<Conflict['because'], string>> = {
  changed: 'was changed by something else since',
  'not-known': 'may have been changed by something else since; the journal does not say how the call left it',
  'not-kept': 'has no earlier content: it is no longer kept',
  'no-folder': 'is in a folder that no longer exists',
  'second-name': 'has got a second name since (a hard link), which may be elsewhere',
};

export function explainConflict({ because }: Conflict): string {
  return reasons[because];
}

/** Throws ToolFailure when something prevents it. */
export function checkPossible({ conflicts }: UndoPlan, context: ToolContext): void {
  const [conflict] = conflicts;
  if (conflict !== undefined) throw refuseConflict(conflict, conflicts.length, context);
}

function refuseConflict(conflict: Conflict, count: number, context: ToolContext): ToolFailure {
  const others = count > 1 ? ` So are ${spellCount(count - 1, 'other path')}.` : '';
  const path = context.redact(spellPath(conflict.entry.path, context));
  const message = `${path} ${explainConflict(conflict)}, so nothing was undone.${others}`;
  return new ToolFailure(conflict.because === 'not-kept' ? 'NOT_FOUND' : 'FILE_CHANGED', message, {
    forOperators: 'With `--dry-run` the command shows the difference.',
  });
}

function partly(error: unknown, done: number, of: number): unknown {
  const more = `${done} of ${spellCount(of, 'path')} had been restored. The same undo continues from there.`;
  if (error instanceof ToolRefused) return new ToolFailure('FILE_CHANGED', `${error.refusal.message} ${more}`);
  return error instanceof ToolFailure ? new ToolFailure(error.code, `${error.message} ${more}`) : error;
}
