import { ToolFailure } from '../../call/tool.ts';
import type { Upstream } from '../upstream.ts';
import type { Upstreams } from '../upstreams.ts';

export function findUpstream(upstreams: Pick<Upstreams, 'find'>, name: string): Upstream {
  const upstream = upstreams.find(name);
  if (upstream !== undefined) return upstream;
  throw new ToolFailure('NOT_FOUND', `There is no upstream ${name}.`, {
    forOperators: '`sallyport upstream list` shows them.',
  });
}
