import { ArtifactListSchema, ArtifactSchema, spellCount } from '@sallyport/contract';
import type { Artifact as ArtifactMessage, InJson } from '@sallyport/contract';
import type { Violation } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { ContentStore } from '../content/content-store.ts';
import { checkUse, defineContentTool, exampleHash, hashSchema } from '../content/tools/define-content-tool.ts';
import type { Artifact, ContentRepository } from '../storage/stores.ts';
import * as schema from '../registry/schemas/schema.ts';

interface ArtifactToolParts {
  readonly store: Pick<ContentStore, 'hold'>;
  readonly index: Pick<ContentRepository, 'mayUseContent' | 'publishArtifact' | 'findArtifact' | 'listArtifacts'>;
}

interface PublishArguments {
  readonly artifact_id: string;
  readonly content_hash: string;
  readonly category: string;
  readonly metadata: readonly string[];
}

const longestNameBytes = 256;
const longestEntryBytes = 32 * 1024;
const mostEntries = 1000;
const timeoutMs = 10_000;

const nameOf = (description: string) => schema.string(description, { minLength: 1, maxLength: 256 });

export function artifactTools(parts: ArtifactToolParts): readonly AnyTool[] {
  return [publishTool(parts), listTool(parts), getTool(parts)];
}

function publishTool({ store, index }: ArtifactToolParts) {
  return defineContentTool({
    name: 'artifacts.publish',
    aliases: ['artifact_publish'],
    description:
      'Publish stored content as an artifact under its own id. This is final: the id, the content and the details can never be changed. Store the content with content.put first.',
    mutates: true,
    timeoutMs,
    examples: [{ artifact_id: 'build-42', content_hash: exampleHash, category: 'test_results' }],
    properties: {
      artifact_id: nameOf('An id that was never used.'),
      content_hash: hashSchema('BLAKE3 hash of content that this session put or received.'),
      category: nameOf('What it is, such as test_results.'),
      metadata: schema.array(
        'Details, key=value each, with exactly one "=".',
        { type: 'string', maxLength: longestEntryBytes, pattern: '^[^=]*=[^=]*$' },
        { maxItems: mostEntries, default: [] },
      ),
    },
    required: ['artifact_id', 'content_hash', 'category'],
    answers: ArtifactSchema,
    check: checkLengths,
    describe: ({ content_hash: hash, artifact_id: id }) => `Publish ${hash} as ${JSON.stringify(id)}, for good.`,
    run: async ({ artifact_id: id, content_hash: contentHash, category, metadata }, { session }) => {
      await checkUse(index, session, contentHash);
      // Held, so that the content is not collected between the look at it and the reference to it.
      return store.hold(contentHash, async ({ sizeBytes }) => {
        const details = { id, contentHash, sizeBytes, category, metadata };
        const artifact = { ...details, sessionId: session.id, agent: session.agent, publishedAtMs: Date.now() };
        if ((await index.publishArtifact(artifact)) === 'exists') throw alreadyPublished(id);
        return describeArtifact(artifact);
      });
    },
    summarize: ({ metadata }, { size }) =>
      `published ${spellCount(Number(size), 'byte')} with ${spellCount(metadata.length, 'detail')}`,
  });
}

function listTool({ index }: ArtifactToolParts) {
  return defineContentTool({
    name: 'artifacts.list',
    description: 'List the artifacts that this session published, newest first. Operators see those of everyone.',
    mutates: false,
    timeoutMs,
    properties: {
      category: nameOf('Only this category. Absent: all.'),
      limit: schema.integer('The most artifacts to return.', { minimum: 1, maximum: 1000, default: 100 }),
    },
    answers: ArtifactListSchema,
    describe: () => 'List artifacts.',
    run: async ({ category, limit }, { session }) => {
      const found = await index.listArtifacts({
        ...(category === undefined ? {} : { category }),
        ...(session.principal === 'operator' ? {} : { sessionId: session.id }),
      });
      return { artifacts: found.slice(0, limit).map(describeArtifact), total: found.length };
    },
    summarize: (_, { total }) => `${total} artifacts`,
  });
}

function getTool({ index }: ArtifactToolParts) {
  return defineContentTool({
    name: 'artifacts.get',
    description: 'Show an artifact: its details and the hash of its content, which content.get reads.',
    mutates: false,
    timeoutMs,
    examples: [{ artifact_id: 'build-42' }],
    properties: { artifact_id: nameOf('As it was published.') },
    required: ['artifact_id'],
    answers: ArtifactSchema,
    describe: ({ artifact_id: id }) => `Show the artifact ${JSON.stringify(id)}.`,
    run: async ({ artifact_id: id }, { session }) => {
      const found = await index.findArtifact(id);
      // A session sees what it published; operators see everything.
      if (found && (session.principal === 'operator' || found.sessionId === session.id)) return describeArtifact(found);
      throw new ToolFailure('NOT_FOUND', `There is no artifact ${JSON.stringify(id)} that this session may see.`);
    },
    summarize: (_, { size }) => `an artifact of ${spellCount(Number(size), 'byte')}`,
  });
}

function describeArtifact({ id, sizeBytes, publishedAtMs, ...artifact }: Artifact): InJson<ArtifactMessage> {
  return { artifactId: id, ...artifact, size: String(sizeBytes), publishedAtMs: String(publishedAtMs) };
}

/** The schema counts characters; the limits are bytes. */
function checkLengths({ artifact_id: id, category, metadata }: PublishArguments): Violation[] {
  const violations: Violation[] = [];
  const limit = (field: string, text: string, mostBytes: number): void => {
    if (Buffer.byteLength(text) <= mostBytes) return;
    violations.push({ field, rule: 'max_length', message: `${field} has more than ${mostBytes} bytes` });
  };
  limit('artifact_id', id, longestNameBytes);
  limit('category', category, longestNameBytes);
  metadata.forEach((entry, at) => limit(`metadata.${at}`, entry, longestEntryBytes));
  return violations;
}

/**
 * Also when everything about it is the same: publisher and time belong to an artifact, and the second
 * caller has not published it. A retry of one's own call is what the dedupe key is for.
 */
function alreadyPublished(id: string): ToolFailure {
  const message = `An artifact ${JSON.stringify(id)} has been published, and what is published does not change. Choose another id.`;
  return new ToolFailure('ALREADY_EXISTS', message);
}
