import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCandidates } from './complete.ts';

/** What could stand in the place of the last word. */
async function candidates(...words: string[]): Promise<readonly string[] | string> {
  const found = await findCandidates(words, (kind, before) =>
    Promise.resolve([{ word: [`<${kind}>`, ...before].join(' '), meaning: '' }]),
  );
  return typeof found === 'string' ? found : found.map(({ word }) => word);
}

test('commands are completed level by level, and hidden ones are not offered', async () => {
  const first = await candidates('');
  assert.ok(first.includes('tool') && first.includes('doctor') && first.includes('completion'));
  assert.ok(!first.includes('complete'));
  const second = await candidates('tool', 'in');
  assert.ok(second.includes('invoke') && second.includes('install'));
});

test('options of the command and those of all commands are completed', async () => {
  const options = await candidates('tool', 'invoke', 'files.read', '--');
  for (const option of ['--input', '--timeout-ms', '--json', '--token-file', '--help'])
    assert.ok(options.includes(option));
  assert.ok(!options.includes('--folder'));
});

test('names of tools, installed tools and arguments come from the daemon', async () => {
  assert.deepEqual(await candidates('tool', 'invoke', ''), ['<tool>']);
  assert.deepEqual(await candidates('tool', 'show', 'fi'), ['<tool>']);
  assert.deepEqual(await candidates('tool', 'accept', ''), ['<installed-tool>']);
  assert.deepEqual(await candidates('tool', 'invoke', 'files.read', 'path=a', 'li'), [
    '<tool-argument> files.read path=a',
  ]);
});

test('an option that waits for its value takes the next word, and options in between do not count', async () => {
  assert.deepEqual(await candidates('tool', 'invoke', '--timeout-ms', '5', ''), ['<tool>']);
  assert.deepEqual(await candidates('--json', 'tool', 'invoke', '--json', ''), ['<tool>']);
  assert.equal(await candidates('tool', 'invoke', 'x', '--input-file', ''), ':files');
  assert.equal(await candidates('--token-file', ''), ':files');
  assert.deepEqual(await candidates('tool', 'list', '--tag', ''), []);
});

test('files are left to the shell, choices are listed, and where nothing fits nothing is offered', async () => {
  assert.equal(await candidates('tool', 'install', ''), ':files');
  assert.equal(await candidates('content', 'put', ''), ':files');
  assert.deepEqual(await candidates('completion', ''), ['bash', 'zsh', 'fish']);
  assert.deepEqual(await candidates('status', ''), []);
  assert.deepEqual(await candidates('tool', 'show', 'one', ''), []);
});
