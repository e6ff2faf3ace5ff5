import type { CallerSpan } from '../../call/call.ts';

/** Whether a trace is followed. The same trace gets the same answer, no matter who asks. */
export type Sampler = (traceId: string, caller: CallerSpan | undefined) => boolean;

const always: Sampler = () => true;
const never: Sampler = () => false;

export const usualSampler = 'parentbased_always_on';

/** A sampler by its standard name. Undefined: there is none of this name, or its argument is no share of 1. */
export function findSampler(name: string, argument: string): Sampler | undefined {
  const isParentBased = name.startsWith('parentbased_');
  const root = findRoot(isParentBased ? name.slice('parentbased_'.length) : name, argument);
  if (root === undefined || !isParentBased) return root;
  return (traceId, caller) => caller?.isSampled ?? root(traceId, undefined);
}

function findRoot(name: string, argument: string): Sampler | undefined {
  switch (name) {
    case 'always_on':
      return always;
    case 'always_off':
      return never;
    case 'traceidratio': {
      const ratio = argument === '' ? 1 : Number(argument);
      return ratio >= 0 && ratio <= 1 ? byRatio(ratio) : undefined;
    }
    default:
      return undefined;
  }
}

/** By the end of the trace id, which callers and gates along the way have in common. 56 bits, as others compare them. */
function byRatio(ratio: number): Sampler {
  const limit = BigInt(Math.round(ratio * 2 ** 53)) << 3n;
  return (traceId) => BigInt(`0x${traceId.slice(-14)}`) < limit;
}
