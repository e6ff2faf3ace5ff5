import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { InJson, ToolDescriptor } from '@sallyport/contract';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { TerminalSession } from './terminal-session.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newToolPlace());
});
after(() => daemon.remove());

function openTerminal(t: TestContext, ...args: string[]): TerminalSession {
  const terminal = new TerminalSession(daemon.place, args, { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  return terminal;
}

function run(...args: string[]) {
  return runSallyport(daemon.place, args);
}

function ask(...args: string[]) {
  const { status, stdout } = run(...args, '--json');
  assert.match(stdout, /^\{.*\}\n$/, 'one object on one line');
  return { status, json: JSON.parse(stdout) as Record<string, unknown> };
}

type Listed = InJson<ToolDescriptor>;

function listed(name: string): Listed | undefined {
  return (ask('tool', 'list').json['tools'] as Listed[]).find((tool) => tool.name === name);
}

/** The daemon looks at the folder when it is asked about one tool. */
function standingOf(name: string): Record<string, unknown> {
  return ask('tool', 'status', name).json;
}

test('a new tool is shown with what it says and asks for, and runs once the person has agreed', async (t) => {
  requirement('UI-1');
  const asks = { hosts: ['api.example.com'], paths: { read: ['/srv/words'] }, secrets: ['TOKEN'], risk: 'low' };
  writeProgram(daemon.place, 'greet.sh', shellProgram('greet', `echo '{"said":"hello"}'`, asks));
  assert.equal(standingOf('greet')['status'], 'new');
  const { status, statusReason, origin } = listed('greet') ?? assert.fail('it is not listed');
  assert.deepEqual([status, origin], ['new', 'executable']);
  assert.match(statusReason, /nobody has accepted it/);
  assert.match(run('tool', 'list').stdout, /^greet +high +executable +new +greet cannot be called: nobody/m);
  assert.match(run('tool', 'invoke', 'greet').stderr, /TOOL_NOT_ACCEPTED[^]*tool accept greet@1\.0\.0/);

  const terminal = openTerminal(t, 'tool', 'accept', 'greet');
  await terminal.waitFor('Accept it as it is now? [y/N]');
  for (const shown of [
    'Does greet.',
    'to reach api.example.com',
    'to read /srv/words',
    'the secret TOKEN',
    'high risk',
  ]) {
    assert.ok(terminal.screen.includes(shown), `${shown} in:\n${terminal.screen}`);
  }
  assert.equal(standingOf('greet')['status'], 'new', 'nothing happens before the answer');
  terminal.type('y\n');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
  assert.doesNotMatch(terminal.screen, /Needs your consent/, 'one question is enough');
  const accepted = standingOf('greet');
  assert.deepEqual([accepted['status'], accepted['acceptedBy']], ['ready', 'operator']);
  assert.equal(listed('greet')?.status, 'ready');
});

test('a changed tool shows the difference; anyone who says no has changed nothing', async (t) => {
  requirement('UI-1');
  writeProgram(daemon.place, 'turn.sh', shellProgram('turn', `echo '{}'`));
  assert.equal(run('tool', 'accept', 'turn', '--yes').status, 0);
  writeProgram(daemon.place, 'turn.sh', shellProgram('turn', `echo '{"evil":true}'`, { description: 'Does harm.' }));
  const terminal = openTerminal(t, 'tool', 'accept', 'turn@1.0.0');
  await terminal.waitFor('Since operator accepted it:');
  await terminal.waitFor('more lines');
  terminal.type('\n');
  await terminal.waitFor('Accept it as it is now? [y/N]');
  assert.match(terminal.screen, /- {2}"description": "Does turn\."/);
  assert.match(terminal.screen, /\+ {2}"description": "Does harm\."/);
  terminal.type('n\n');
  assert.equal(await terminal.exitCode(), 3);
  assert.match(terminal.screen, /\nNothing was changed\.\n$/);
  assert.equal(listed('turn')?.status, 'changed');
  assert.equal(ask('tool', 'accept', 'turn', '--yes').json['status'], 'ready');
  assert.match(run('tool', 'accept', 'turn').stdout, /turn@1\.0\.0 is accepted already/);
});

test('a file that is exchanged while it is being looked at is not accepted', async (t) => {
  writeProgram(daemon.place, 'swap.sh', shellProgram('swap', `echo '{}'`));
  const terminal = openTerminal(t, 'tool', 'accept', 'swap');
  await terminal.waitFor('Accept it as it is now? [y/N]');
  writeProgram(daemon.place, 'swap.sh', shellProgram('swap', `echo '{"evil":true}'`));
  assert.equal(standingOf('swap')['status'], 'new');
  terminal.type('y\n');
  assert.equal(await terminal.exitCode(), 4, terminal.screen);
  assert.match(terminal.screen, /FILE_CHANGED/);
  assert.equal(standingOf('swap')['status'], 'new');
});

test('a pipe and a script are not asked: they say --yes, or nothing happens', () => {
  writeProgram(daemon.place, 'quiet.sh', shellProgram('quiet', `echo '{}'`));
  const { status, stdout, stderr } = run('tool', 'accept', 'quiet');
  assert.equal(status, 1);
  assert.match(stdout, /^quiet 1\.0\.0\n {2}about +Does quiet\.\n/, 'what there is to see is shown');
  assert.match(stderr, /There is no terminal to ask at[^]*--yes/);
  assert.equal(ask('tool', 'accept', 'quiet').status, 1);
  assert.equal(standingOf('quiet')['status'], 'new');
});

test('names that no tool has, and broken programs, are explained', () => {
  const missing = ask('tool', 'accept', 'nonsense');
  assert.deepEqual([missing.status, (missing.json['error'] as { code: string }).code], [4, 'NOT_FOUND']);
  assert.equal(ask('tool', 'accept', 'a@b@c').status, 1);
  writeProgram(daemon.place, 'silent.sh', '#!/bin/sh\nexit 3\n');
  writeProgram(daemon.place, 'nowhere.sh', '#!/no/such/interpreter\n');
  assert.equal(standingOf('silent')['status'], 'schema-unknown');
  assert.equal(standingOf('nowhere')['status'], 'missing-binary');
  assert.match(listed('silent')?.statusReason ?? '', /nobody has accepted/);
  const table = run('tool', 'list').stdout;
  assert.match(table, /^silent +high +executable +schema-unknown/m);
  assert.match(table, /^nowhere +high +executable +missing-binary +nowhere cannot run: \S/m);
  assert.match(run('tool', 'accept', 'silent', '--yes').stdout, /each call asks, unless a rule names it/);
});

test('a tool whose file is gone is listed as missing; removing it forgets it', async (t) => {
  requirement('UI-1');
  const file = writeProgram(daemon.place, 'gone.sh', shellProgram('gone', `echo '{}'`));
  run('tool', 'accept', 'gone', '--yes');
  rmSync(file);
  assert.equal(standingOf('gone')['status'], 'missing-binary');
  const terminal = openTerminal(t, 'tool', 'remove', 'gone');
  await terminal.waitFor('Its file is gone already.');
  await terminal.waitFor('Remove it? [y/N]');
  terminal.type('y\n');
  assert.equal(await terminal.exitCode(), 0, terminal.screen);
  assert.equal(listed('gone'), undefined);

  const kept = writeProgram(daemon.place, 'kept.sh', shellProgram('kept', `echo '{}'`));
  run('tool', 'accept', 'kept', '--yes');
  assert.equal(run('tool', 'remove', 'kept').status, 1, 'nobody was there to ask');
  assert.ok(existsSync(kept));
  assert.deepEqual(ask('tool', 'remove', 'kept', '--yes').json, { name: 'kept', version: '1.0.0' });
  assert.ok(!existsSync(kept));
});

test('what is in the folder and is no tool is told with the reason', () => {
  writeProgram(daemon.place, 'Not A Tool', '#!/bin/sh\n');
  standingOf('greet');
  assert.match(
    run('tool', 'status').stdout,
    /In the tools folder, but not tools:\n {2}Not A Tool +its name is not that of a tool/,
  );
});

test('agents cannot use these commands', async () => {
  const token = await daemon.newAgent('curious');
  for (const args of [
    ['accept', 'greet'],
    ['remove', 'greet'],
    ['status'],
    ['install', 'greet.sh'],
    ['dev', 'greet'],
  ]) {
    const { status, stderr } = runSallyport(daemon.place, ['tool', ...args], { SALLYPORT_TOKEN: token });
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, /for the operator/);
  }
});
