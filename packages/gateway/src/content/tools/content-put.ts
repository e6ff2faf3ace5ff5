import { dropUndefined, spellBytes } from '@sallyport/contract';
import type { UploadStream } from '../transfers.ts';
import type { Violation } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { bytesSchema, defineContentTool, hashSchema, transferTimeoutMs } from './define-content-tool.ts';
import type { ContentToolParts } from './define-content-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

const maxInlineBytes = 1024 * 1024;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

const properties = {
  content: schema.string('The bytes to store.', { maxLength: Math.ceil(maxInlineBytes / 3) * 4 }),
  encoding: schema.choice('How content is given: utf-8 for text, base64 for any bytes.', ['utf-8', 'base64'], {
    default: 'utf-8',
  }),
  hash: hashSchema('BLAKE3 hash that the bytes must have.'),
  size: bytesSchema('How many bytes there must be.'),
  upload_id: schema.string('The stream that brings the bytes. Set by Put.', { maxLength: 64 }),
  offset: bytesSchema('Where the bytes of the stream begin. Set by Put.', { default: 0 }),
};
type PutArguments = schema.ValuesOf<typeof properties, never>;

export function contentPut({ store, uploads }: ContentToolParts): AnyTool {
  const openUpload = (args: PutArguments, context: ToolContext): UploadStream => {
    if (args.content !== undefined) {
      return { chunks: [Buffer.from(args.content, args.encoding)], onReceived: () => undefined };
    }
    const upload = uploads.take(args.upload_id ?? '', context.session.id);
    if (upload !== undefined) return upload;
    throw new ToolFailure('NOT_FOUND', 'There is no such upload. ContentService.Put opens one and makes this call.');
  };

  return defineContentTool({
    name: 'content.put',
    description:
      'Store bytes and get their hash, by which they can be read and published. Up to 1 MB fits into `content`; anything larger goes through the Put stream of ContentService, which makes this call itself.',
    mutates: true,
    timeoutMs: transferTimeoutMs,
    isTransfer: true,
    examples: [{ content: 'Hello.\n' }],
    properties,
    answers: schema.object({ hash: hashSchema('BLAKE3 hash of the bytes.'), size: bytesSchema('How many.') }),
    check: checkSource,
    describe: ({ content, encoding, size }) =>
      `Store ${content === undefined ? (size ?? 'any number of') : Buffer.byteLength(content, encoding)} bytes.`,
    run: async (args, context) => {
      const { hash, size, offset } = args;
      const upload = openUpload(args, context);
      let receivedBytes = offset;
      try {
        const stored = await store.put({
          source: upload.chunks,
          sessionId: context.session.id,
          ...dropUndefined({ hash, sizeBytes: size }),
          offset,
          signal: context.signal,
          onReceived: (bytes) => {
            receivedBytes = bytes;
            upload.onReceived(bytes);
          },
        });
        return { hash: stored.hash, size: stored.sizeBytes };
      } finally {
        context.countUsage({ bytesWritten: receivedBytes - offset });
      }
    },
    summarize: (_, { size }) => `${spellBytes(Number(size))} stored`,
  });
}

function checkSource({ upload_id: uploadId, content, encoding, hash, offset }: PutArguments): Violation[] {
  const violations: Violation[] = [];
  const violate = (field: string, rule: string, message: string): void => {
    violations.push({ field, rule, message: `${field} ${message}` });
  };
  if ((uploadId === undefined) === (content === undefined))
    violate('content', 'required', 'or upload_id must be given, and not both');
  if (content !== undefined && encoding === 'base64' && (content.length % 4 !== 0 || !base64.test(content)))
    violate('content', 'encoding', 'is not valid base64');
  if (content !== undefined && Buffer.byteLength(content, encoding) > maxInlineBytes)
    violate('content', 'max_length', 'has more than 1 MB; use the Put stream of ContentService');
  if (offset > 0 && (hash === undefined || uploadId === undefined))
    violate('offset', 'requires', 'needs an upload with a declared hash');
  return violations;
}
