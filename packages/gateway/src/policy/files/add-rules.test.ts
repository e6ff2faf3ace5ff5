import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addRules } from './add-rules.ts';

const draft = (freeId: (word: string) => string): readonly string[] => [
  `- id: ${freeId('Allow files.read')}\n  effect: allow\n`,
  `- id: ${freeId('Allow files.read')}\n  effect: allow\n`,
];

function add(text: string): string {
  const { bytes } = addRules({ file: '/rules/tools.yaml', bytes: new TextEncoder().encode(text) }, draft);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

test('rules are added at the end of the list, indented as the others, and nothing else of the file changes', () => {
  const before = '\ufeff# mine\nversion: 1\nrules:\n    - id: a\n      effect: deny # why\n\n# the end\nother: 1\n';
  const added =
    '\n    - id: allow-files-read\n      effect: allow\n\n    - id: allow-files-read-2\n      effect: allow\n';
  assert.equal(add(before), before.replace('# why\n', `# why\n${added}`));
});

test('ids of rules that are there are not taken again', () => {
  const text = add('version: 1\nrules:\n- id: allow-files-read\n  effect: deny');
  assert.match(text, /effect: deny\n\n- id: allow-files-read-2\n.*\n\n- id: allow-files-read-3\n/s);
});

test('a list that is written in another way is left to its owner', () => {
  for (const text of ['version: 1\nrules: []\n', 'version: 1\n', 'rules: [{ id: a }]\n', '']) {
    assert.throws(() => add(text), /cannot be added to \/rules\/tools\.yaml/);
  }
});
