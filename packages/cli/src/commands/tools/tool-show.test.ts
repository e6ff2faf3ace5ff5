import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleCalls, spellInvocation } from './tool-show.ts';

const inputSchemaJson = JSON.stringify({
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
});

test('the calls to copy are those of the author, and one from the schema where the author gave none', () => {
  const examplesJson = ['{"path":"notes.md"}', '{"path":"old.txt"}'];
  assert.deepEqual(exampleCalls({ examplesJson, inputSchemaJson }), [{ path: 'notes.md' }, { path: 'old.txt' }]);
  assert.deepEqual(exampleCalls({ examplesJson: [], inputSchemaJson }), [{ path: 'PATH' }]);
});

test('a call is spelled in one line, with pairs where they read back as what they are', () => {
  assert.equal(spellInvocation('files.read', { path: 'a b', limit: 3 }), "tool invoke files.read 'path=a b' limit=3");
  for (const value of ['two\nlines', '3', ['x']]) {
    const input = JSON.stringify({ value });
    assert.equal(spellInvocation('t', { value }), `tool invoke t --input '${input}'`);
  }
});
