import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

function newFile(name: string): string {
  const file = join(daemon.place.workspace, name);
  writeFileSync(file, 'content\n');
  return file;
}

function openTerminal(t: TestContext, args: string[], environment: Record<string, string> = {}): TerminalSession {
  const terminal = new TerminalSession(daemon.place, args, { NO_COLOR: '1', ...environment });
  t.after(() => terminal.kill());
  return terminal;
}

test('a call that needs consent shows its effect and runs when the person says yes', async (t) => {
  requirement('APPR-3', 'UI-1');
  const file = newFile('yes.txt');
  const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', 'path=yes.txt']);
  await terminal.waitFor('Needs your consent  files.delete');
  await terminal.waitFor('yes.txt');
  await terminal.waitFor('Run it? [y/N]');
  assert.ok(existsSync(file), 'nothing happens before the answer');
  terminal.type('y\n');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
  assert.ok(!existsSync(file));
});

const refusals: Record<string, string> = {
  no: 'n\n',
  'an empty line': '\n',
  'a word that begins like yes': 'yeah\n',
  'the end of input': '\u0004',
};
for (const [answer, keys] of Object.entries(refusals)) {
  test(`${answer} is a no: nothing runs`, async (t) => {
    const file = newFile('no.txt');
    const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', 'path=no.txt']);
    await terminal.waitFor('Run it? [y/N]');
    terminal.type(keys);
    assert.equal(await terminal.exitCode(), 3, terminal.screen);
    assert.match(terminal.screen, /\nNot run\.\n$/);
    assert.ok(existsSync(file));
  });
}

test('Ctrl-C at the question leaves the command', async (t) => {
  const file = newFile('kept.txt');
  const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', 'path=kept.txt']);
  await terminal.waitFor('Run it? [y/N]');
  terminal.type('\u0003');
  assert.equal(await terminal.exitCode(), 130, terminal.screen);
  assert.ok(existsSync(file));
});

test('an effect that changes while it is read is shown again before anything runs', async (t) => {
  const folder = join(daemon.place.workspace, 'growing');
  mkdirSync(folder);
  const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', 'path=growing', 'recursive=true']);
  await terminal.waitFor('Run it? [y/N]');
  writeFileSync(join(folder, 'precious.txt'), '');
  terminal.type('y\n');
  await terminal.waitFor('precious.txt');
  await terminal.waitFor('Run it? [y/N]');
  assert.ok(existsSync(join(folder, 'precious.txt')));
  terminal.type('n\n');
  assert.equal(await terminal.exitCode(), 3, terminal.screen);
});

test('a name made to deceive is shown for what it is', async (t) => {
  const name = 'in\u202efdp.exe\u200b';
  newFile(name);
  const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', '--input', JSON.stringify({ path: name })]);
  await terminal.waitFor('Run it? [y/N]');
  assert.match(terminal.screen, /in\\u\{?202e\}?fdp\.exe\\u\{?200b/);
  assert.ok(!terminal.screen.includes('\u202e') && !terminal.screen.includes('\u200b'));
  terminal.type('n\n');
  await terminal.exitCode();
});

test('a long effect comes in pages, and leaving them runs nothing', async (t) => {
  const folder = join(daemon.place.workspace, 'many');
  mkdirSync(folder);
  for (let index = 0; index < 60; index++) writeFileSync(join(folder, `file-${index}.txt`), '');
  const terminal = openTerminal(t, ['tool', 'invoke', 'files.delete', 'path=many', 'recursive=true']);
  await terminal.waitFor('more lines');
  terminal.type('\n');
  await terminal.waitFor('more lines');
  terminal.type('q\n');
  assert.equal(await terminal.exitCode(), 3, terminal.screen);
  assert.ok(existsSync(folder));
});

test('an agent, a script and a pipe are never asked: they get the denial', async (t) => {
  requirement('APPR-3');
  const file = newFile('asked.txt');
  const args = ['tool', 'invoke', 'files.delete', 'path=asked.txt'];
  const piped = runSallyport(daemon.place, args, {}, 'y\n');
  assert.equal(piped.status, 3);
  assert.match(
    piped.stderr,
    /Denied {2}files\.delete\n {2}rule .*\n {2}code {4}APPROVAL_REQUIRED\n {2}why .*\n {2}remedy/,
  );
  const token = await daemon.newAgent('asking');
  const script = openTerminal(t, [...args, '--json']);
  assert.equal(await script.exitCode(), 3, script.screen);
  assert.match(script.screen, /APPROVAL_REQUIRED/);
  const asking = openTerminal(t, args, { SALLYPORT_TOKEN: token });
  assert.equal(await asking.exitCode(), 5, asking.screen);
  assert.match(asking.screen, /Waits for a person/);
  assert.ok(existsSync(file));
});
