import { hasTooManyParts, maxParts } from '../../../text/json-parts.ts';
import { RpcError } from '../rpc-error.ts';

/** Refuses a large JSON text of too many members and elements. */
export function checkJsonShape(text: Buffer): void {
  if (hasTooManyParts(text)) throw tooManyParts();
}

/** Refuses more parts than any message has. */
export function checkParts(parts: number): void {
  if (parts > maxParts) throw tooManyParts();
}

export function tooManyParts(): RpcError {
  return new RpcError('invalid_argument', `The request has more than ${maxParts} parts.`);
}
