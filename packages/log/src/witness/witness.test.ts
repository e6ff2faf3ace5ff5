import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSigningKey, isSignedBy, openSigner, signCheckpoint } from '../checkpoint.ts';
import { cosignaturesOf } from '../cosigned-message.ts';
import { hashLeaf, MerkleFrontier } from '../merkle.ts';
import { proveConsistency, readNodesOf } from '../merkle-proof.ts';
import { keyTypes, parsePublicKey, readNote } from '../note.ts';
import { Witness } from './witness.ts';

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const log = openSigner(createSigningKey('log.example').privateKey);
const signer = openSigner(createSigningKey('w.example', keyTypes.cosignature).privateKey, keyTypes.cosignature);
const history = (seed: string) => Array.from({ length: 20 }, (_, index) => hashLeaf(Buffer.from(`${seed} ${index}`)));
const ours = history('ours');

function open(folder = mkdtempSync(join(tmpdir(), 'sallyport-witness-'))) {
  folders.push(folder);
  return { folder, witness: new Witness({ signer, logs: [log], folder, nowS: () => 1_767_323_050 }) };
}

function sign(size: number, hashes = ours, by = log): string {
  const tree = new MerkleFrontier();
  for (const hash of hashes.slice(0, size)) tree.append(hash);
  return signCheckpoint(by, { origin: by.name, size, root: tree.root() });
}

function ask(oldSize: number, size: number, hashes = ours): string {
  const proof = proveConsistency(oldSize, size, readNodesOf(hashes));
  return write(oldSize, proof, sign(size, hashes));
}

function write(oldSize: number | string, proof: readonly Uint8Array[], note: string): string {
  return `old ${oldSize}\n${proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')}\n${note}`;
}

test('a witness signs each checkpoint that continues the one before, and remembers it', () => {
  const { folder, witness } = open();
  for (const [oldSize, size] of [
    [0, 5],
    [5, 5],
    [5, 16],
    [16, 20],
  ] as const) {
    const { status, body } = witness.addCheckpoint(ask(oldSize, size));
    assert.equal(status, 200, body);
    const key = parsePublicKey(signer.verifier, keyTypes.cosignature);
    const [found] = cosignaturesOf(readNote(sign(size) + body), key);
    assert.ok(found && isSignedBy(key, found.message, found.signature));
    assert.equal(found.timeS, 1_767_323_050);
  }
  const again = open(folder).witness;
  assert.deepEqual(again.addCheckpoint(ask(0, 20)), { status: 409, contentType: 'text/x.tlog.size', body: '20\n' });
});

test('a witness signs no other history, whatever is claimed about it', () => {
  const { witness } = open();
  assert.equal(witness.addCheckpoint(ask(0, 8)).status, 200);
  const theirs = history('theirs');
  assert.equal(witness.addCheckpoint(ask(8, 12, theirs)).status, 422, 'a split view');
  assert.equal(witness.addCheckpoint(write(8, [], sign(8, theirs))).status, 422, 'the same size with another root');
  assert.equal(witness.addCheckpoint(write(8, [], sign(12))).status, 422, 'no proof');
  assert.equal(witness.addCheckpoint(ask(0, 12, theirs)).body, '8\n', 'a beginning that is denied');
  assert.equal(witness.addCheckpoint(ask(3, 5)).status, 409, 'a log that was put back');
  assert.equal(witness.addCheckpoint(ask(8, 12)).status, 200, 'the true one goes on');
});

test('a proof is not taken where none belongs, and an empty log has one root', () => {
  const { witness } = open();
  assert.equal(witness.addCheckpoint(write(0, [ours[0] as Buffer], sign(8))).status, 422);
  const bad = signCheckpoint(log, { origin: log.name, size: 0, root: Buffer.alloc(32) });
  assert.equal(witness.addCheckpoint(write(0, [], bad)).status, 422);
  assert.equal(witness.addCheckpoint(write(0, [], sign(0))).status, 200);
});

test('who is not known, and what is not signed or not a request, is refused', () => {
  const { witness } = open();
  const stranger = openSigner(createSigningKey('other.example').privateKey);
  const namesake = openSigner(createSigningKey(log.name).privateKey);
  assert.equal(witness.addCheckpoint(write(0, [], sign(5, ours, stranger))).status, 404);
  assert.equal(witness.addCheckpoint(write(0, [], sign(5, ours, namesake))).status, 403);
  assert.equal(witness.addCheckpoint(write(0, [], sign(5).replace('\n5\n', '\n6\n'))).status, 403);
  assert.equal(witness.addCheckpoint(write(9, [], sign(5))).status, 400);
  const bad = ['', 'old 0\n', 'old 0\n\n', `old 01\n\n${sign(5)}`, `old -1\n\n${sign(5)}`, `new 0\n\n${sign(5)}`];
  bad.push(
    `old 0\nAAAA\n\n${sign(5)}`,
    write(
      0,
      Array.from({ length: 64 }, () => ours[0] as Buffer),
      sign(5),
    ),
  );
  for (const request of bad) assert.equal(witness.addCheckpoint(request).status, 400, request);
});

test('a memory that was changed signs nothing', () => {
  const { folder, witness } = open();
  assert.equal(witness.addCheckpoint(ask(0, 8)).status, 200);
  const [file = ''] = readdirSync(folder);
  writeFileSync(join(folder, file), readFileSync(join(folder, file), 'utf8').replace('\n8\n', '\n2\n'));
  assert.throws(() => witness.addCheckpoint(ask(2, 12)), /the note was changed/);
});
