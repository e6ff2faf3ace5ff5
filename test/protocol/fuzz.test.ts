import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../requirement.ts';
import { fuzz, readCorpus } from './fuzz.ts';
import { InMemoryDoor } from './in-memory-door.ts';

const kinds: Readonly<Record<string, string>> = {
  'empty.bin': 'malformed',
  'file-edit.bin': 'submitted',
  'file-read-climbs.bin': 'malformed',
  'file-read-largest-numbers.bin': 'malformed',
  'file-read-nul.bin': 'malformed',
  'invalid-utf8.bin': 'undecodable',
  'length-beyond-end.bin': 'undecodable',
  'long-varint.bin': 'undecodable',
  'nested-groups.bin': 'undecodable',
  'truncated.bin': 'undecodable',
  'two-tools.bin': 'submitted',
  'unknown-fields.bin': 'submitted',
};

test('the messages of the corpus meet the fate that their names promise', async () => {
  requirement('WIRE-3');
  const corpus = readCorpus();
  const door = new InMemoryDoor();
  for (const [name, kind] of Object.entries(kinds)) {
    const bytes = corpus.get(name) ?? assert.fail(`${name} is gone`);
    assert.equal((await door.receive(bytes)).kind, kind, name);
  }
});

test('mutated messages are an error, a list of violations or a request, and leave nothing behind', async () => {
  requirement('WIRE-3', 'NFR-4');
  const seed = Date.now() % 2 ** 31;
  const { inputs, fates, grownBytes } = await fuzz({ seed, inputs: 1_000_000, limitMs: 5000 });
  const told = `seed ${seed}: ${JSON.stringify({ inputs, fates, grownBytes })}`;
  // Pure rubbish would test only the first line of the decoder.
  for (const count of Object.values(fates)) assert.ok(count > inputs / 100, told);
  assert.ok(grownBytes < 30_000_000, told);
});
