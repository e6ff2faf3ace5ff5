import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolRefused } from '../../call/tool.ts';
import { listCommands } from './command-line.ts';
import { maxCommandBytes, parseCommand } from './parse-command.ts';

function wordsOf(text: string): readonly (readonly string[])[] {
  return listCommands(parseCommand(text)).map(({ words }) => words);
}

function refusalOf(text: string): string {
  try {
    parseCommand(text);
  } catch (error) {
    assert.ok(error instanceof ToolRefused && error.refusal.code === 'COMMAND_UNCLEAR');
    assert.ok(error.refusal.remedy);
    return error.message;
  }
  return assert.fail(`accepted: ${JSON.stringify(text)}`);
}

test('quotes and backslashes give the words that a shell would pass', () => {
  const expected: readonly [string, readonly string[]][] = [
    [`echo a  b\tc`, ['echo', 'a', 'b', 'c']],
    [`echo 'a  $b' "c d" e\\ f`, ['echo', 'a  $b', 'c d', 'e f']],
    [`echo "\\$HOME \\\`x\\\` \\"q\\" \\\\ \\n"`, ['echo', '$HOME `x` "q" \\ \\n']],
    [`echo a'b'"c"d`, ['echo', 'abcd']],
    [`echo '' ""`, ['echo', '', '']],
    [`echo 'two\nlines'`, ['echo', 'two\nlines']],
    ['echo a\\\nb \\\n c', ['echo', 'ab', 'c']],
    [
      `git diff HEAD~1 --stat -- a#b x=y ünïcode @{u`.replace('@{u', '^HEAD'),
      ['git', 'diff', 'HEAD~1', '--stat', '--', 'a#b', 'x=y', 'ünïcode', '^HEAD'],
    ],
    [`'if' then fi`, ['if', 'then', 'fi']],
  ];
  for (const [text, words] of expected) assert.deepEqual(wordsOf(text), [words], text);
});

test('each command of a line is seen, and what joins them', () => {
  const { pipelines } = parseCommand('a | b &&\nc || d; e\n\nf;\n');
  assert.deepEqual(
    pipelines.map(({ after, commands }) => [after, commands.map(({ words }) => words[0]).join('|')]),
    [
      [';', 'a|b'],
      ['&&', 'c'],
      ['||', 'd'],
      [';', 'e'],
      [';', 'f'],
    ],
  );
});

test('redirections keep their order', () => {
  const [command] = listCommands(parseCommand('a <in 2>&1 >out 2>>"err log" b >&2'));
  assert.deepEqual(command?.words, ['a', 'b']);
  assert.deepEqual(command?.redirections, [
    { kind: 'from-file', target: 'in' },
    { kind: 'merge', descriptor: 2, like: 1 },
    { kind: 'to-file', descriptor: 1, target: 'out', append: false },
    { kind: 'to-file', descriptor: 2, target: 'err log', append: true },
    { kind: 'merge', descriptor: 1, like: 2 },
  ]);
});

test('what a shell would expand, run elsewhere or take apart otherwise is refused, with what and where', () => {
  const expected: readonly [string, RegExp][] = [
    ['echo $HOME', /an expansion \(\$\), at character 6/],
    ['cat$IFS/etc/passwd', /expansion/],
    ['echo "$(id)"', /expansion/],
    ['echo "a $"', /expansion/],
    ["echo $'a'", /expansion/],
    ['echo `id`', /substitution/],
    ['echo "`id`"', /substitution/],
    ['ls *.ts', /pattern/],
    ['ls ?', /pattern/],
    ['ls [ab]', /pattern/],
    ['cat ~/.ssh/id_rsa', /home folder/],
    ['tar --file=~/x', /home folder/],
    ['a x:~', /home folder/],
    ['echo !!', /history/],
    ['! true', /negation/],
    ['cat <<EOF', /here-document/],
    ['cat <<<a', /here-document/],
    ['cat <&3', /duplicated/],
    ['cat <>a', /duplicated/],
    ['a >|b', /forced/],
    ['a >&b', /other than 1 or 2/],
    ['a >&-', /other than 1 or 2/],
    ['a 3>b', /descriptor/],
    ['a 12>b', /descriptor/],
    ['a 1<b', /descriptor/],
    ['a &>b', /background/],
    ['sleep 9 &', /background/],
    ['a |& b', /background/],
    ['(a)', /subshell/],
    ['a() b', /subshell/],
    ['{ a; }', /brace/],
    ['echo {a,b}', /brace/],
    ['if true; then a; fi', /keyword if/],
    ['a; while b', /keyword while/],
    ['a | for', /keyword for/],
    ['A=1 b', /assignment/],
    ['A+=1', /assignment/],
    ['a # b', /comment/],
    ['#!/bin/sh', /comment/],
    ['%1', /a job/],
    ["'' a", /without a name/],
    ['', /without a command/],
    [' \n ', /without a command/],
    ['a;;b', /without a command/],
    ['; a', /without a command/],
    ['a &&', /without a command/],
    ['| a', /without a command/],
    ['a\n&& b', /without a command/],
    ['>a', /without a command/],
    ['a >', /without a file/],
    ["a > ''", /without a file/],
    ["a 'b", /quote \('\) that does not end, at character 3/],
    ['a "b', /quote \("\) that does not end/],
    ['a \\', /backslash at its end/],
    ['a\0b', /control character/],
    ["a '\x1b[2J'", /control character/],
    ['a\r\nb', /control character/],
    ['a\u0085b', /control character/],
    ['a\u00a0b', /invisible/],
    ['a\u3000b', /invisible/],
    ['a\u200bb', /invisible/],
    ['a \u202eb', /invisible/],
    ['a\\\u00a0b', /invisible/],
    ['a \ud800', /surrogate/],
  ];
  for (const [text, message] of expected) assert.match(refusalOf(text), message, JSON.stringify(text));
});

test('a line that is too long, or has too many commands, is refused', () => {
  assert.match(refusalOf(`echo ${'a'.repeat(maxCommandBytes)}`), /more than/);
  assert.match(refusalOf(`echo ${'€'.repeat(maxCommandBytes / 3)}`), /more than/);
  assert.match(refusalOf(Array.from({ length: 101 }, () => 'a').join(';')), /more than 100 commands/);
  assert.equal(wordsOf(Array.from({ length: 100 }, () => 'a').join(';')).length, 100);
});

test('a long hostile line is read in no time that grows with its square', () => {
  for (const unit of ["''", '\\a', '"a"', 'a ', '\\\n', '2>&1 ']) {
    const text = `a ${unit.repeat(Math.floor((maxCommandBytes - 10) / unit.length))}`;
    assert.equal(wordsOf(text).length, 1, unit);
  }
});
