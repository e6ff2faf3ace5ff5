import { makeVisible } from '@sallyport/contract';

const wideGap = /[ \t]{80,}|\t{20,}/g;
/** Also in a diff, where each line has its mark. */
const emptyStretch = /(?:^[-+ ]?[ \t]*\n){30,}/gm;

/**
 * An effect as every console, terminal and message shows it. Prepared here, once, so that no viewer has to be trusted
 * with it: nothing in it hides, and nothing is pushed out of sight by a stretch of emptiness. Nothing is left out. What
 * a decision is bound to is the effect itself.
 */
export function showEffect(effect: string): string {
  return nameGaps(makeVisible(effect)).replaceAll(
    emptyStretch,
    (stretch) => `[${stretch.split('\n').length - 1} empty lines]\n`,
  );
}

/** The same for a text that has to be one line, such as a title. */
export function showTitle(title: string): string {
  return nameGaps(makeVisible(title)).replaceAll(/[\n\t]/g, (end) => (end === '\n' ? '\\n' : '\\t'));
}

function nameGaps(text: string): string {
  return text.replaceAll(wideGap, (gap) => {
    if (/^ +$/.test(gap)) return `[${gap.length} spaces]`;
    return `[${gap.length} ${/^\t+$/.test(gap) ? 'tabs' : 'spaces and tabs'}]`;
  });
}
