import type { AnyTool } from '../../call/tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { bytesSchema, defineContentTool, hashSchema, transferTimeoutMs } from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';

const mostListed = 1000;

export function contentVerify({ store }: Pick<ContentToolParts, 'store'>): AnyTool {
  return defineContentTool({
    name: 'content.verify',
    description: 'Read all stored content and name what is damaged or gone.',
    audience: 'operator',
    mutates: false,
    idempotent: true,
    timeoutMs: transferTimeoutMs,
    inputSchema: objectSchema({}),
    outputSchema: objectSchema({
      checked: bytesSchema('How many contents were read.'),
      checked_bytes: bytesSchema('How many bytes they have.'),
      corrupted_count: bytesSchema('How many are damaged.'),
      corrupted: { type: 'array', items: hashSchema('Damaged content.'), description: 'The first thousand of them.' },
      missing_count: bytesSchema('How many are known but gone.'),
      missing: { type: 'array', items: hashSchema('Content without a file.'), description: 'The first thousand.' },
    }),
    describe: () => 'Read all stored content.',
    run: async (_args, context) => {
      const { checked, checkedBytes, corrupted, missing } = await store.verify(context.signal);
      context.countUsage({ bytesRead: checkedBytes });
      return {
        checked,
        checked_bytes: checkedBytes,
        corrupted_count: corrupted.length,
        corrupted: corrupted.slice(0, mostListed),
        missing_count: missing.length,
        missing: missing.slice(0, mostListed),
      };
    },
    summarize: (_args, output) =>
      `${output.checked} contents read, ${output.corrupted_count} damaged, ${output.missing_count} gone`,
  });
}
