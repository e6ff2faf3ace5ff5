import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readRows } from './effect-rows.ts';

const kindsOf = (effect: string): string[] => readRows(effect).map(({ kind }) => kind);

describe('the rows of an effect', () => {
  it('tell added from removed lines of a diff', () => {
    assert.deepEqual(kindsOf('--- a\n+++ a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n'), [
      'file',
      'file',
      'place',
      'plain',
      'removed',
      'added',
    ]);
  });

  it('are not fooled by lines of a hunk that look like the head of a file', () => {
    assert.deepEqual(kindsOf('--- a\n+++ a\n@@ -1 +1 @@\n--- gone\n+++ come\n'), [
      'file',
      'file',
      'place',
      'removed',
      'added',
    ]);
  });

  it('mean nothing by a leading minus when it is no diff', () => {
    assert.deepEqual(kindsOf('-rf /\n+1\n'), ['plain', 'plain']);
  });

  it('leave nothing out, and no row is too long to be seen at once', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 900 })), (lines) => {
        const effect = lines.map((line) => line.replaceAll('\n', '')).join('\n');
        const rows = readRows(effect);
        const joined = rows.map(({ text, isContinued }, at) => (isContinued || at === 0 ? text : `\n${text}`)).join('');
        assert.equal(joined, effect.replace(/\n$/, ''));
        assert.ok(rows.every(({ text }) => text.length <= 160));
        assert.ok(rows.every(({ text }) => text.isWellFormed()));
      }),
    );
  });
});
