import { spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { ContentRepository } from '../../storage/stores.ts';
import { defineContentTool } from '../../content/tools/define-content-tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { artifactSchema, describeArtifact, findVisible } from './describe-artifact.ts';

interface GetArguments {
  readonly artifact_id: string;
}

export function artifactsGet({ index }: { readonly index: Pick<ContentRepository, 'findArtifact'> }): AnyTool {
  return defineContentTool({
    name: 'artifacts.get',
    description: 'Show an artifact: its details and the hash of its content, which content.get reads.',
    mutates: false,
    idempotent: true,
    timeoutMs: 10_000,
    inputSchema: objectSchema({
      artifact_id: { type: 'string', minLength: 1, maxLength: 256, description: 'As it was published.' },
    }),
    outputSchema: artifactSchema,
    describe: ({ artifact_id: id }: GetArguments) => `Show the artifact ${JSON.stringify(id)}.`,
    run: async ({ artifact_id: id }, { session }) => {
      const found = await findVisible(index, session, id);
      if (found !== undefined) return describeArtifact(found);
      const message = `There is no artifact ${JSON.stringify(id)} that this session may see.`;
      throw new ToolFailure('NOT_FOUND', message);
    },
    summarize: (_, { size }) => `an artifact of ${spellCount(Number(size), 'byte')}`,
  });
}
