import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openRow, readRows, splitMarks } from './effect-rows.ts';

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

  it('begin anew with each file of a diff', () => {
    const file = (name: string): string =>
      `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n+x\n`;
    const kinds = ['file', 'file', 'file', 'place', 'added'];
    assert.deepEqual(kindsOf(`${file('one')}${file('two')}`), [...kinds, ...kinds]);
  });

  it('have the numbers of the lines in the file, and where a changed line differs', () => {
    const rows = readRows('--- a\n+++ a\n@@ -7,3 +9,3 @@\n same\n-const a = 1;\n+const a = 20;\n end\n');
    assert.deepEqual(
      rows.map(({ fileLine }) => fileLine),
      [undefined, undefined, undefined, 9, 8, 10, 11],
    );
    const shown = rows.flatMap(({ text, differs }) => (differs === undefined ? [] : [text.slice(...differs)]));
    assert.deepEqual(shown, ['1', '20']);
  });

  it('have no other numbers in a diff, and those of the effect in anything else', () => {
    const commit =
      'in: /work\ncommits:\ndiff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n';
    assert.deepEqual(
      readRows(commit).map(({ line, fileLine }) => fileLine ?? line),
      [...Array.from({ length: 7 }, () => undefined), 1],
    );
    assert.deepEqual(
      readRows('in: /work\nwrites: /work\n').map(({ line }) => line),
      [1, 2],
    );
  });

  it('mark no half of a character, and nothing where lines have little in common', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        for (const { text, differs } of readRows(`@@ -1 +1 @@\n-${before}\n+${after}\n`)) {
          const [from, to] = differs ?? [0, text.length];
          assert.ok(from <= text.length && to <= text.length && from <= to + text.length);
          for (const part of [text.slice(0, from), text.slice(from, to), text.slice(Math.max(from, to))]) {
            assert.equal(part.isWellFormed(), part === '' || text.isWellFormed() || part.isWellFormed());
          }
          assert.equal(text.slice(0, from) + text.slice(from, to) + text.slice(Math.max(from, to)), text);
        }
      }),
    );
    const [, removed] = readRows('@@ -1 +1 @@\n-one thing\n+QUITE ANOTHER\n');
    assert.equal(removed?.differs, undefined);
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

describe('the mark of a secret', () => {
  const mark = '[secret 1: GITHUB_TOKEN, 40 characters]';

  it('is never cut, wherever it stands in a long line, and nothing of the line is lost', () => {
    for (let before = 0; before < 330; before++) {
      const text = `${'x'.repeat(before)}${mark}${'y'.repeat(200)}${mark}`;
      const rows = readRows(text, [mark]);
      assert.equal(rows.map((row) => row.text).join(''), text);
      assert.equal(rows.flatMap((row) => splitMarks(row.text, [mark])).filter((piece) => piece === mark).length, 2);
    }
  });

  it('does not make a long line slow', () => {
    const text = `${'x'.repeat(2 * 1024 * 1024)}${mark}`;
    const before = process.cpuUsage();
    assert.ok(readRows(text, [mark]).at(-1)?.text.endsWith(mark));
    assert.ok(process.cpuUsage(before).user < 3_000_000, 'a search of all the text for each row takes longer');
  });

  it('is told from the text around it, whatever its name holds', () => {
    const odd = '[secret 2: a.b*(c)|d, 8 characters]';
    assert.deepEqual(splitMarks(`+${mark}${odd} [secret 1: x]`, [mark, odd]), ['+', mark, odd, ' [secret 1: x]']);
    assert.deepEqual(splitMarks('plain', []), ['plain']);
  });
});

describe('a row with something revealed in it', () => {
  const mark = '[secret 1: 40 characters]';
  const textsOf = (value: string): string[] =>
    openRow(`a${mark}b`, [mark], () => value).map((parts) => parts.map(({ text }) => text).join(''));

  it('stays one row when that is short, and has a row for each line when it is not', () => {
    assert.deepEqual(textsOf('xyz'), ['axyzb']);
    assert.deepEqual(textsOf('x\n\nz'), ['ax', '', 'zb']);
  });

  it('leaves nothing of it out, in rows that can be seen at once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (value) => {
        const rows = openRow(`a${mark}b`, [mark], () => value);
        assert.equal(textsOf(value).join('\n').replaceAll('\n', ''), `a${value}b`.replaceAll('\n', ''));
        assert.ok(rows.every((parts) => parts.reduce((sum, { text }) => sum + text.length, 0) <= 320));
        const parts = rows.flat().filter(({ isRevealed }) => isRevealed);
        assert.deepEqual(
          parts.map(({ goesOn = false }) => goesOn),
          parts.map((_, at) => at < parts.length - 1),
        );
      }),
    );
  });

  it('is as it was while nothing is revealed', () => {
    const [parts] = openRow(`a${mark}b`, [mark], () => undefined);
    assert.deepEqual(parts, [
      { text: 'a', isRevealed: false },
      { text: mark, mark, isRevealed: false },
      { text: 'b', isRevealed: false },
    ]);
  });
});
