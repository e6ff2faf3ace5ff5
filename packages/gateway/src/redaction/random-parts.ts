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

/** What base64 is made of, also where its signs are escaped, and the words of paths and addresses. */
const stretch = /(?<!%|%[0-9A-F])(?:[A-Za-z0-9_.+/-]|%2[bf]|\\\/)+/gi;
/** Not the digits of an escape. */
const token = /(?<!%|%[0-9A-F])[A-Za-z0-9_.-]+/gi;
/** Where a word begins, also after an escape; not after those of the signs of base64. */
const begins = String.raw`(?<=^|[^a-z0-9_.+/%-]|%(?!2[bf])[0-9a-f]{2})`;
/** Frames of keys, and schemes, also where their signs are escaped, or two slashes were made one, as in paths. */
const frame = new RegExp(
  String.raw`-----(?:BEGIN|END)(?:(?: |\+|%20)[A-Z]+){1,4}-----|${begins}[a-z][a-z0-9+.-]{1,15}(?::|%3a)(?:\\{0,3}\/|%2f){1,2}`,
  'gi',
);
/** What a value is called in JSON, YAML and files of settings, as it is or in an address. */
const member = new RegExp(
  [
    `${begins}(?:[a-z]{1,24}[_.-]){0,6}[a-z]{2,24}`,
    String.raw`(?:\\*["']|%2[27])?(?:[ \t+]|%20){0,2}(?:[:=]|%3[ad])(?:[ \t+]|%20){0,2}`,
  ].join(''),
  'gi',
);
const letterRun = /[A-Z]?[a-z]{2,}|[A-Z]{3,}/g;
const leastCommon = 0.6;
/** Between signs, where shorter ones come about by chance; between blanks any word is one. */
const fewestLetters = 5;
/** How far to each side of a word its neighbours are looked at, and how much there must be to judge by. */
const surroundings = 48;
const fewestBeside = 8;
const manyCharacters = 100;
const longWord = 8;
const wordCharacter = /[^\s\p{P}]/gu;
const shortestPart = 8;
const fewestDifferent = 4;
/** What does not come about between the signs of base64: its own signs are others, and a word of this length is rare. */
const plainWords = /[_.-]|^[a-z]{8,}$/;

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

/** Only in what is made of words for the most part: a few come about by chance in anything long and random. */
function findWords(text: string): Span[] {
  const frames = [...text.matchAll(frame), ...[...text.matchAll(member)].filter(([name]) => isNameOfWords(name))];
  const words = [...text.matchAll(stretch)].flatMap((match) => findWordsOfStretch(text, spanOf(match, 0)));
  const amongWords = words.filter((_word, at) => standsAmongWords(text, words, at));
  return [...frames.map((match) => spanOf(match, 0)), ...amongWords].sort((a, b) => a.start - b.start);
}

/**
 * Signs cut what is random into pieces, of which some look like words. So a word counts only where at least one side of
 * it is made of words too. Long ones, and any in a short text, hardly come about by chance.
 */
function standsAmongWords(text: string, words: readonly Span[], at: number): boolean {
  const word = words[at];
  if (word === undefined) return false;
  if (text.length < manyCharacters || word.end - word.start >= longWord) return true;
  const before = { start: Math.max(0, word.start - surroundings), end: word.end };
  const after = { start: word.start, end: Math.min(text.length, word.end + surroundings) };
  const near = words.slice(Math.max(0, at - surroundings), at + surroundings);
  const sides = [before, after].map(({ start, end }) => {
    const inWords = near.reduce(
      (sum, each) => sum + Math.max(0, Math.min(each.end, end) - Math.max(each.start, start)),
      0,
    );
    const signs = text.slice(start, end).match(wordCharacter)?.length ?? 0;
    return { inWords, others: signs - (word.end - word.start), signs };
  });
  const telling = sides.filter(({ others }) => others >= fewestBeside);
  return telling.length === 0 || telling.some(({ inWords, signs }) => inWords * 2 >= signs);
}

/** The signs of base64 cut it into tokens so short that some look like words. The whole of it does not. */
function findWordsOfStretch(text: string, { start, end }: Span): Span[] {
  const tokens = [...text.slice(start, end).matchAll(token)].map((match) => {
    const at = spanOf(match, start);
    return { text: match[0], words: findWordsOfToken(text, at) };
  });
  const isMadeOfWords = countCharacters(tokens.flatMap(({ words }) => words)) * 2 >= end - start;
  return tokens.flatMap((each) => (isMadeOfWords || plainWords.test(each.text) ? each.words : []));
}

function findWordsOfToken(text: string, { start, end }: Span): Span[] {
  const words = [...text.slice(start, end).matchAll(letterRun)]
    .filter(([letters]) => isWord(letters))
    .map((match) => spanOf(match, start));
  const inWords = countCharacters(words);
  const isMadeOfWords = inWords * 2 >= end - start && (inWords >= fewestLetters || standsAlone(text, start, end));
  return isMadeOfWords ? words : [];
}

function isNameOfWords(name: string): boolean {
  return (name.match(/(?<!%[23]?)[A-Za-z]{3,}/g) ?? []).every((letters) => isWord(letters));
}

function countCharacters(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}

function standsAlone(text: string, start: number, end: number): boolean {
  return /^\s{0,2}$/.test(text.slice(Math.max(0, start - 1), start) + text.charAt(end));
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
