import type { Resolve } from '@sallyport/sandbox';

/**
 * The same, at most so many at once. A question to the system's resolver occupies one of the few threads with which the
 * daemon reads and writes files, and a hostile name server lets it wait.
 */
export function takeTurns(resolve: Resolve, most: number): Resolve {
  const waiting: (() => void)[] = [];
  let asked = 0;
  return async (name) => {
    // A request that is done hands its place over.
    if (asked === most) await new Promise<void>((begin) => waiting.push(begin));
    else asked += 1;
    try {
      return await resolve(name);
    } finally {
      const next = waiting.shift();
      if (next === undefined) asked -= 1;
      else next();
    }
  };
}
