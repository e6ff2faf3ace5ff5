import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { capabilitiesKey, clientInfoKey } from './read-plain-request.ts';

const mostEnvelopes = 256;
const longestEnvelope = 4096;

/**
 * What newer clients say about themselves with every request, as far as the SDK has accepted it before. A client says the
 * same each time, so that its later requests need no schema.
 */
export class KnownEnvelopes {
  readonly #known = new Set<string>();

  /** The SDK has taken a request with these parameters. */
  remember({ _meta: meta = null }: JsonObject): void {
    const envelope = isJsonObject(meta) ? spell(meta) : undefined;
    if (envelope === undefined || envelope.length > longestEnvelope) return;
    if (this.#known.size >= mostEnvelopes) this.#known.clear();
    this.#known.add(envelope);
  }

  has(meta: Readonly<Record<string, unknown>>): boolean {
    return this.#known.has(spell(meta));
  }
}

function spell(meta: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([meta[clientInfoKey] as Json, meta[capabilitiesKey] as Json]);
}
