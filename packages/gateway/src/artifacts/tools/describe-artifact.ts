import type { Json, JsonObject } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import type { Artifact, ContentRepository } from '../../storage/stores.ts';
import { bytesSchema, hashSchema } from '../../content/tools/define-content-tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';

export const artifactSchema: JsonObject = objectSchema({
  artifact_id: { type: 'string', description: 'Chosen by the publisher; never given twice.' },
  content_hash: hashSchema('BLAKE3 hash of the content.'),
  size: bytesSchema('Bytes of the content.'),
  category: { type: 'string', description: 'What kind of thing it is.' },
  metadata: { type: 'array', items: { type: 'string' }, description: 'key=value each.' },
  agent: { type: 'string', description: 'Who published it.' },
  session_id: { type: 'string', description: 'In which session.' },
  published_at: { type: 'string', description: 'When.' },
});

export function describeArtifact(artifact: Artifact): { readonly [key: string]: Json } {
  return {
    artifact_id: artifact.id,
    content_hash: artifact.contentHash,
    size: artifact.sizeBytes,
    category: artifact.category,
    metadata: artifact.metadata,
    agent: artifact.agent,
    session_id: artifact.sessionId,
    published_at: new Date(artifact.publishedAtMs).toISOString(),
  };
}

/** A session sees what it published; operators see everything. */
export async function findVisible(
  index: Pick<ContentRepository, 'findArtifact'>,
  session: Session,
  id: string,
): Promise<Artifact | undefined> {
  const found = await index.findArtifact(id);
  return session.principal === 'operator' || found?.sessionId === session.id ? found : undefined;
}
