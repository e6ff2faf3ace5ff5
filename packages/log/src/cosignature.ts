import { sign } from 'node:crypto';
import type { Signer } from './checkpoint.ts';
import { writeSignatureLine } from './note.ts';
import { cosignedMessage, writeTimestamp } from './cosigned-message.ts';

/** The line of a witness that saw this checkpoint and found it to continue all that it saw before. */
export function cosign(signer: Signer, body: string, timeS: number): string {
  const signature = sign(null, cosignedMessage(body, timeS), signer.privateKey);
  return writeSignatureLine(signer, Buffer.concat([writeTimestamp(timeS), signature]));
}
