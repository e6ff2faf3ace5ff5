import { spellCount } from '@sallyport/contract';
import type { ContentStore } from '../../content/content-store.ts';
import type { Violation } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { Artifact, ContentRepository } from '../../storage/stores.ts';
import { checkUse } from '../../content/tools/check-use.ts';
import { defineContentTool, hashSchema } from '../../content/tools/define-content-tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { artifactSchema, describeArtifact } from './describe-artifact.ts';

export interface PublishParts {
  readonly store: Pick<ContentStore, 'hold'>;
  readonly index: Pick<ContentRepository, 'mayUseContent' | 'publishArtifact'>;
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

export function artifactsPublish({ store, index }: PublishParts): AnyTool {
  return defineContentTool({
    name: 'artifacts.publish',
    aliases: ['artifact_publish'],
    description:
      'Publish stored content as an artifact under an id of its own. Final: the id stays with this content and these details for good. Put the content first.',
    mutates: true,
    idempotent: false,
    timeoutMs: 10_000,
    inputSchema: objectSchema({
      artifact_id: { type: 'string', minLength: 1, maxLength: 256, description: 'An id that was never used.' },
      content_hash: hashSchema('BLAKE3 hash of content that this session put or received.'),
      category: { type: 'string', minLength: 1, maxLength: 256, description: 'What it is, such as test_results.' },
      metadata: {
        type: 'array',
        maxItems: mostEntries,
        items: { type: 'string', maxLength: longestEntryBytes, pattern: '^[^=]*=[^=]*$' },
        default: [],
        description: 'Details, key=value each, with exactly one "=".',
      },
    }),
    outputSchema: artifactSchema,
    check: checkLengths,
    describe: (args: PublishArguments) =>
      `Publish ${args.content_hash} as ${JSON.stringify(args.artifact_id)}, for good.`,
    run: async (args, { session }) => {
      await checkUse(index, session, args.content_hash);
      // Held, so that the content is not collected between the look at it and the reference to it.
      return store.hold(args.content_hash, async ({ sizeBytes }) => {
        const artifact: Artifact = {
          id: args.artifact_id,
          contentHash: args.content_hash,
          sizeBytes,
          category: args.category,
          metadata: args.metadata,
          sessionId: session.id,
          agent: session.agent,
          publishedAtMs: Date.now(),
        };
        if ((await index.publishArtifact(artifact)) === 'exists') throw alreadyPublished(args.artifact_id);
        return describeArtifact(artifact);
      });
    },
    summarize: (args, { size }) =>
      `published ${spellCount(Number(size), 'byte')} with ${spellCount(args.metadata.length, 'detail')}`,
  });
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
 * Also when everything about it is the same: publisher and time belong to an artifact, and whoever publishes second
 * has not published it. A retry of one's own call is what the dedupe key is for.
 */
function alreadyPublished(id: string): ToolFailure {
  const message = `An artifact ${JSON.stringify(id)} has been published, and what is published does not change. Choose another id.`;
  return new ToolFailure('ALREADY_EXISTS', message);
}
