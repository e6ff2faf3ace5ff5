import { RE2JS } from 're2js';

const longestPattern = 1000;
const largestProgram = 2000;

/** A pattern that somebody else wrote, on an engine whose time grows with the text and never explodes. */
export interface ForeignPattern {
  readonly test: (text: string) => boolean;
  /** How much the engine may have to do for each character. */
  readonly size: number;
}

/** Throws with a reason when the pattern is too large, or uses what a linear engine cannot do. */
export function compileForeignPattern(pattern: string): ForeignPattern {
  if (pattern.length > longestPattern) throw new Error(`the pattern is longer than ${longestPattern} characters`);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : 'it cannot be read';
    throw new Error(`the pattern cannot be used: ${reason}; lookarounds and back references are not supported`, {
      cause: error,
    });
  }
  const size = compiled.programSize();
  if (size > largestProgram) throw new Error('the pattern repeats too much');
  return { test: (text) => compiled.test(text), size };
}
