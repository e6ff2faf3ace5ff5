import { joinVersion } from '../registry/tool-name.ts';
import { mostNested } from './pipeline.ts';
import type { Pipeline } from './pipeline.ts';

/** Pipelines that come back to themselves, or lead through more pipelines than may be inside one another. */
export function findMisnested<P extends Pick<Pipeline, 'description' | 'steps'>>(
  pipelines: readonly P[],
): readonly P[] {
  // After each round those are left that have one more pipeline inside; what goes in a circle is left for ever.
  let left = pipelines;
  for (let nested = 0; nested < mostNested && left.length > 0; nested++) {
    const names = new Set(left.flatMap(({ description: { name, version } }) => [name, joinVersion(name, version)]));
    left = left.filter(({ steps }) => steps.some(({ tool }) => names.has(tool)));
  }
  return left;
}
