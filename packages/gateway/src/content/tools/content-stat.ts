import { noSuchContent } from '../content-failures.ts';
import type { AnyTool } from '../../call/tool.ts';
import { objectSchema } from '../../catalogue/files/define-file-tool.ts';
import { mayUse } from '../../execution/open-content.ts';
import { bytesSchema, defineContentTool, hashSchema } from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';

interface StatArguments {
  readonly hash: string;
}

export function contentStat({ store, index }: ContentToolParts): AnyTool {
  return defineContentTool({
    name: 'content.stat',
    description: 'Tell what there is of some content: its size, or how much of an unfinished upload has arrived.',
    mutates: false,
    idempotent: true,
    timeoutMs: 10_000,
    inputSchema: objectSchema({ hash: hashSchema('BLAKE3 hash of the content.') }),
    outputSchema: objectSchema(
      {
        hash: hashSchema('As asked.'),
        stored: { type: 'boolean', description: 'Whether all of it is here.' },
        size: bytesSchema('Bytes of stored content.'),
        received: bytesSchema('Bytes of an unfinished upload of this session; the offset to go on at.'),
      },
      { optional: ['size', 'received'] },
    ),
    describe: ({ hash }: StatArguments) => `Look for content ${hash}.`,
    run: async ({ hash }, { session }) => {
      const size = (await mayUse(index, session, hash)) ? await store.sizeOf(hash) : undefined;
      if (size !== undefined) return { hash, stored: true, size };
      const received = await store.receivedBytes(session.id, hash);
      if (received === 0) throw noSuchContent(hash);
      return { hash, stored: false, received };
    },
    summarize: (_, { stored, size, received }) =>
      stored ? `${size} bytes are stored` : `${received} bytes have arrived`,
  });
}
