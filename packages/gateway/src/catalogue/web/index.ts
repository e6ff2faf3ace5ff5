import type { AnyTool } from '../../call/tool.ts';
import { httpTools } from './http-tools.ts';
import { webFetch } from './web-fetch.ts';
import type { WebParts } from './web-parts.ts';

export function webTools(parts: WebParts): readonly AnyTool[] {
  return [webFetch(parts), ...httpTools(parts)];
}
