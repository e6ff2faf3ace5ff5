import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { joinWords } from '../../packages/gateway/src/policy/patterns/shell-words.ts';
import { ToolRefused } from '../../packages/gateway/src/call/tool.ts';
import type { CommandLine, SimpleCommand } from '../../packages/gateway/src/catalogue/shell/command-line.ts';
import { parseCommand } from '../../packages/gateway/src/catalogue/shell/parse-command.ts';
import { writeScript } from '../../packages/gateway/src/catalogue/shell/write-script.ts';

/** What a command line did: each program that ran with its words, and the files that were written. */
interface Trace {
  readonly ran: readonly string[];
  readonly files: readonly string[];
}

/** Two programs, `t` that succeeds and `f` that fails, which write down how they were called. */
class Stage implements Disposable {
  readonly #base = mkdtempSync(join(tmpdir(), 'sallyport-shell-'));
  readonly #programs = join(this.#base, 'bin');
  readonly #log = join(this.#base, 'log');
  readonly #folder = join(this.#base, 'cwd');

  constructor() {
    mkdirSync(this.#programs);
    for (const [name, code] of Object.entries(exitCodes)) {
      const body = `#!/bin/sh\nprintf '%s\\0' ${name} "$@" '\\001' >> "$LOG"\nexit ${code}\n`;
      writeFileSync(join(this.#programs, name), body, { mode: 0o755 });
    }
  }

  run(shell: string, script: string): Trace {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
    writeFileSync(join(this.#folder, 'in'), '');
    writeFileSync(this.#log, '');
    const { error } = spawnSync(shell, ['-c', script], {
      cwd: this.#folder,
      env: { PATH: this.#programs, LOG: this.#log, LANG: 'C.UTF-8' },
      timeout: 10_000,
    });
    if (error !== undefined) throw error;
    const records = readFileSync(this.#log, 'utf8').split('\\001\0').slice(0, -1);
    return { ran: records.sort(), files: readdirSync(this.#folder).sort() };
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true });
  }
}

const exitCodes: Readonly<Record<string, number>> = { t: 0, f: 1 };

/** What the parsed line says will happen. */
function foresee({ pipelines }: CommandLine): Trace {
  const ran: string[] = [];
  const files = new Set(['in']);
  let succeeded = true;
  for (const { after, commands } of pipelines) {
    if ((after === '&&' && !succeeded) || (after === '||' && succeeded)) continue;
    for (const { words, redirections } of commands) {
      for (const each of redirections) if (each.kind === 'to-file') files.add(each.target);
      const code = exitCodes[words[0]];
      if (code !== undefined) ran.push(words.map((word) => `${word}\0`).join(''));
      succeeded = code === 0;
    }
  }
  return { ran: ran.sort(), files: [...files].sort() };
}

/** Whether the stage can show what the line does: no builtins, no files elsewhere. */
function isShowable(line: CommandLine): boolean {
  const fits = ({ words, redirections }: SimpleCommand): boolean =>
    ![':', '.'].includes(words[0]) &&
    redirections.every(
      (each) =>
        each.kind === 'merge' || (each.kind === 'from-file' ? each.target === 'in' : !/^\.{1,2}$|\//.test(each.target)),
    );
  return line.pipelines.every(({ commands }) => commands.every(fits));
}

function parseOrRefuse(text: string): CommandLine | undefined {
  try {
    return parseCommand(text);
  } catch (error) {
    assert.ok(error instanceof ToolRefused && error.refusal.code === 'COMMAND_UNCLEAR', String(error));
    return undefined;
  }
}

const shells = ['/bin/sh', '/bin/bash', '/bin/busybox-sh'].filter((shell) => existsSync(shell));

const benign = fc.constantFrom(
  't',
  'f',
  't ',
  'f ',
  ' a',
  ' b',
  ' ',
  '\t',
  '\n',
  '; ',
  ' | ',
  ' && ',
  ' || ',
  ' -x',
  '.',
  ':',
);
const quoting = fc.constantFrom(
  "'",
  '"',
  '\\',
  "''",
  '""',
  "' '",
  '" "',
  "'$t'",
  '"\\$"',
  '\\ ',
  '\\\n',
  '\\\\',
  '\\;',
  "'#'",
);
const redirecting = fc.constantFrom(
  '<in',
  '< in',
  '>a',
  '>>b',
  '2>a',
  '2>&1',
  '>&2',
  ' 1>&2 ',
  '2',
  '12',
  '<',
  '>',
  '&',
  '&1',
);
const special = fc.constantFrom(
  '#',
  '~',
  '=',
  'a=b',
  '^',
  '%',
  ']',
  '@',
  ',',
  '+',
  '!',
  'if',
  'do',
  'in',
  'é',
  'ā',
  'Ё',
  '𝕏',
  '｜',
);
const hostile = fc.constantFrom(
  ...['$', '`t`', '$(t)', `\${t}`, '$IFS', '*', '?', '[a]', '{a,b}', '{ t; }', '(t)', '!!', '!t', '~/a', '<<a', '<<<a'],
  ...[
    '<>a',
    '>|a',
    '&>a',
    '|&',
    ';;',
    '$((1))',
    "$'t'",
    't()',
    '\r',
    '\v',
    '\f',
    '\0',
    '\u00a0',
    '\u2028',
    '\u200b',
    '\u202e',
  ],
);
const commandLine = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: benign },
      { weight: 6, arbitrary: quoting },
      { weight: 3, arbitrary: redirecting },
      { weight: 2, arbitrary: special },
      { weight: 1, arbitrary: hostile },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => `t ${parts.join('')}`);

function checkAgainstShells(context: TestContext, lines: readonly CommandLine[], texts: readonly string[]): void {
  using stage = new Stage();
  lines.forEach((line, index) => {
    const text = texts[index] ?? '';
    for (const shell of shells) {
      assert.deepEqual(stage.run(shell, text), foresee(line), `${shell} -c ${JSON.stringify(text)}`);
    }
  });
  context.diagnostic(`${lines.length} lines agreed with ${shells.join(' and ')}`);
}

test('what is accepted is what a real shell runs, word for word', (t) => {
  const texts = fc.sample(commandLine, { numRuns: 1000, seed: 20_300_101 });
  const accepted = texts.flatMap((text) => {
    const line = parseOrRefuse(text);
    return line !== undefined && isShowable(line) ? [{ text, line }] : [];
  });
  const shown = accepted.slice(0, 150);
  assert.ok(shown.length === 150, `only ${shown.length} lines were accepted, so this shows little`);
  checkAgainstShells(
    t,
    shown.map(({ line }) => line),
    shown.map(({ text }) => text),
  );
});

const activeCharacter = fc.constantFrom(...Array.from(`ab '"\\$\`*?[]{}()<>|&;!~#=\n\t-é`));
const word = fc
  .array(fc.oneof({ weight: 3, arbitrary: activeCharacter }, fc.string({ unit: 'grapheme', maxLength: 1 })), {
    maxLength: 6,
  })
  .map((characters) => characters.join(''))
  .filter((text) => !/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(text));
const program = fc.constantFrom('t', 'f');
const record = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(shape, { noNullPrototype: true });
const fileName = fc.constantFrom('a', 'b c', "d'e", '$HOME', '*', '-n', '#');
const tree: fc.Arbitrary<CommandLine> = fc
  .array(
    record({
      after: fc.constantFrom('&&' as const, '||' as const, ';' as const),
      commands: fc.array(
        record({
          words: fc.tuple(program, fc.array(word, { maxLength: 3 })).map(([name, rest]) => [name, ...rest] as const),
          redirections: fc.array(
            fc.oneof(
              record({ kind: fc.constant('from-file' as const), target: fc.constant('in') }),
              record({
                kind: fc.constant('to-file' as const),
                descriptor: fc.constantFrom(1 as const, 2 as const),
                target: fileName,
                append: fc.boolean(),
              }),
              record({
                kind: fc.constant('merge' as const),
                descriptor: fc.constantFrom(1 as const, 2 as const),
                like: fc.constantFrom(1 as const, 2 as const),
              }),
            ),
            { maxLength: 2 },
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map(([first, ...rest]) => ({
    pipelines: [...(first === undefined ? [] : [{ ...first, after: ';' as const }]), ...rest],
  }));

test('the script that is written for a line does what the line says, and reads back as the same line', (t) => {
  const lines = fc.sample(tree, { numRuns: 75, seed: 20_300_102 });
  for (const line of lines) assert.deepEqual(parseCommand(writeScript(line)), line);
  checkAgainstShells(t, lines, lines.map(writeScript));
});

test('the text that rules see holds exactly the words', () => {
  const words = fc.tuple(program, fc.array(word)).map(([name, rest]) => [name, ...rest]);
  fc.assert(
    fc.property(words, (given) => {
      const [pipeline, ...more] = parseCommand(joinWords(given)).pipelines;
      assert.deepEqual(more, []);
      assert.deepEqual(pipeline?.commands, [{ words: given, redirections: [] }]);
    }),
    { numRuns: 1000 },
  );
});
