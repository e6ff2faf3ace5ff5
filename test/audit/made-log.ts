import {
  commitPayload,
  createSigningKey,
  encodeLeaf,
  hashLeaf,
  MerkleFrontier,
  openSigner,
  readNodesOf,
  signCheckpoint,
} from '../../packages/log/src/index.ts';
import type { ReceiptParts, Signer } from '../../packages/log/src/index.ts';
import { cosign } from '../../packages/log/src/cosignature.ts';
import { keyTypes } from '../../packages/log/src/note.ts';

const callId = '01942a5b-db1b-7a7e-86cb-5c5c64abac08';

/** A log of four records with keys of its own, cosigned by a witness. The third is the outcome of a call. */
export function makeLog(path = 'notes.txt') {
  const signer = openSigner(createSigningKey('example.org/gate').privateKey);
  const witness = openSigner(
    createSigningKey('witness.example', keyTypes.cosignature).privateKey,
    keyTypes.cosignature,
  );
  const payload = JSON.stringify({ agent: 'scout', tool: 'files.read', arguments: { path } });
  const records = Array.from({ length: 4 }, (_, index) => {
    const salt = Buffer.alloc(32, index + 1);
    const facts = { kind: 'outcome', result: 'ok', timeMs: 1_767_323_046_678 + index, callId } as const;
    return { index, leaf: encodeLeaf(facts, commitPayload(salt, payload)), salt, payload };
  });
  const hashes = records.map(({ leaf }) => hashLeaf(leaf));
  const note = cosignedNote(hashes, signer, witness);
  return {
    verifier: signer.verifier,
    witness: witness.verifier,
    receiptParts: (...indexes: number[]): ReceiptParts => ({
      call: callId,
      records: records.filter(({ index }) => indexes.includes(index)),
      checkpoint: note,
      size: hashes.length,
      verifier: signer.verifier,
      readNode: readNodesOf(hashes),
    }),
  };
}

function cosignedNote(hashes: readonly Uint8Array[], signer: Signer, witness: Signer): string {
  const tree = new MerkleFrontier();
  for (const hash of hashes) tree.append(hash);
  const note = signCheckpoint(signer, { origin: signer.name, size: tree.size, root: tree.root() });
  const body = note.slice(0, note.lastIndexOf('\n\n') + 1);
  return note + cosign(witness, body, 1_767_323_050);
}
