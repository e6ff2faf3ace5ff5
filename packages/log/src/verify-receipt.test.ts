import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSigningKey, isSignedBy, openSigner, signCheckpoint } from './checkpoint.ts';
import { describeReceipt } from './commands/describe-receipt.ts';
import { cosign } from './cosignature.ts';
import { commitPayload, encodeLeaf } from './leaf.ts';
import { hashLeaf, MerkleFrontier } from './merkle.ts';
import { readNodesOf } from './merkle-proof.ts';
import { CheckpointError, keyTypes } from './note.ts';
import { ReceiptError, writeReceipt } from './receipt.ts';
import type { Receipt } from './receipt.ts';
import { verifyReceipt } from './verify-receipt.ts';

const call = '01942a5b-db1b-7a7e-86cb-5c5c64abac08';
const otherCall = '01942a5b-67a6-7b9a-81b6-f21799143339';
const signer = openSigner(createSigningKey('example.org/gate').privateKey);
const { verifier } = signer;
const witness = openSigner(createSigningKey('w.example', keyTypes.cosignature).privateKey, keyTypes.cosignature);

const records = Array.from({ length: 9 }, (_, index) => {
  const salt = Buffer.alloc(32, index + 1);
  const isIntent = index % 2 === 1;
  const payload = isIntent
    ? '{"agent":"scout","tool":"files.read","arguments":{"path":"a"},"decision":{"effect":"allow","rule_id":"r"}}'
    : '{"summary":"read 5 bytes"}';
  const facts = { kind: isIntent ? 'intent' : 'outcome', result: isIntent ? 'none' : 'ok', timeMs: index } as const;
  const leaf = encodeLeaf({ ...facts, callId: index < 5 ? call : otherCall }, commitPayload(salt, payload));
  return { index, leaf, salt, payload };
});
const hashes = records.map(({ leaf }) => hashLeaf(leaf));
const tree = new MerkleFrontier();
for (const hash of hashes) tree.append(hash);
const note = signCheckpoint(signer, { origin: signer.name, size: tree.size, root: tree.root() });

const text = writeReceipt({
  call,
  records: records.slice(3, 5),
  checkpoint: note,
  size: tree.size,
  verifier,
  readNode: readNodesOf(hashes),
});
const verify = (receipt: string, more = {}) =>
  verifyReceipt(receipt, { verifier, checkSignature: isSignedBy, ...more });
const judge = async (change: (receipt: Mutable) => void): Promise<string> => {
  const receipt = JSON.parse(text) as Mutable;
  change(receipt);
  return (await verify(JSON.stringify(receipt))).problems.join(' ');
};
interface Part {
  leaf: string;
  salt: string;
  payload: string;
  proof: string[];
}
interface Mutable extends Record<string, unknown> {
  checkpoint: string;
  decision: { decision: object };
  records: [Part, Part];
}
const set = (part: object, values: object): void => void Object.assign(part, values);

test('a receipt proves its records, and tells the decision in their words', async () => {
  const { intact, isKnownKey, checkpointSize, decision, records: shown } = await verify(text);
  assert.deepEqual([intact, isKnownKey, checkpointSize, shown.length], [true, true, 9, 2]);
  assert.deepEqual(decision, {
    ...{ result: 'ok', agent: 'scout', tool: 'files.read' },
    decision: { effect: 'allow', rule_id: 'r' },
  });
  assert.equal((await verify(text, { verifier: undefined })).isKnownKey, false);
});

test('every part that is changed is found', async () => {
  const flip = (encoded = '', at = 40): string => {
    const bytes = Buffer.from(encoded, 'base64');
    bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1;
    return bytes.toString('base64');
  };
  const changes: [(receipt: Mutable, first: Part) => void, RegExp][] = [
    [(_, first) => set(first, { payload: `${first.payload} ` }), /content of record 3 was changed/],
    [(_, first) => set(first, { salt: flip(first.salt) }), /content of record 3 was changed/],
    [(_, first) => set(first, { leaf: flip(first.leaf, 11) }), /Record 3 is not in the log/],
    [(_, first) => set(first, { leaf: flip(first.leaf, 0) }), /a leaf that the gate does not write/],
    [(_, first) => set(first, { index: 4 }), /Record 4 is not in the log/],
    [(_, first) => set(first, { proof: first.proof.with(0, flip(first.proof[0])) }), /not in the log/],
    [(_, first) => set(first, { proof: first.proof.slice(1) }), /not in the log/],
    [(_, first) => set(first, { proof: [...first.proof, first.proof[0]] }), /not in the log/],
    [(r) => set(r, { checkpoint: r.checkpoint.replace('\n9\n', '\n8\n') }), /the note was changed/],
    [(r) => set(r, { call: otherCall }), /belongs to another call/],
    [(r) => set(r, { call: undefined }), /belongs to another call/],
    [(r) => set(r.decision, { result: 'denied' }), /decision in the receipt/],
    [(r) => set(r.decision.decision, { effect: 'deny' }), /decision in the receipt/],
    [(r) => set(r.decision, { consent: { by: 'me' } }), /decision in the receipt/],
    [(r) => set(r, { decision: null }), /decision in the receipt/],
    [(r) => set(r, { records: r.records.toReversed() }), /decision in the receipt/],
  ];
  for (const [change, expected] of changes) {
    assert.match(await judge((receipt) => change(receipt, receipt.records[0])), expected);
  }
});

test('content that is not there is not missed, as long as the leaf is proved', async () => {
  const receipt = JSON.parse(text) as Mutable;
  set(receipt.records[1], { salt: undefined, payload: undefined });
  const { intact, records: shown } = await verify(JSON.stringify(receipt));
  assert.deepEqual([intact, shown[1]?.payload], [true, undefined]);
});

test('a receipt is refused when a part is missing, or when it needs a newer verifier', async () => {
  const refused = async (change: (receipt: Mutable) => void, expected = /missing|not whole/) => {
    const receipt = JSON.parse(text) as Mutable;
    change(receipt);
    await assert.rejects(verify(JSON.stringify(receipt)), (error: Error) => {
      assert.ok(error instanceof ReceiptError, String(error));
      assert.match(error.message, expected);
      return true;
    });
  };
  await refused((r) => set(r, { format: 'sallyport-receipt-2' }), /of this version/);
  await refused((r) => set(r, { approver_signature: 'x' }), /signature of an approver/);
  await refused((r) => set(r, { approver_signature: undefined }), /signature of an approver/);
  for (const none of [[], {}, [null], undefined]) await refused((r) => set(r, { records: none }));
  for (const part of [{ salt: undefined }, { index: '3' }, { leaf: '!' }, { proof: 'x' }, { proof: ['!'] }]) {
    await refused((r) => set(r.records[0], part));
  }
  for (const part of [{ checkpoint: undefined }, { verifier: 7 }, { call: 7 }, { decision: 'x' }]) {
    await refused((r) => set(r, part));
  }
  await assert.rejects(verify('null'), ReceiptError);
  await assert.rejects(verify('[]'), ReceiptError);
});

test('a receipt of another key or of another log is not believed', async () => {
  const other = openSigner(createSigningKey(signer.name).privateKey);
  assert.match((await verify(text, { verifier: other.verifier })).problems.join(), /not signed by the key/);
  const foreign = signCheckpoint(signer, { origin: 'example.org/other', size: tree.size, root: tree.root() });
  const swapped = JSON.stringify({ ...(JSON.parse(text) as Receipt), checkpoint: foreign });
  assert.match((await verify(swapped)).problems.join(), /of another log/);
  await assert.rejects(verify(text, { verifier: 'x' }), CheckpointError);
});

test('a witness counts only with a cosignature over this checkpoint', async () => {
  const body = note.slice(0, note.lastIndexOf('\n\n') + 1);
  const withLine = (line: string) => JSON.stringify({ ...(JSON.parse(text) as Receipt), checkpoint: note + line });
  const witnesses = [witness.verifier];
  const line = cosign(witness, body, 1_767_323_050);
  const { intact, witnesses: seen, unknownSigners } = await verify(withLine(line), { witnesses });
  assert.deepEqual([intact, seen, unknownSigners], [true, [{ name: 'w.example', timeS: 1_767_323_050 }], []]);
  assert.deepEqual((await verify(withLine(line))).unknownSigners, ['w.example']);
  for (const bad of ['', cosign(witness, body.replace('9', '8'), 1), line.replace(/.{8}\n$/, 'AAAAAAA=\n')]) {
    assert.match((await verify(withLine(bad), { witnesses })).problems.join(), /has not cosigned/, bad);
  }
  await assert.rejects(verify(text, { witnesses: [verifier] }), CheckpointError, 'the key of a log is no witness');
});

test('a receipt of an erased call says which record erased it, and proves that too', async () => {
  const told = '{"event":"payloads_erased","records":"3-4"}';
  const salt = Buffer.alloc(32, 99);
  const erasure = {
    index: 9,
    salt,
    payload: told,
    leaf: encodeLeaf({ kind: 'event', result: 'none', timeMs: 9 }, commitPayload(salt, told)),
  };
  const all = [...records, erasure];
  const grown = new MerkleFrontier();
  for (const { leaf } of all) grown.append(hashLeaf(leaf));
  const parts = {
    call,
    checkpoint: signCheckpoint(signer, { origin: signer.name, size: grown.size, root: grown.root() }),
    size: grown.size,
    verifier,
    readNode: readNodesOf(all.map(({ leaf }) => hashLeaf(leaf))),
  };
  const erased = records.slice(3, 5).map(({ index, leaf }) => ({ index, leaf }));
  const report = await verify(writeReceipt({ ...parts, records: erased, erasures: [erasure] }));
  assert.deepEqual([report.intact, report.decision], [true, null]);
  assert.deepEqual(
    report.records.map(({ erasedBy }) => erasedBy),
    [9, 9],
  );
  assert.match(describeReceipt(report).join('\n'), /erased by the gate; record 9/);
  // Content that somebody only left out is not told as erased, and an erasure of something else is not believed.
  const leftOut = await verify(writeReceipt({ ...parts, records: erased }));
  assert.deepEqual([leftOut.intact, leftOut.records[0]?.erasedBy], [true, undefined]);
  const other = JSON.parse(writeReceipt({ ...parts, records: erased, erasures: [erasure] })) as { erasures: Part[] };
  set(other.erasures[0] as Part, { payload: told.replace('3-4', '3-5') });
  assert.match((await verify(JSON.stringify(other))).problems.join(), /content of record 9 was changed/);
  const unrelated = await verify(writeReceipt({ ...parts, records: records.slice(3, 5), erasures: [erasure] }));
  assert.match(unrelated.problems.join(), /erased nothing of this/);
});
