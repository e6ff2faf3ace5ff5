// Much of this is text for a shell, and no template.
/* oxlint-disable no-template-curly-in-string */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { howMuch } from '../../../../../../test/harness/how-much.ts';
import { requirement } from '../../../../../../test/requirement.ts';
import { splitWords } from '../../../policy/patterns/shell-words.ts';
import { readScript } from './read-script.ts';
import type { Reading } from './reading.ts';

const place = { cwd: '/work/app', home: '/home/ada' };

/** As the corpus writes it, so that a person can read it aloud. */
function describe({ commands, paths, hosts, doubts }: Reading): string[] {
  const shorten = (path: string): string => path.replace(/^\/work\/app(?=\/|$)/, 'W').replace(/^\/home\/ada/, '~');
  const line = (label: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`  ${label} ${items.map((item) => item.replaceAll('\n', '⏎')).join(' ¦ ')}`];
  return [
    ...line('runs', commands),
    ...(['read', 'write'] as const).flatMap((access) =>
      line(
        `${access}s`,
        paths.filter((claim) => claim.access === access).map(({ path }) => shorten(path)),
      ),
    ),
    ...line('hosts', hosts),
    ...doubts.flatMap(({ kind, text }) => line(`doubt ${kind}:`, [text])),
  ];
}

/** Commands as agents write them, hostile ones among them, each followed by what must be found in it. */
function readCorpus(): { readonly command: string; readonly expected: readonly string[] }[] {
  const text = readFileSync(join(import.meta.dirname, 'corpus.txt'), 'utf8');
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((entry) => {
      const [command = '', ...expected] = entry.trimEnd().split('\n');
      return { command: command.replaceAll('⏎', '\n'), expected };
    });
}

test('every program, file and doubt of four hundred commands is found', () => {
  requirement('HOOK-6');
  const corpus = readCorpus();
  assert.ok(corpus.length >= 400, String(corpus.length));
  for (const { command, expected } of corpus) {
    assert.deepEqual(describe(readScript(command, place)), expected, command);
  }
});

test('whatever the text is, it is read, and rules can read the commands', () => {
  const pieces = fc.constantFrom(...'$(){}[]<>|&;`\'"\\ \n\t~*?!#=-/.a0'.split(''), '$((', '<<E', '${', 'if ', 'then ');
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (script) => {
      const { commands, paths } = readScript(script, place);
      for (const command of commands) splitWords(command);
      for (const { path } of paths) assert.ok(path.startsWith('/'), path);
    }),
    { numRuns: 2000 },
  );
});

test('deep and long texts end in a doubt, soon', () => {
  const deep = `${'$('.repeat(5000)}rm x${')'.repeat(5000)}`;
  const nested = Array.from({ length: 10 }).reduce<string>((inner) => `bash -c ${JSON.stringify(inner)}`, 'rm x');
  const many = 'cd a; '.repeat(300);
  for (const script of [deep, nested, many, 'x'.repeat(200_000), `rm ${'a '.repeat(40_000)}`]) {
    const from = performance.now();
    const { doubts, commands } = readScript(script, place);
    assert.ok(doubts.length > 0 || commands.length > 0);
    assert.ok(performance.now() - from < 5000);
  }
});

/** Programs that only say how they were called, in a place where bash can do no harm. */
let folder: string;
const programs = ['rm', 'cat', 'ls', 'touch', 'git', 'node'];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-stubs-'));
  const stub = '#!/usr/bin/bash\nprintf -v line "%q " "${0##*/}" "$@"; echo "$line" >> /log/calls\n';
  writeFileSync(join(folder, 'stub'), stub, { mode: 0o755 });
  for (const name of programs) symlinkSync('stub', join(folder, name));
  writeFileSync(join(folder, 'calls'), '');
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** What bash really runs, as words. */
function runForReal(script: string): string[][] {
  writeFileSync(join(folder, 'calls'), '', { mode: 0o666 });
  const system = ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'];
  const args = [
    ...system,
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/work/app', '--tmpfs', '/home/ada', '--unshare-all'],
    ...[
      '--ro-bind',
      folder,
      '/stubs',
      '--bind',
      folder,
      '/log',
      '--chdir',
      '/work/app',
      '--die-with-parent',
      '--clearenv',
    ],
    ...['--setenv', 'PATH', '/stubs', '--setenv', 'HOME', '/home/ada', '/usr/bin/bash', '-c', script],
  ];
  spawnSync('bwrap', args, { timeout: 10_000, stdio: 'ignore' });
  const lines = readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean);
  return lines.map((line) =>
    spawnSync('/usr/bin/bash', ['-c', `printf '%s\\0' ${line}`])
      .stdout.toString()
      .split('\0')
      .slice(0, -1),
  );
}

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b/c',
    '"d e"',
    "'f g'",
    '-x',
    '$V',
    '"$V"',
    '$W',
    '${V}x',
    '"$(ls q)"',
    '~/h',
    '\\i',
    "$'j\\tk'",
    'l""m',
  ),
  fc.constantFrom('"$PWD"', '$((1+1))', 'n{o,p}', '"${U:-r}"', '"s$V"'),
);
const simple = fc
  .tuple(fc.constantFrom(...programs, '"rm"', 'r\\m', '$P'), fc.array(word, { maxLength: 3 }))
  .map(([program, words]) => [program, ...words].join(' '));
const assignment = fc.constantFrom('V=v', 'V="v w"', 'V=$(cat z)', 'W=1', 'P=cat', 'P="rm -f"', 'export V=y', 'V+=t');
const script = fc.letrec<{ list: string; node: string }>((tie) => ({
  list: fc
    .array(fc.tuple(tie('node'), fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ' & wait; ')), {
      minLength: 1,
      maxLength: 3,
    })
    .map((all) => all.map(([node, joint], index) => (index < all.length - 1 ? node + joint : node)).join('')),
  node: fc.oneof(
    { weight: 6, arbitrary: simple },
    { weight: 2, arbitrary: assignment },
    tie('list').map((inner) => `( ${inner} )`),
    tie('list').map((inner) => `{ ${inner}; }`),
    tie('list').map((inner) => `if ${inner}; then ${inner}; else ls no; fi`),
    tie('list').map((inner) => `for V in 1 2; do ${inner}; done`),
    tie('list').map((inner) => `f() { ${inner}; }; f one`),
    tie('list').map((inner) => `eval '${inner.replaceAll("'", "'\\''")}'`),
    tie('node').map((inner) => `! ${inner}`),
    fc.constantFrom(
      'V=q rm "$V"',
      'cat <<E\n$(rm here)\nE',
      'cat <<"E"\n$(rm not)\nE',
      'ls <(cat in)',
      'set -- x; rm "$1"',
    ),
    fc.constantFrom('case $V in v) rm in-case;; esac', 'while ls; do rm once; break; done', 'x=(rm a); "${x[@]}"'),
  ),
})).list;

/** Variables that hold something else than the line seems to say. */
const settings = [
  'P=rm; ls || P=cat; $P x',
  'P=rm; ! ls && P=cat; $P x',
  'P=rm; ls || ls || P=cat; $P x',
  'P=rm; ls || { P=cat; }; $P x',
  'P=rm; ls || export P=cat; $P x',
  'P=rm; if ls; then ls; elif P=cat; then ls; fi; $P x',
  'P=cat; while $P x; do P=rm; [[ $P$Q == rmrm ]] && break; Q=rm; done',
  'P=cat; f() { P=rm; }; f; $P x',
  'P=cat; f() { P=rm; }; ls && f; $P x',
  'readonly P=rm; export P=cat; $P x',
  'readonly P=rm; read P <<< cat; $P x',
  'P=rm; readonly P; declare P=cat; $P x',
  'P=rm; local P=cat; $P x',
  'declare -n Q=P; P=cat; Q=rm; $P x',
  'P=cat; command export P=rm; $P x',
  'P=cat; builtin printf -v P rm; $P x',
  'P=cat; builtin eval P=rm; $P x',
  '_=cat; ls rm; $_ x',
  'REPLY=cat; read <<< rm; $REPLY x',
  'OPTARG=cat; getopts a: Q -arm; $OPTARG x',
  'shopt -s lastpipe; P=cat; ls | P=rm; $P x',
  'P=cat; trap "P=rm" DEBUG; $P x',
  'V=push; ls || V=status; git $V',
  'ls && P=cat || P=rm; $P x',
  '! ls && P=cat || P=rm; $P x',
  'P=rm; P=cat < /missing; $P x',
  'P=rm; export P=cat > /no/such; $P x',
  'P=rm; { P=cat; } < /missing; $P x',
  'P=cat; case x in x) P=rm;& y) $P x;; esac',
  'P=cat; case x in x) P=rm;;& *) $P x;; esac',
  'set -o posix; P=cat; P=rm :; $P x',
];

test('a variable that may not have been set, or was set by something else, is not known', () => {
  let surprises = 0;
  for (const text of settings) {
    const { commands, doubts } = readScript(text, place);
    for (const words of runForReal(text)) {
      const line = words.join(' ');
      if (commands.includes(line)) continue;
      surprises++;
      assert.ok(doubts.length > 0, `${text}\nran ${line}, read ${JSON.stringify(commands)}`);
    }
  }
  // Otherwise these would not be the lines that this test is about.
  assert.ok(surprises >= settings.length / 2, `${surprises} of ${settings.length}`);
});

/** Functions that are not there, or no longer, when a program of their name is called. */
const functions = [
  '! ls && rm() { :; }; rm x',
  'ls || rm() { :; }; rm x',
  'if ! ls; then rm() { :; }; fi; rm x',
  'while ! ls; do rm() { :; }; done; rm x',
  'case a in b) rm() { :; };; esac; rm x',
  'rm() { :; }; command rm x',
  'rm() { :; }; unset -f rm; rm x',
  'rm() { :; }; unset rm; rm x',
  'rm() { unset -f rm; rm x; }; rm',
  'rm() { :; }; f() { rm x; }; unset -f rm; f',
  'f() { unset -f rm; }; rm() { :; }; f; rm x',
  'rm() { :; }; eval "unset -f rm"; rm x',
  'f() { rm() { :; }; }; rm x',
  '( rm() { :; } ); rm x',
  'rm() { :; } | ls; rm x',
  'ls || { rm() { :; }; }; rm x',
];

test('a function that may not be there hides no program', () => {
  for (const text of functions) {
    const { commands } = readScript(text, place);
    assert.ok(commands.includes('rm x'), `${text}\nread ${JSON.stringify(commands)}`);
    assert.ok(
      runForReal(text).some((words) => words.join(' ') === 'rm x'),
      `bash does not run rm in ${text}`,
    );
  }
  for (const outer of ['env', 'xargs', 'nohup', 'bash -c', 'find . -exec']) {
    const { commands, doubts } = readScript(`cat() { :; }; ${outer} 'cat'`, place);
    assert.ok(commands.some((command) => command === 'cat') || doubts.length > 0, outer);
  }
  assert.deepEqual(readScript('f() { ls; }; f one; f two', place).commands, ['ls']);
});

test('the folder after a chain is any in which it may have ended', () => {
  const foldersOf = (text: string): string[] =>
    readScript(`${text}; cat x`, place)
      .paths.map(({ path }) => path)
      .filter((path) => path.endsWith('/x'))
      .sort();
  assert.deepEqual(foldersOf('cd / && ls'), ['/work/app/x', '/x']);
  assert.deepEqual(foldersOf('set -e; cd / && ls'), ['/work/app/x', '/x']);
  assert.deepEqual(foldersOf('ls || cd /'), ['/work/app/x', '/x']);
  assert.deepEqual(
    readScript('cd / && cat x', place).paths.map(({ path }) => path),
    ['/', '/x'],
  );
  const either = readScript('cd /a && cat x || cat y', place).paths.map(({ path }) => path);
  assert.deepEqual(either.sort(), ['/a', '/a/x', '/a/y', '/work/app/y']);
  for (const text of ['f() { cd /; }; f', "eval 'cd /'", 'command cd /', 'builtin cd /', '. ./go.sh']) {
    const { doubts } = readScript(`${text}; cat x`, place);
    assert.ok(
      doubts.some((doubt) => doubt.kind === 'folder' && doubt.text === 'x'),
      text,
    );
  }
});

test('what bash really runs is in the reading, or the reading says that it does not know', () => {
  fc.assert(
    fc.property(script, (text) => {
      const { commands, doubts } = readScript(text, place);
      const known = new Set(
        commands.map((command) =>
          splitWords(command)
            .map((parts) => parts.join('*'))
            .join('\0'),
        ),
      );
      const isOpen = doubts.some(({ kind }) => kind !== 'environment');
      for (const words of runForReal(text)) {
        const isRead = known.has(words.join('\0'));
        assert.ok(isRead || isOpen, `${text}\nran ${JSON.stringify(words)}, read ${JSON.stringify(commands)}`);
        // Even with a doubt, no program runs that is not named, unless the doubt is about just that.
        const isNamed = commands.some((command) => splitWords(command)[0]?.join('*') === words[0]);
        const mayHide = doubts.some(({ kind }) => kind === 'program' || kind === 'code' || kind === 'syntax');
        assert.ok(isNamed || mayHide, `${text}\nran ${words[0]}, read ${JSON.stringify(commands)}`);
      }
    }),
    { numRuns: howMuch({ usually: 60, long: 3000 }) },
  );
});
