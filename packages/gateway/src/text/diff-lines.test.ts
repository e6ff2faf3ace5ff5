import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { diffLines } from './diff-lines.ts';

test('equal texts have no difference', () => {
  assert.equal(diffLines('a\n', 'a\n', 'f'), '');
});

test('changes far apart are hunks of their own, with three lines around them', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `${index}`);
  const before = `${lines.join('\n')}\n`;
  const after = before.replace('2\n', 'two\n').replace('17\n', '');
  assert.equal(
    diffLines(before, after, 'f.txt'),
    [
      '--- f.txt',
      '+++ f.txt',
      '@@ -1,6 +1,6 @@',
      ' 0',
      ' 1',
      '-2',
      '+two',
      ' 3',
      ' 4',
      ' 5',
      '@@ -15,6 +15,5 @@',
      ' 14',
      ' 15',
      ' 16',
      '-17',
      ' 18',
      ' 19',
      '',
    ].join('\n'),
  );
});

test('a new file starts at line zero of nothing, and a missing line end is shown', () => {
  assert.equal(diffLines('', 'a\n', 'f'), '--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n');
  assert.equal(diffLines('a', 'a\n', 'f'), '--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n');
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', '\n'), maxLength: 60 });

test('applying the difference to the old text gives the new one', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      assert.equal(applyDiff(before, diffLines(before, after, 'f')), after);
    }),
    { numRuns: 2000 },
  );
});

test('texts with nothing in common are still a correct difference', () => {
  const before = Array.from({ length: 3000 }, (_, index) => `old ${index}\n`).join('');
  const after = Array.from({ length: 3000 }, (_, index) => `new ${index}\n`).join('');
  assert.equal(applyDiff(before, diffLines(before, after, 'f')), after);
});

/** What `patch` does, for diffs whose line numbers are exact. */
function applyDiff(before: string, diff: string): string {
  if (diff === '') return before;
  const source = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let at = 0;
  const lines = diff.replaceAll('\n\\ No newline at end of file', '\\').split('\n').slice(2, -1);
  for (const line of lines) {
    const range = /^@@ -(\d+),(\d+)/.exec(line);
    if (range) {
      const start = Number(range[1]) - (range[2] === '0' ? 0 : 1);
      result.push(...source.slice(at, start));
      at = start;
      continue;
    }
    const content = line.endsWith('\\') ? line.slice(1, -1) : `${line.slice(1)}\n`;
    if (!line.startsWith('+')) assert.equal(source[at++], content);
    if (!line.startsWith('-')) result.push(content);
  }
  return [...result, ...source.slice(at)].join('');
}
