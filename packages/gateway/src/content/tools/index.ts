import type { AnyTool } from '../../call/tool.ts';
import { contentGc } from './content-gc.ts';
import { contentGet } from './content-get.ts';
import { contentPut } from './content-put.ts';
import { contentStat } from './content-stat.ts';
import { contentVerify } from './content-verify.ts';
import type { ContentToolParts } from './define-content-tool.ts';

export function contentTools(parts: ContentToolParts): readonly AnyTool[] {
  return [contentPut(parts), contentGet(parts), contentStat(parts), contentVerify(parts), contentGc(parts)];
}
