import { isUtf8 } from 'node:buffer';
import type { Json } from '@sallyport/contract';

/** Why bytes are not JSON. Quotes nothing of them. */
export class PlainJsonError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PlainJsonError';
  }
}

/** Throws PlainJsonError for what is not UTF-8. */
export function readUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new PlainJsonError('the text is not UTF-8');
  return bytes.toString();
}

/** As `JSON.parse` reads it. Throws PlainJsonError. */
export function parsePlainJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    // The parser quotes what it met, which may be a secret; the position is enough.
    const position = error instanceof SyntaxError ? / at position \d+/.exec(error.message) : null;
    throw new PlainJsonError(`the text is not valid JSON${position?.[0] ?? ''}`, { cause: error });
  }
}
