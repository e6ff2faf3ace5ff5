import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePathPattern, parsePathPattern } from './path-pattern.ts';
import { createPathPlacer } from '../judge/place-path.ts';

const folders = { HOME: ['/home/ada'], WORKSPACE: ['/home/ada/work'] };
const place = createPathPlacer(folders, 'exact');

const matchingCases: readonly (readonly [pattern: string, path: string, matches: boolean])[] = [
  // Literals
  ['/', '/', true],
  ['/', '/a', false],
  ['/a/b', '/a/b', true],
  ['/a/b', '/a', false],
  ['/a/b', '/a/b/c', false],
  ['/a/b', '/a/bc', false],
  ['/a/b', '/x/a/b', false],
  ['/a.b', '/aXb', false],
  ['/a+(b)|c^', '/a+(b)|c^', true],

  // * and ? stay within one component
  ['/*', '/a', true],
  ['/*', '/', false],
  ['/*', '/a/b', false],
  ['/a/*', '/a/b', true],
  ['/a/*', '/a', false],
  ['/a/*', '/a/b/c', false],
  ['/a/*', '/a/.hidden', true],
  ['/a/*.ts', '/a/x.ts', true],
  ['/a/*.ts', '/a/.ts', true],
  ['/a/*.ts', '/a/x.tsx', false],
  ['/a/*.ts', '/a/b/x.ts', false],
  ['/a/x*', '/a/x', true],
  ['/a/x*', '/a/xyz', true],
  ['/a/x*', '/a/yx', false],
  ['/a/x*z', '/a/xyz', true],
  ['/a/x*z', '/a/xz', true],
  ['/a/xx*xx', '/a/xxx', false],
  ['/a/*x*y*', '/a/1x2y3', true],
  ['/a/*x*y*', '/a/1y2x3', false],
  ['/a/*/c', '/a/b/c', true],
  ['/a/*/c', '/a/c', false],
  ['/a/*/c', '/a/b/b/c', false],
  ['/a/?', '/a/b', true],
  ['/a/?', '/a/bc', false],
  ['/a/?', '/a', false],
  ['/a/?', '/a/😀', true],
  ['/a/??', '/a/😀', false],
  ['/a/?/c', '/a/b/c', true],
  ['/a?b', '/a/b', false],
  ['/a*b', '/a/b', false],

  // ** spans components, also none
  ['/**', '/', true],
  ['/**', '/a', true],
  ['/**', '/a/b/c', true],
  ['/a/**', '/a', true],
  ['/a/**', '/a/b', true],
  ['/a/**', '/a/b/c', true],
  ['/a/**', '/ab', false],
  ['/a/**', '/', false],
  ['/**/a', '/a', true],
  ['/**/a', '/b/c/a', true],
  ['/**/a', '/b/a/c', false],
  ['/**/a', '/ba', false],
  ['/**/*', '/', false],
  ['/**/*', '/a', true],
  ['/**/*.pem', '/keys/server.pem', true],
  ['/**/*.pem', '/server.pem.txt', false],
  ['/**/a/b', '/a/b', true],
  ['/**/a/b', '/x/a/b', true],
  ['/**/a/b', '/xa/b', false],
  ['/**/a/b', '/a/b/c', false],
  ['/**/a/**', '/a', true],
  ['/**/a/**', '/x/a/y', true],
  ['/**/a/**', '/x/ab/y', false],
  ['/**/a/**', '/x/ba/y', false],
  ['/a/**/b', '/a/b', true],
  ['/a/**/b', '/a/x/y/b', true],
  ['/a/**/b', '/a', false],
  ['/a/**/b', '/a/xb', false],
  ['/a/**/b/**/c', '/a/b/c', true],
  ['/a/**/b/**/c', '/a/1/b/2/b/3/c', true],
  ['/a/**/b/**/c', '/a/c/b', false],
  ['/a/*/**', '/a', false],
  ['/a/*/**', '/a/b', true],
  ['/a/**/*', '/a', false],
  ['/a/**/**/b', '/a/b', true],
  ['/**/x*/y?/**', '/1/x2/y3', true],
  ['/**/x*/y?/**', '/1/x2/y', false],

  // Variables
  ['$WORKSPACE', '/home/ada/work', true],
  ['$WORKSPACE', '/home/ada/work/a', false],
  ['$WORKSPACE/**', '/home/ada/work', true],
  ['$WORKSPACE/**', '/home/ada/work/a/b', true],
  ['$WORKSPACE/**', '/home/ada/workshop', false],
  ['$WORKSPACE/**', '/home/ada', false],
  ['$WORKSPACE/*.md', '/home/ada/work/notes.md', true],
  ['$WORKSPACE/**/.env', '/home/ada/work/.env', true],
  ['$WORKSPACE/**/.env', '/home/ada/.env', false],
  ['$WORKSPACE/**/*', '/home/ada/work', false],
  ['$HOME/.ssh/**', '/home/ada/.ssh/id_rsa', true],
  ['$HOME/.ssh/**', '/home/ada/work/.ssh/id_rsa', false],
  ['$HOME/*', '/home/ada/work', true],

  // Letters count as written
  ['/a/README', '/a/readme', false],
  ['/A/**', '/a/x', false],
];

test('patterns match component by component', () => {
  for (const [pattern, path, expected] of matchingCases) {
    assert.equal(compilePathPattern(pattern)(place(path)), expected, `${pattern} on ${path}`);
  }
});

const refusedPatterns: readonly (readonly [pattern: string, because: RegExp])[] = [
  ['', /must start with/],
  ['a/b', /must start with/],
  ['*', /must start with/],
  ['**/.env', /must start with/],
  ['~/x', /write \$HOME/],
  ['$PWD/x', /unknown variable/],
  ['$(HOME)/x', /unknown variable/],
  ['$HOMES/x', /unknown variable/],
  ['$/x', /unknown variable/],
  ['$HOME.old/x', /must start with/],
  ['/a/$HOME', /"\$" after its start/],
  ['/a//b', /empty component/],
  ['/a/', /empty component/],
  ['$HOME/', /empty component/],
  ['//', /empty component/],
  ['/a/./b', /"\." component/],
  ['/a/../b', /"\.\." component/],
  ['$WORKSPACE/..', /"\.\." component/],
  ['/a\0b', /control character/],
  ['/a\nb', /control character/],
  ['/a\ud800', /control character/],
  ['/a/**b', /stand alone/],
  ['/a/***', /stand alone/],
  ['/a/[bc]', /has a "\["/],
  ['/a/{b,c}', /has a "\{"/],
  ['/a/b\\*', /has a "\\"/],
  [`/${'a'.repeat(2000)}`, /longer than/],
];

test('a pattern that could be misunderstood is refused with the reason', () => {
  for (const [pattern, because] of refusedPatterns) {
    assert.throws(() => parsePathPattern(pattern), { name: 'PathPatternError', message: because }, pattern);
  }
});

test('glob characters in the name of the workspace are letters', () => {
  const placeInOdd = createPathPlacer({ HOME: ['/h'], WORKSPACE: ['/w/a*b?[c]'] }, 'exact');
  const inWorkspace = compilePathPattern('$WORKSPACE/**');
  assert.equal(inWorkspace(placeInOdd('/w/a*b?[c]/x')), true);
  assert.equal(inWorkspace(placeInOdd('/w/aXbY[c]/x')), false);
  assert.equal(inWorkspace(placeInOdd('/w/aXbYc/x')), false);
});

test('a variable with two spellings matches below both', () => {
  const placeLinked = createPathPlacer({ HOME: ['/home/ada', '/data/ada'], WORKSPACE: ['/w'] }, 'exact');
  const inSsh = compilePathPattern('$HOME/.ssh/**');
  assert.equal(inSsh(placeLinked('/home/ada/.ssh/config')), true);
  assert.equal(inSsh(placeLinked('/data/ada/.ssh/config')), true);
  assert.equal(inSsh(placeLinked('/data/eve/.ssh/config')), false);
});

test('a home at the root of the file system holds everything', () => {
  const placeFromRoot = createPathPlacer({ HOME: ['/'], WORKSPACE: ['/w'] }, 'exact');
  assert.equal(compilePathPattern('$HOME/etc/*')(placeFromRoot('/etc/passwd')), true);
  assert.equal(compilePathPattern('$HOME')(placeFromRoot('/')), true);
  assert.equal(compilePathPattern('$HOME')(placeFromRoot('/etc')), false);
});

test('a lowered pattern matches lowered paths below a folder with capitals', () => {
  const placeLowered = createPathPlacer({ HOME: ['/Users/Ada'], WORKSPACE: ['/Users/Ada/Work'] }, 'lowered');
  const matches = compilePathPattern('$WORKSPACE/**/.ENV', 'lowered');
  assert.equal(matches(placeLowered('/users/ada/work/app/.env')), true);
});

/** The meaning of a pattern, written down without any thought of speed. */
function matchesByDefinition(pattern: string, path: string): boolean {
  const split = (text: string): string[] => (text === '/' ? [] : text.slice(1).split('/'));
  const fits = (glob: readonly string[], name: readonly string[]): boolean => {
    const [first, ...others] = glob;
    if (first === undefined) return name.length === 0;
    if (first === '*') return fits(others, name) || (name.length > 0 && fits(glob, name.slice(1)));
    return name.length > 0 && (first === '?' || first === name[0]) && fits(others, name.slice(1));
  };
  const match = (globs: readonly string[], names: readonly string[]): boolean => {
    const [first, ...others] = globs;
    if (first === undefined) return names.length === 0;
    if (first === '**') return match(others, names) || (names.length > 0 && match(globs, names.slice(1)));
    return names[0] !== undefined && fits(Array.from(first), Array.from(names[0])) && match(others, names.slice(1));
  };
  return match(split(pattern), split(path));
}

const name = fc
  .array(fc.constantFrom('a', 'b', '.', '😀'), { minLength: 1, maxLength: 4 })
  .map((letters) => letters.join(''))
  .filter((text) => text !== '.' && text !== '..');
const glob = fc
  .array(fc.constantFrom('a', 'b', '.', '😀', '*', '?'), { minLength: 1, maxLength: 5 })
  .map((letters) => letters.join(''))
  .filter((text) => text !== '.' && text !== '..' && !text.includes('**'));
const pathArbitrary = fc.array(name, { maxLength: 6 }).map((names) => `/${names.join('/')}`);
const patternArbitrary = fc
  .array(fc.oneof(fc.constant('**'), glob, name), { maxLength: 6 })
  .map((components) => `/${components.join('/')}`);

test('every pattern means what its definition says', () => {
  fc.assert(
    fc.property(patternArbitrary, pathArbitrary, (pattern, path) => {
      assert.equal(compilePathPattern(pattern)(place(path)), matchesByDefinition(pattern, path));
    }),
    { numRuns: 3000 },
  );
});

test('a path fits the pattern that is made of it, and that pattern with any depth before or after', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.nat(4), (names, cut) => {
      const path = place(`/${names.join('/')}`);
      const at = Math.min(cut, names.length);
      const withDepth = [...names.slice(0, at), '**', ...names.slice(at)].join('/');
      assert.equal(compilePathPattern(`/${names.join('/')}`)(path), true);
      assert.equal(compilePathPattern(`/${withDepth}`)(path), true);
    }),
  );
});

test('hostile paths do not make a pattern go back and forth forever', () => {
  // Each of these takes longer than the age of the machine when all ways to divide the text are tried.
  const manyDepths = compilePathPattern(`/${'**/a/'.repeat(60)}b`);
  assert.equal(manyDepths(place(`/${'a/'.repeat(2000)}c`)), false);
  const manyStars = compilePathPattern(`/${'*a'.repeat(60)}b`);
  assert.equal(manyStars(place(`/${'a'.repeat(4000)}`)), false);
  const both = compilePathPattern(`/**/${'*a'.repeat(20)}/**/b`);
  assert.equal(both(place(`/${`${'a'.repeat(200)}/`.repeat(20)}c`)), false);
});
