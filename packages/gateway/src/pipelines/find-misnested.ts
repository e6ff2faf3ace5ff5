import { joinVersion } from '../registry/tool-name.ts';
import { mostNested } from './pipeline.ts';
import type { Pipeline } from './pipeline.ts';

/** Pipelines that call themselves in a circle, or are nested too deeply. */
export function findMisnested<P extends Pick<Pipeline, 'description' | 'steps'>>(
  pipelines: readonly P[],
): readonly P[] {
  // Each round leaves those that have one more pipeline inside; circles stay in every round.
  let left = pipelines;
  for (let nested = 0; nested < mostNested && left.length > 0; nested++) {
    const names = new Set(left.flatMap(({ description: { name, version } }) => [name, joinVersion(name, version)]));
    left = left.filter(({ steps }) => steps.some(({ tool }) => names.has(tool)));
  }
  return left;
}
