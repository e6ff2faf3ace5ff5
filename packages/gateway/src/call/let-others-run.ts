import { setImmediate } from 'node:timers/promises';

/** Reading, checking and hashing so much takes some ten milliseconds each. */
const largeLength = 1024 * 1024;

/** Lets other calls use the thread between two steps over a large text. Undefined: the text is not large. */
export function letOthersRun(text: string): Promise<undefined> | undefined {
  return text.length < largeLength ? undefined : setImmediate(undefined);
}
