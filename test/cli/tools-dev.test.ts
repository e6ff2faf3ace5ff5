import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Explanation, InJson } from '@sallyport/contract';
import type { TestContext } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

let daemon: TestDaemon;
let words: string;
before(async () => {
  const place = newToolPlace();
  words = join(place.folder, 'words');
  daemon = await TestDaemon.start(place);
});
after(() => daemon.remove());

function openTerminal(t: TestContext, ...args: string[]): TerminalSession {
  const terminal = new TerminalSession(daemon.place, ['tool', 'dev', ...args], { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  return terminal;
}

const schema = {
  input_schema: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to repeat' },
      times: { type: 'integer', minimum: 1, maximum: 9 },
    },
    required: ['text'],
    additionalProperties: false,
  },
};
const repeat = (mark: string) => shellProgram('repeat', `printf '{"mark":"${mark}","got":%s}\\n' "$(cat)"`, schema);

test('tool dev asks for the arguments, shows the verdict and the result, and runs again when the file is saved', async (t) => {
  requirement('UI-1');
  writeProgram(daemon.place, 'repeat.sh', repeat('first'));
  const terminal = openTerminal(t, 'repeat');
  await terminal.waitFor('Accept it as it is, and each time you save it while this runs? [y/N]');
  terminal.type('y\n');
  await terminal.waitFor('What to repeat');
  await terminal.waitFor('text (string, required): ');
  terminal.type('a word\n');
  await terminal.waitFor('times (integer): ');
  terminal.type('some\n');
  await terminal.waitFor('It must be integer.');
  terminal.type('3\n');
  await terminal.waitFor('require_approval: an agent has to wait for a person');
  await terminal.waitFor('own-tools');
  await terminal.waitFor('Run it? [y/N]');
  terminal.type('y\n');
  await terminal.waitFor('first');
  await terminal.waitFor('measured by');
  await terminal.waitFor('Enter runs it again');

  writeProgram(daemon.place, 'repeat.sh', repeat('second'));
  await terminal.waitFor('repeat.sh was saved.');
  await terminal.waitFor('second');
  assert.doesNotMatch(terminal.screen.slice(terminal.screen.indexOf('was saved')), /\[y\/N\]/, 'it was agreed to once');
  await terminal.waitFor('Enter runs it again');
  terminal.type('e\n');
  await terminal.waitFor('text (string, required) [a word]: ');
  terminal.type('\n');
  await terminal.waitFor('times (integer) [3]: ');
  terminal.type('-\n');
  await terminal.waitFor('second');
  await terminal.waitFor('text  a word');
  await terminal.waitFor('Enter runs it again');
  terminal.type('q\n');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
});

test('what the sandbox kept from a tool is named, with the rule that would allow it; with that rule it works', async () => {
  requirement('UI-1');
  mkdirSync(words);
  writeFileSync(join(words, 'list'), 'apple\n');
  writeProgram(
    daemon.place,
    'reader.sh',
    shellProgram('reader', `set -e\nread first < ${words}/list\necho "{\\"first\\":\\"$first\\"}"`),
  );
  const tried = runSallyport(daemon.place, ['tool', 'dev', 'reader', '--once', '--yes']);
  assert.equal(tried.status, 4);
  assert.match(tried.stderr, new RegExp(`Kept from it\n  ${words}/list +no rule shows it that`));
  const { rule } = JSON.parse(runSallyport(daemon.place, ['tool', 'dev', 'reader', '--json', '--yes']).stdout) as {
    rule: string;
  };
  assert.match(rule, /^- id: reader-grants\n {2}effect: allow\n {2}tools: \[reader\]\n {2}grants: \{ ?read: \[/);

  const file = join(daemon.place.home, 'governance', 'tools.yaml');
  writeFileSync(file, `\n${rule.replaceAll(/^/gm, '  ')}\n`, { flag: 'a' });
  const { denied } = await daemon.call('policy.apply', {});
  const applied = await daemon.call('policy.apply', {}, { confirmBinding: denied?.approval?.binding });
  assert.ok(applied.success, JSON.stringify(applied));
  const again = runSallyport(daemon.place, ['tool', 'dev', 'reader', '--once', '--yes']);
  assert.equal(again.status, 0, again.stderr);
  assert.match(again.stdout, /first +apple/);
});

test('a file elsewhere is tried without putting it into the folder by hand; Ctrl-C ends a run and not the work', async (t) => {
  requirement('UI-1');
  const folder = join(daemon.place.folder, 'project');
  const slow = shellProgram('elsewhere', 'echo waiting >&2\nsleep 600');
  const file = writeProgram(daemon.place, 'elsewhere.sh', slow, folder);
  const terminal = openTerminal(t, file, '--input', '{}', '--yes');
  await terminal.waitFor('waiting');
  terminal.type('\u0003');
  await terminal.waitFor('Cancelled.');
  await terminal.waitFor('Enter runs it again');
  writeProgram(daemon.place, 'elsewhere.sh', shellProgram('elsewhere', `echo '{"quick":true}'`), folder);
  await terminal.waitFor('elsewhere.sh was saved.');
  await terminal.waitFor('quick');
  await terminal.waitFor('Enter runs it again');
  terminal.type('\u0003');
  assert.equal(await terminal.exitCode(), 130);
});

test('a script gets one object: the verdict, the answer, and what was refused', () => {
  requirement('UI-1');
  writeProgram(daemon.place, 'plain.sh', shellProgram('plain', `echo '{"ok":true}'`));
  const { status, stdout } = runSallyport(daemon.place, ['tool', 'dev', 'plain', '--json', '--yes']);
  assert.equal(status, 0);
  const { verdict, call, refused, tool } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  assert.equal(tool, 'plain');
  assert.equal((verdict as unknown as InJson<Explanation>).decidedBy?.rule?.id, 'own-tools');
  assert.deepEqual(call?.['output'], { ok: true });
  assert.deepEqual(refused, []);
  const unknown = runSallyport(daemon.place, ['tool', 'dev', 'nonsense', '--json']);
  assert.deepEqual([unknown.status, unknown.stdout.includes('NOT_FOUND')], [4, true]);
});
