import type { Span } from './span.ts';

/** Pairs of letters that make up nine tenths of English words, and less than a third of random text. */
const commonPairs = new Set(
  (
    'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ' +
    'ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so ' +
    'rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ' +
    'ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt ' +
    'oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck'
  ).split(' '),
);

const token = /[A-Za-z0-9_.-]+/g;
const scheme = /\b[a-z][a-z0-9+.-]{1,15}:\/\//gi;
const letterRun = /[A-Z]?[a-z]{2,}|[A-Z]{3,}/g;
const leastCommon = 0.6;
/** Between signs, where shorter ones come about by chance; between blanks any word is one. */
const fewestLetters = 5;
const shortestPart = 8;
const fewestDifferent = 4;

/**
 * The parts of a secret that look like nothing else: a few characters of them do not stand elsewhere by chance, as the
 * words in passphrases and addresses do. The secret as a whole tells them, because eight characters alone say little
 * about where they come from.
 */
export function findRandomParts(text: string): Span[] {
  const parts: Span[] = [];
  let from = 0;
  for (const { start, end } of findWords(text)) {
    addPart(parts, text, from, start);
    from = Math.max(from, end);
  }
  addPart(parts, text, from, text.length);
  return parts;
}

/** Whether the text, if it is long enough, has more than the few characters of rulers, blanks and zeros. */
export function isVaried(text: string, start: number, end: number): boolean {
  return new Set(text.slice(start, Math.min(end, start + 256))).size >= fewestDifferent;
}

function addPart(parts: Span[], text: string, start: number, end: number): void {
  if (end - start >= shortestPart && isVaried(text, start, end)) parts.push({ start, end });
}

/** Only in tokens that are made of words for the most part: a few come about by chance in anything long and random. */
function findWords(text: string): Span[] {
  const schemes = [...text.matchAll(scheme)].map((match) => spanOf(match, 0));
  const words = [...text.matchAll(token)].flatMap((match) => {
    const found = [...match[0].matchAll(letterRun)].filter(([letters]) => isWord(letters));
    const inWords = found.reduce((sum, [letters]) => sum + letters.length, 0);
    const isMadeOfWords = inWords * 2 >= match[0].length && (inWords >= fewestLetters || standsAlone(text, match));
    return isMadeOfWords ? found.map((word) => spanOf(word, match.index)) : [];
  });
  return [...schemes, ...words].sort((a, b) => a.start - b.start);
}

function standsAlone(text: string, { 0: value, index }: RegExpExecArray): boolean {
  return /^\s{0,2}$/.test(text.slice(Math.max(0, index - 1), index) + text.charAt(index + value.length));
}

function spanOf({ 0: text, index }: RegExpExecArray, from: number): Span {
  return { start: from + index, end: from + index + text.length };
}

function isWord(letters: string): boolean {
  const small = letters.toLowerCase();
  let common = 0;
  for (let at = 0; at + 1 < small.length; at++) if (commonPairs.has(small.slice(at, at + 2))) common++;
  return common >= (small.length - 1) * leastCommon;
}
