import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  commitPayload,
  decodeLeaf,
  deriveTagKey,
  encodeLeaf,
  hashLeaf,
  MerkleFrontier,
  openSigner,
  signCheckpoint,
  tagRecord,
} from '../../packages/log/src/index.ts';
import type { Place } from '../harness/daemon.ts';
import { vandalise } from '../tampering/vandal.ts';

/**
 * What somebody can do who has the signing key: changes the payload of a record and writes leaves, tags, tree and
 * checkpoints anew, so that all of it fits together again. The daemon must not be running.
 */
export function rewriteLog(place: Place, index: number, change: (payload: string) => string): void {
  const signer = openSigner(readFileSync(join(place.home, 'keys', 'audit.key'), 'utf8'));
  const tagKey = deriveTagKey(signer);
  const tree = new MerkleFrontier();
  vandalise(place, (database) => {
    const rows = database.prepare('SELECT position, leaf, salt, payload FROM records ORDER BY position').all();
    const update = database.prepare('UPDATE records SET leaf = ?, payload = ?, tag = ? WHERE position = ?');
    for (const row of rows) {
      const position = Number(row['position']);
      const payload = position === index ? change(String(row['payload'])) : String(row['payload']);
      const leaf = encodeLeaf(decodeLeaf(row['leaf'] as Uint8Array), commitPayload(row['salt'] as Uint8Array, payload));
      const leafHash = hashLeaf(leaf);
      update.run(leaf, payload, tagRecord(tagKey, position, leafHash), position);
      tree.append(leafHash);
    }
    const note = signCheckpoint(signer, { origin: signer.name, size: tree.size, root: tree.root() });
    database.exec('DELETE FROM checkpoints');
    database.prepare('INSERT INTO checkpoints VALUES (?, ?, ?)').run(tree.size, note, tree.encode());
    for (const name of ['checkpoint', 'verified-checkpoint']) writeFileSync(join(place.home, 'audit', name), note);
  });
}
