import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileCommandPattern, parseCommand } from './command-pattern.ts';
import { joinWords, splitWords } from './shell-words.ts';

function matches(pattern: string, command: string): boolean {
  const claimed = parseCommand(command);
  assert.ok(claimed !== undefined, `${command} is no command`);
  return compileCommandPattern(pattern)(claimed);
}

const cases: readonly (readonly [pattern: string, command: string, matches: boolean])[] = [
  // Word by word
  ['git status', 'git status', true],
  ['git status', 'git status --short', false],
  ['git status', 'git', false],
  ['git status', 'git statusx', false],
  ['git status', 'GIT status', false],
  ['git   status', 'git status', true],
  ['git status', 'git-status', false],

  // A star alone at the end: any further words, also none
  ['git status *', 'git status', true],
  ['git status *', 'git status --short', true],
  ['git status *', "git status --short 'a b' c", true],
  ['git status *', 'git push', false],
  ['git status *', 'git -C /x status', false],
  ['git *', 'git', true],
  ['git *', 'gitk', false],
  ['*', 'rm -rf /', true],

  // A star in a word: any text of that word and never of the next
  ['git * --short', 'git status --short', true],
  ['git * --short', 'git --short', false],
  ['git * --short', 'git a b --short', false],
  ['npm run test:*', 'npm run test:unit', true],
  ['npm run test:*', 'npm run test:unit --watch', false],
  ['npm run test:*', "npm run 'test:unit; rm -rf /'", true],
  ['npm run *-*', 'npm run a-b', true],
  ['ls *.ts', 'ls a.ts', true],
  ['ls *.ts', 'ls a.ts b.ts', false],
  ['tool a*b*c', 'tool abc', true],
  ['tool a*b*c', 'tool acb', false],

  // Quotes
  ["grep 'a b' *", "grep 'a b' file", true],
  ["grep 'a b' *", 'grep a b file', false],
  ["grep 'a b' *", 'grep a\\ b file', true],
  ["ls '*'", "ls '*'", true],
  ["ls '*'", 'ls x', false],
  ["ls '*'", "ls '*' x", false],
  ["ls '*.ts'", 'ls a.ts', false],
  ["say ''", "say ''", true],
  ["say ''", 'say', false],
  ["say 'it'\\''s'", 'say "it\'s"', true],
  ['say "$"*', "say '$x'", false],

  // The program: by name on the fixed path, else by its absolute path
  ['git *', '/opt/evil/git status', false],
  ['/opt/tools/lint *', '/opt/tools/lint src', true],
  ['/opt/tools/lint *', 'lint src', false],
  ['python3*', 'python3.12', true],
  ['/opt/tools/*', '/opt/tools/lint', true],
  ['/opt/tools/* *', '/opt/tools/sub/lint', false],
  ['/opt/*/lint', '/opt/a/b/lint', false],
];

test('command patterns match word by word', () => {
  for (const [pattern, command, expected] of cases) {
    if (pattern.includes('"$"')) assert.throws(() => compileCommandPattern(pattern), { name: 'WordsError' });
    else assert.equal(matches(pattern, command), expected, `${pattern} on ${command}`);
  }
});

const refused: readonly (readonly [pattern: string, because: RegExp])[] = [
  ['', /names no program/],
  ['   ', /names no program/],
  ["''", /empty program/],
  ['./run *', /absolute path/],
  ['bin/run', /absolute path/],
  ['../run', /absolute path/],
  ['/opt/../bin/sh', /absolute path/],
  ['/opt//sh', /absolute path/],
  ['..', /absolute path/],
  ['git status; rm *', /";" outside quotes/],
  ['git log | less', /"\|" outside quotes/],
  ['echo $HOME', /"\$" outside quotes/],
  ['echo `id`', /"`" outside quotes/],
  ['echo "$IFS"', /in double quotes/],
  ['ls ?.ts', /"\?" outside quotes/],
  ['ls {a,b}', /"\{" outside quotes/],
  ['ls [ab]', /"\[" outside quotes/],
  ['ls > out', /">" outside quotes/],
  ['ls \n rm', /outside quotes/],
  ["grep 'a", /quote that does not end/],
  ['grep "a', /quote that does not end/],
  ['ls \\', /ends with/],
  ['ls # all', /starts with "#"/],
  [`x ${'a'.repeat(1024)}`, /longer than/],
];

test('a command pattern that a shell would take otherwise is refused with the reason', () => {
  for (const [pattern, because] of refused) {
    assert.throws(() => compileCommandPattern(pattern), { name: 'WordsError', message: because }, pattern);
  }
});

test('what is no plain command has no words to be judged by', () => {
  const odd = ['', ' ', 'git ', ' git', 'git status; rm', 'a | b', 'a && b', 'a $x', 'a$IFS-b', "a 'b", 'a *', 'a\0b'];
  for (const command of [...odd, './x', '../x', '/a/../b', 'a\nb', 'x \ud800', "''"]) {
    assert.equal(parseCommand(command), undefined, command);
  }
});

test('words that are joined come apart as they were, here and in a shell', () => {
  const word = fc.string({ unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '*', '#', '\n', 'é', '-', ';') });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      assert.deepEqual(
        splitWords(joinWords(words)).map(([text]) => text),
        words,
      );
    }),
  );
  const words = ['a', 'b c', "it's", '$(id)', '*', '', 'é\n"', '#x', '~', '--x=1'];
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${joinWords(words)}`], { encoding: 'utf8' });
  assert.deepEqual(printed.split('\0').slice(0, -1), words);
});

test('a command fits the pattern that is made of it, and no pattern of other words', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '*', "'"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 4 }), (some, others) => {
      const [command, other] = [
        ['run', ...some],
        ['run', ...others],
      ];
      assert.equal(matches(joinWords(command), joinWords(command)), true);
      assert.equal(matches(`${joinWords(command)} *`, joinWords([...command, ...others])), true);
      const same = JSON.stringify(command) === JSON.stringify(other);
      assert.equal(matches(joinWords(command), joinWords(other)), same);
    }),
  );
});

test('hostile words do not make a pattern go back and forth forever', () => {
  assert.equal(matches(`x ${'*a'.repeat(400)}b`, `x ${'a'.repeat(100_000)}`), false);
  assert.equal(matches('x a *', `x ${'b '.repeat(50_000)}b`), false);
});
