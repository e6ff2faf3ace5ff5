import { makeVisible } from './visible-text.ts';

const wideGap = / {80,}|\t{20,}/g;
/** Also in a diff, where each line has its mark. */
const emptyStretch = /(?:^[-+ ]?[ \t]*\n){30,}/gm;

/**
 * An effect as every console, terminal and message shows it. Prepared here, once, so that no viewer has to be trusted
 * with it: nothing in it hides, and nothing is pushed out of sight by a stretch of emptiness. Nothing is left out. What
 * a decision is bound to is the effect itself.
 */
export function showEffect(effect: string): string {
  return makeVisible(effect)
    .replaceAll(wideGap, (gap) => `[${gap.length} ${gap.startsWith('\t') ? 'tabs' : 'spaces'}]`)
    .replaceAll(emptyStretch, (stretch) => `[${stretch.split('\n').length - 1} empty lines]\n`);
}
