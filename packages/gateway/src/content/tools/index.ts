import { CollectedContentSchema, ContentReportSchema, spellBytes, spellCount } from '@sallyport/contract';
import { noSuchContent } from '../content-failures.ts';
import type { AnyTool } from '../../call/tool.ts';
import { mayUse } from '../../execution/open-content.ts';
import { contentGet } from './content-get.ts';
import { contentPut } from './content-put.ts';
import { bytesSchema, defineContentTool, exampleHash, hashSchema, transferTimeoutMs } from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

const hourMs = 3_600_000;
const mostListed = 1000;

export function contentTools(parts: ContentToolParts): readonly AnyTool[] {
  return [contentPut(parts), contentGet(parts), statTool(parts), verifyTool(parts), collectTool(parts)];
}

function statTool({ store, index }: ContentToolParts) {
  return defineContentTool({
    name: 'content.stat',
    description: 'Show whether content is stored: its size, or how much of an unfinished upload has arrived.',
    mutates: false,
    timeoutMs: 10_000,
    examples: [{ hash: exampleHash }],
    properties: { hash: hashSchema('BLAKE3 hash of the content.') },
    required: ['hash'],
    answers: schema.object(
      {
        hash: hashSchema('As asked.'),
        stored: schema.boolean('Whether all of it is here.'),
        size: bytesSchema('Bytes of stored content.'),
        received: bytesSchema('Bytes of an unfinished upload of this session; the upload continues at this offset.'),
      },
      { optional: ['size', 'received'] },
    ),
    describe: ({ hash }) => `Look for content ${hash}.`,
    run: async ({ hash }, { session }) => {
      const size = (await mayUse(index, session, hash)) ? await store.sizeOf(hash) : undefined;
      if (size !== undefined) return { hash, stored: true, size };
      const received = await store.receivedBytes(session.id, hash);
      if (received === 0) throw noSuchContent(hash);
      return { hash, stored: false, received };
    },
    summarize: (_, { stored, size, received }) =>
      stored === true ? `${Number(size)} bytes are stored` : `${Number(received)} bytes have arrived`,
  });
}

function verifyTool({ store }: ContentToolParts) {
  return defineContentTool({
    name: 'content.verify',
    description: 'Read all stored content and list what is damaged or missing.',
    audience: 'operator',
    mutates: false,
    timeoutMs: transferTimeoutMs,
    answers: ContentReportSchema,
    describe: () => 'Read all stored content.',
    run: async (_args, context) => {
      const { checked, checkedBytes, corrupted, missing } = await store.verify(context.signal);
      context.countUsage({ bytesRead: checkedBytes });
      return {
        checked,
        checkedBytes: String(checkedBytes),
        corruptedCount: corrupted.length,
        corrupted: corrupted.slice(0, mostListed),
        missingCount: missing.length,
        missing: missing.slice(0, mostListed),
      };
    },
    summarize: (_args, { checked, corruptedCount, missingCount }) =>
      `${checked} contents read, ${corruptedCount} damaged, ${missingCount} gone`,
  });
}

function collectTool({ store }: ContentToolParts) {
  return defineContentTool({
    name: 'content.gc',
    description: 'Remove stored content that nothing references and nobody has stored or read for some time.',
    audience: 'operator',
    mutates: true,
    idempotent: true,
    timeoutMs: transferTimeoutMs,
    properties: {
      older_than_hours: {
        type: 'integer',
        // A caller that has just stored content needs time to publish it.
        minimum: 1,
        maximum: 1_000_000,
        default: 24,
        description: 'Remove only content that nobody has stored or read for this long.',
      },
    },
    answers: CollectedContentSchema,
    describe: ({ older_than_hours: hours }) =>
      `Remove content that nothing references and nobody has used for ${hours} h. It cannot be brought back.`,
    run: async ({ older_than_hours: hours }, context) => {
      const { removed, freedBytes, kept } = await store.collectGarbage({ olderThanMs: hours * hourMs }, context.signal);
      return { removed, freedBytes: String(freedBytes), kept };
    },
    summarize: (_, { removed, freedBytes }) =>
      `${spellCount(removed, 'content')} removed, ${spellBytes(Number(freedBytes))} freed`,
  });
}
