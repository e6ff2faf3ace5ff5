import { refuse } from './refusal.ts';
import { ToolFailure, ToolRefused } from './tool.ts';
import type { ToolContext } from './tool.ts';

/**
 * Compares what a tool has opened with what the person who agreed was shown. Call it with what was read from open
 * descriptors, before the effect. Throws ToolRefused when it is something else. Nobody was shown anything: nothing.
 */
export function checkShown(basis: string, given: string, { shownBasis }: Pick<ToolContext, 'shownBasis'>): void {
  if (shownBasis !== undefined && shownBasis !== basis) throw changedSinceShown(given);
}

/**
 * What is thrown when a file turns out to be another one at the last moment. After a consent the remedy is to ask again,
 * because the consent was for what was there before. `more` says where things are now.
 */
export function changedMeanwhile(given: string, { shownBasis }: Pick<ToolContext, 'shownBasis'>, more = ''): Error {
  if (shownBasis !== undefined) return changedSinceShown(given, more);
  return new ToolFailure(
    'FILE_CHANGED',
    `${given} was changed by something else meanwhile, and that change was kept.${more} Read it and try again.`,
  );
}

function changedSinceShown(given: string, more = ''): ToolRefused {
  const message = `${given} has changed since the call was approved, so the call did not run.${more}`;
  return new ToolRefused(
    refuse('APPROVAL_MISMATCH', 'approval', message, {
      remedy: 'Send the call without approval_task_id or confirm_token to ask again; the new effect will be shown.',
    }),
  );
}
