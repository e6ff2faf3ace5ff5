import { spellCount } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { ContentIndex } from '../../storage/stores.ts';
import { defineContentTool } from '../../content/tools/define-content-tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { artifactSchema, describeArtifact, findVisible } from './describe-artifact.ts';

interface GetArguments {
  readonly artifact_id: string;
}

export function artifactsGet({ index }: { readonly index: Pick<ContentIndex, 'findArtifact'> }): AnyTool {
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
    run: ({ artifact_id: id }, { session }) => {
      const found = findVisible(index, session, id);
      if (found !== undefined) return Promise.resolve(describeArtifact(found));
      const message = `There is no artifact ${JSON.stringify(id)} that this session may see.`;
      return Promise.reject(new ToolFailure('NOT_FOUND', message));
    },
    summarize: (_, { size }) => `an artifact of ${spellCount(Number(size), 'byte')}`,
  });
}
