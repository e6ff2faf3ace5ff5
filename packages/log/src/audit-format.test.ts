import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { requirement } from '../../../test/requirement.ts';
import { findingKinds } from './findings.ts';
import { decodeLeaf, leafBytes } from './leaf.ts';
import vectors from './vectors.json' with { type: 'json' };

const page = readFileSync(new URL('../../../docs/audit-format.md', import.meta.url), 'utf8');
const [, example = '', takenApart = '', checkpoint = ''] = page.split('```text\n').map((part) => part.split('```')[0]);
const shown = new Map(example.split('\n').map((line) => [line.slice(0, 14).trim(), line.slice(14)]));
const record = vectors.records[1] as (typeof vectors.records)[number];
const unhex = (text: string | undefined) => Buffer.from(text ?? '', 'hex');
const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest('hex');

test('the worked example of the audit format shows the published vectors', () => {
  requirement('AUD-3');
  const proof = vectors.inclusionProofs.find(({ index, size }) => index === 1 && size === 4)?.proof ?? [];
  assert.deepEqual(Object.fromEntries(shown), {
    '': '',
    index: '1',
    payload: record.entry.payload,
    salt: record.salt,
    commitment: record.commitment,
    leaf: record.leaf,
    'leaf hash': record.leafHash,
    'tag key': vectors.key.tagKey,
    tag: record.tag,
    'sibling 0': proof[0],
    'sibling 1': proof[1],
    'root of 4': vectors.roots[4],
    verifier: vectors.key.verifier,
  });
  assert.equal(checkpoint, vectors.checkpoints.find(({ size }) => size === 4)?.note);
});

test('the formulas of the page lead from the payload of the example to its root', () => {
  assert.equal(
    sha256(Buffer.of(2), unhex(shown.get('salt')), Buffer.from(shown.get('payload') ?? '')),
    shown.get('commitment'),
  );
  assert.equal(sha256(Buffer.of(0), unhex(shown.get('leaf'))), shown.get('leaf hash'));
  const pair = sha256(Buffer.of(1), unhex(shown.get('sibling 0')), unhex(shown.get('leaf hash')));
  assert.equal(sha256(Buffer.of(1), unhex(pair), unhex(shown.get('sibling 1'))), shown.get('root of 4'));
  const bytes = takenApart.split('\n').map((line) => line.split(' ')[0]);
  assert.equal(bytes.join(''), record.leaf);
});

test('the table of the leaf is without gaps and says where each field is', () => {
  const rows = [...page.matchAll(/^\| (\d+) +\| (\d+) +\| ([a-z ]+[a-z]) +\|/gm)];
  const fields = new Map<string, string>();
  let next = 0;
  for (const [, offset, length, name] of rows) {
    assert.equal(Number(offset), next);
    next += Number(length);
    fields.set(name as string, record.leaf.slice(2 * Number(offset), 2 * next));
  }
  assert.equal(next, leafBytes);
  const leaf = decodeLeaf(unhex(record.leaf));
  assert.equal(Number(`0x${fields.get('time')}`), leaf.timeMs);
  assert.equal(fields.get('call id'), leaf.callId?.replaceAll('-', ''));
  assert.equal(fields.get('session id'), leaf.sessionId?.replaceAll('-', ''));
  assert.equal(fields.get('rules hash'), leaf.rulesHash);
  assert.equal(fields.get('payload commitment'), leaf.commitment.toString('hex'));
});

test('the page explains every kind of finding', () => {
  const [, section = ''] = page.split('## What verification finds');
  const [findings = ''] = section.split('\n## ');
  const explained = [...findings.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, kind]) => kind);
  assert.deepEqual(explained, [...findingKinds]);
});
