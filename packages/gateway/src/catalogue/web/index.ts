import type { AnyTool } from '../../call/tool.ts';
import type { ProviderParts } from '../providers/ask-provider.ts';
import { httpTools } from './http-tools.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';

export function webTools(parts: ProviderParts): readonly AnyTool[] {
  return [webFetch(parts), webSearch(parts), ...httpTools(parts)];
}
