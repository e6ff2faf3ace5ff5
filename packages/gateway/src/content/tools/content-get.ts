import { spellCount } from '@sallyport/contract';
import type { ContentReader, Range } from '../content-reader.ts';
import type { DownloadStream } from '../transfers.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import {
  bytesSchema,
  checkUse,
  defineContentTool,
  exampleHash,
  hashSchema,
  transferTimeoutMs,
} from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** In base64 and with the rest of the answer this stays below 1 MB, above which results become content themselves. */
const maxInlineBytes = 720 * 1024;

export function contentGet({ store, index, downloads }: ContentToolParts): AnyTool {
  const openDownload = (id: string, context: ToolContext): DownloadStream => {
    const download = downloads.take(id, context.session.id);
    if (download !== undefined) return download;
    throw new ToolFailure('NOT_FOUND', 'There is no such download. ContentService.Get opens one and makes this call.');
  };

  return defineContentTool({
    name: 'content.get',
    description:
      'Read stored bytes, or a range of them, by their hash. The answer holds up to 720 KB in base64 and says where the next piece begins; the Get stream of ContentService returns any amount.',
    mutates: false,
    timeoutMs: transferTimeoutMs,
    isTransfer: true,
    examples: [{ hash: exampleHash }],
    properties: {
      hash: hashSchema('BLAKE3 hash of the content.'),
      offset: bytesSchema('The byte to start at.', { default: 0 }),
      limit: bytesSchema('How many bytes; 0 means to the end.', { default: 0 }),
      download_id: schema.string('The stream that receives the bytes. Set by Get.', { maxLength: 64 }),
    },
    required: ['hash'],
    answers: schema.object(
      {
        hash: hashSchema('As asked.'),
        size: bytesSchema('Bytes of the whole content.'),
        offset: bytesSchema('The byte at which the content starts.'),
        length: bytesSchema('How many bytes were returned.'),
        content: schema.string('The bytes in base64. Absent when a stream took them.'),
        next_offset: bytesSchema('The offset for the next call. Absent when this was the last piece.'),
      },
      { optional: ['content', 'next_offset'] },
    ),
    describe: ({ hash }) => `Read content ${hash}.`,
    run: async ({ hash, offset, limit, download_id: downloadId }, context) => {
      const download = downloadId === undefined ? undefined : openDownload(downloadId, context);
      await checkUse(index, context.session, hash);
      await using reader = await store.open(hash, context.signal);
      const { sizeBytes } = reader;
      if (offset > sizeBytes) {
        throw new ToolFailure('INVALID_ARGUMENTS', `offset ${offset} is beyond the end at ${sizeBytes}.`);
      }
      const wanted = Math.min(limit === 0 ? sizeBytes : limit, sizeBytes - offset);
      const length = download === undefined ? Math.min(wanted, maxInlineBytes) : wanted;
      const range = { offset, limit: length };
      const content =
        download === undefined
          ? await readInline(reader, range, context)
          : await sendTo(download, reader, range, context);
      return {
        ...{ hash, size: sizeBytes, offset, length },
        ...(content === undefined ? {} : { content: content.toString('base64') }),
        ...(offset + length < sizeBytes ? { next_offset: offset + length } : {}),
      };
    },
    summarize: (_, { length, size }) => `${Number(length)} of ${spellCount(Number(size), 'byte')} read`,
  });
}

async function readInline(reader: ContentReader, range: Range, context: ToolContext): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(range.limit);
  let filled = 0;
  for await (const piece of reader.read(range, context.signal)) filled += piece.copy(bytes, filled);
  context.countUsage({ bytesRead: filled });
  return bytes;
}

async function sendTo(
  download: DownloadStream,
  reader: ContentReader,
  range: Range,
  context: ToolContext,
): Promise<undefined> {
  const { signal } = context;
  await download.begin({ sizeBytes: reader.sizeBytes, offset: range.offset, lengthBytes: range.limit }, signal);
  for await (const piece of reader.read(range, signal)) {
    await download.write(piece, signal);
    context.countUsage({ bytesRead: piece.length });
  }
}
