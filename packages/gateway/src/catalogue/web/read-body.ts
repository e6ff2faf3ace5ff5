import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { spellBytes } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

export const acceptedEncodings = 'gzip, deflate, br';

/** All of a body, unpacked. `where` is named when it is larger than `maxBytes`, packed or unpacked. */
export async function readBody(
  answer: IncomingMessage,
  { maxBytes, where }: { readonly maxBytes: number; readonly where: string },
): Promise<Buffer> {
  try {
    if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(where, maxBytes);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of unpacked(answer) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(where, maxBytes);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size);
  } finally {
    answer.destroy();
  }
}

/** The body as it was before it was packed for the way. More than one packing is nothing that servers do. */
export function unpacked(answer: IncomingMessage): Readable {
  const encoding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return answer;
  if (!Object.hasOwn(decoders, encoding)) {
    throw new ToolFailure('EXECUTION_ERROR', 'The answer is packed in a way that the gate does not read.');
  }
  const decoder = decoders[encoding as keyof typeof decoders]();
  // Errors of either side reach the reader of the decoder.
  pipeline(answer, decoder, () => undefined);
  return decoder;
}

function tooLarge(where: string, maxBytes: number): ToolFailure {
  return new ToolFailure('TOO_LARGE', `The answer of ${where} is larger than ${spellBytes(maxBytes)}.`);
}
