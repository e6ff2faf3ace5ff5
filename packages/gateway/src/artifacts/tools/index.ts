import type { ContentStore } from '../../content/content-store.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { ContentRepository } from '../../storage/stores.ts';
import { artifactsGet } from './artifacts-get.ts';
import { artifactsList } from './artifacts-list.ts';
import { artifactsPublish } from './artifacts-publish.ts';

export function artifactTools(parts: {
  readonly store: ContentStore;
  readonly index: ContentRepository;
}): readonly AnyTool[] {
  return [artifactsPublish(parts), artifactsList(parts), artifactsGet(parts)];
}
