import type { AnyTool } from '../../call/tool.ts';
import type { ContentRepository } from '../../storage/stores.ts';
import { bytesSchema, defineContentTool } from '../../content/tools/define-content-tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { artifactSchema, describeArtifact } from './describe-artifact.ts';

interface ListArguments {
  readonly category?: string;
  readonly limit: number;
}

export function artifactsList({ index }: { readonly index: Pick<ContentRepository, 'listArtifacts'> }): AnyTool {
  return defineContentTool({
    name: 'artifacts.list',
    description: 'List the artifacts that this session published, newest first. Operators see those of everyone.',
    mutates: false,
    idempotent: true,
    timeoutMs: 10_000,
    inputSchema: objectSchema(
      {
        category: { type: 'string', minLength: 1, maxLength: 256, description: 'Only this category. Absent: all.' },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'At most so many.' },
      },
      { optional: ['category'] },
    ),
    outputSchema: objectSchema({
      artifacts: { type: 'array', items: artifactSchema, description: 'Newest first.' },
      total: bytesSchema('How many there are, also beyond the limit.'),
    }),
    describe: () => 'List artifacts.',
    run: async ({ category, limit }: ListArguments, { session }) => {
      const found = await index.listArtifacts({
        ...(category === undefined ? {} : { category }),
        ...(session.principal === 'operator' ? {} : { sessionId: session.id }),
      });
      return { artifacts: found.slice(0, limit).map(describeArtifact), total: found.length };
    },
    summarize: (_, { total }) => `${total} artifacts`,
  });
}
