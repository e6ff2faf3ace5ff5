import { isCanonicalPath } from './canonical-path.ts';
import { matchesParts } from './name-pattern.ts';
import { splitWords, WordsError } from './shell-words.ts';
import type { Word } from './shell-words.ts';

/** One command of a call, as its words. The first is the program: a name on the fixed PATH, or an absolute path. */
export interface ClaimedCommand {
  readonly words: readonly string[];
  readonly text: string;
}

export type CommandMatcher = (command: ClaimedCommand) => boolean;

const maxPatternLength = 1024;

/**
 * A pattern is a line of words. `*` within a word stands for any text of that word; alone at the end for any further
 * words, also none. Throws WordsError.
 */
export function compileCommandPattern(text: string): CommandMatcher {
  if (text.length > maxPatternLength) throw new WordsError(`is longer than ${maxPatternLength} characters`);
  const words = splitWords(text);
  const openEnded = isStar(words.at(-1));
  const fixed = openEnded ? words.slice(0, -1) : words;
  const [program, ...others] = fixed;
  if (program === undefined) {
    if (!openEnded) throw new WordsError('names no program');
    return () => true;
  }
  checkProgram(program);
  const slashes = countSlashes(program.join(''));
  const { length } = fixed;
  return ({ words: given }) => {
    if (openEnded ? given.length < length : given.length !== length) return false;
    const [first = '', ...rest] = given;
    // A star in the program stays within one component, as in paths.
    if (!matchesParts(program, first) || countSlashes(first) !== slashes) return false;
    return others.every((word, at) => matchesParts(word, rest[at] ?? ''));
  };
}

/**
 * The words that every command begins with which the pattern covers: its program, and the first argument where that is
 * plain. Undefined: there is no such word. Expects a pattern that compiles.
 */
export function firstWordsOf(pattern: string): string | undefined {
  const words = splitWords(pattern);
  const [program, second] = isStar(words.at(-1)) ? words.slice(0, -1) : words;
  if (program?.length !== 1) return undefined;
  return second?.length === 1 ? `${program[0]}\0${second[0]}` : program[0];
}

/** What `firstWordsOf` says about some pattern that covers the command, if one does. */
export function listFirstWords({ words: [program = '', second] }: ClaimedCommand): readonly string[] {
  return second === undefined ? [program] : [program, `${program}\0${second}`];
}

/** Undefined: the text is not a command in its one spelling, so nothing can be said about it. */
export function parseCommand(text: string): ClaimedCommand | undefined {
  if (text.includes('\0') || !text.isWellFormed() || text.trim() !== text) return undefined;
  try {
    const words = splitWords(text);
    const plain = words.map(([word]) => word);
    if (words.length === 0 || words.some((word) => word.length > 1) || !isProgram(plain[0] ?? '')) return undefined;
    return { words: plain, text };
  } catch (error) {
    if (error instanceof WordsError) return undefined;
    throw error;
  }
}

function isStar(word: Word | undefined): boolean {
  return word?.length === 2 && word.join('') === '';
}

function checkProgram(program: Word): void {
  if (program.length === 1 && program[0] === '') throw new WordsError('has an empty program');
  const example = program.join('x');
  if (!isProgram(example)) throw new WordsError('must name the program alone, such as git, or by its absolute path');
}

function isProgram(word: string): boolean {
  return word.includes('/') ? isCanonicalPath(word) && word !== '/' : word !== '' && word !== '.' && word !== '..';
}

function countSlashes(text: string): number {
  return text.split('/').length - 1;
}
