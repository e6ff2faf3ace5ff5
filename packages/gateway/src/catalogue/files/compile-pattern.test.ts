import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileExpression, compileGlob, compileLiteral } from './compile-pattern.ts';
import { endsWith } from './test-workspace.ts';

const exact = { caseSensitive: true };

test('a glob matches by component', () => {
  const cases: readonly (readonly [glob: string, matching: readonly string[], other: readonly string[]])[] = [
    ['*', ['a', '.a', ''], ['a/b']],
    ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'b/a.ts']],
    ['?.md', ['a.md', '€.md', '😀.md'], ['.md', 'ab.md', '/.md']],
    ['**', ['a', 'a/b'], []],
    ['**/a', ['a', 'b/a', 'c/b/a'], ['ba', 'a/b']],
    ['src/**/a', ['src/a', 'src/b/a'], ['a', 'src/ba']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax', '/x']],
    ['a{b,cd}', ['ab', 'acd'], ['a', 'abcd']],
    ['a{b,c{d,e}}', ['ab', 'acd', 'ace'], ['ac']],
    ['a,b', ['a,b'], ['a']],
    ['[', ['['], ['a']],
    ['a.b+(c)', ['a.b+(c)'], ['aXb+(c)', 'a.bb(c)']],
    ['a\nb*', ['a\nbc'], []],
    ['[\\^]', ['\\', '^'], ['a']],
  ];
  for (const [glob, matching, other] of cases) {
    const matches = compileGlob(glob, exact);
    for (const text of matching) assert.ok(matches(text), `${glob} matches ${text}`);
    for (const text of other) assert.ok(!matches(text), `${glob} does not match ${text}`);
  }
});

test('case is ignored when asked for', () => {
  assert.ok(compileGlob('*.TS', { caseSensitive: false })('a.ts'));
  assert.ok(!compileGlob('*.TS', exact)('a.ts'));
});

test('a literal matches itself and only itself', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (literal, text) => {
      assert.equal(compileLiteral(literal, exact)(text), text.includes(literal));
      assert.ok(compileLiteral(literal, exact)(`${text}${literal}${text}`));
    }),
  );
});

test('every glob either compiles or is refused with a reason', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('*', '?', '[', ']', '!', '{', '}', ',', '-', '^', '\\', '/', 'a', '€') }),
      (glob) => {
        try {
          compileGlob(glob, exact)('a/b');
        } catch (error) {
          endsWith('INVALID_ARGUMENTS')(error);
        }
      },
    ),
  );
});

test('patterns that would need backtracking are refused', () => {
  for (const expression of ['(a)\\1', '(?=a)', '(', 'a{5000}', '(a{500}){500}']) {
    assert.throws(() => compileExpression(expression, exact), endsWith('INVALID_ARGUMENTS'));
  }
});
