import { spellBytes, spellCount } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { bytesSchema, defineContentTool, transferTimeoutMs } from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';

interface CollectArguments {
  readonly older_than_hours: number;
}

const hourMs = 3_600_000;

export function contentGc({ store }: Pick<ContentToolParts, 'store'>): AnyTool {
  return defineContentTool({
    name: 'content.gc',
    description: 'Remove stored content that nothing references and nobody has put or read for some time.',
    audience: 'operator',
    mutates: true,
    idempotent: true,
    timeoutMs: transferTimeoutMs,
    inputSchema: objectSchema({
      older_than_hours: {
        type: 'integer',
        // Whoever has just put content must have the time to publish it.
        minimum: 1,
        maximum: 1_000_000,
        default: 24,
        description: 'How long nobody may have put or read it.',
      },
    }),
    outputSchema: objectSchema({
      removed: bytesSchema('How many contents were removed.'),
      freed_bytes: bytesSchema('How many bytes that freed.'),
      kept: bytesSchema('How many contents stay.'),
    }),
    describe: ({ older_than_hours: hours }: CollectArguments) =>
      `Remove content that nothing references and nobody has used for ${hours} h. It cannot be brought back.`,
    run: async ({ older_than_hours: hours }, context) => {
      const report = await store.collectGarbage({ olderThanMs: hours * hourMs }, context.signal);
      return { removed: report.removed, freed_bytes: report.freedBytes, kept: report.kept };
    },
    summarize: (_, output) =>
      `${spellCount(output.removed, 'content')} removed, ${spellBytes(output.freed_bytes)} freed`,
  });
}
