import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKey } from '../../packages/log/src/checkpoint.ts';
import type { WriterOptions } from '../../packages/gateway/src/storage/sqlite/writer.ts';

/** A new store in this folder, with keys of its own. */
export function storeOptionsIn(folder: string): WriterOptions {
  mkdirSync(folder, { recursive: true });
  return {
    databaseFile: join(folder, 'sallyport.db'),
    signingKey: createSigningKey('sallyport/test').privateKey,
    origin: 'sallyport/test',
    checkpointFile: join(folder, 'checkpoint'),
    reserveFile: join(folder, 'reserve'),
    reserveBytes: 64 * 1024,
    stateKey: randomBytes(32).toString('base64'),
    adoptState: true,
  };
}
