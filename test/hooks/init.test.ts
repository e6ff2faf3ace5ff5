import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
let daemon: TestDaemon;
let home: string;

before(async () => {
  daemon = await TestDaemon.start(newPlace());
  home = join(daemon.place.folder, 'user');
  mkdirSync(join(home, '.claude'), { recursive: true });
  writeFileSync(join(home, '.claude', 'settings.json'), '{\n  // mine\n  "model": "opus"\n}\n');
});
after(() => daemon.remove());

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: daemon.place.workspace,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: home, SALLYPORT_HOME: daemon.place.home },
  });
  return { status, text: stdout + stderr };
}

interface Settings {
  readonly hooks: { readonly PreToolUse: { readonly hooks: { readonly command: string }[] }[] };
}

const settings = () => readFileSync(join(home, '.claude', 'settings.json'), 'utf8');

test('init shows what it would change and does nothing without a yes', () => {
  const { status, text } = run('init');
  assert.notEqual(status, 0);
  assert.match(text, /\+ +"PreToolUse"/);
  assert.doesNotMatch(settings(), /hooks/);
});

test('init connects the clients that are there, tries each hook with a call that must be denied, and undo puts the bytes back', () => {
  const former = settings();
  const { status, text } = run('init', '--yes', '--json');
  assert.equal(status, 0, text);
  const { clients } = JSON.parse(text) as { clients: { client: string; probe: string }[] };
  assert.deepEqual(
    clients.map(({ client, probe }) => [client, probe]),
    [['claude-code', 'live']],
  );
  assert.match(settings(), /\/\/ mine/);
  assert.match(run('init', '--yes').text, /claude-code +live +as before/);

  // As the client does it: the command of its settings, through a shell.
  const { hooks } = JSON.parse(settings().replace('// mine', '')) as Settings;
  const command = hooks.PreToolUse[0]?.hooks[0]?.command ?? '';
  const payload = {
    ...{ session_id: 's', tool_use_id: 'u', cwd: daemon.place.workspace, hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
  };
  const asked = spawnSync('/bin/sh', ['-c', command], {
    input: JSON.stringify(payload),
    encoding: 'utf8',
    env: { HOME: home },
  });
  assert.match(asked.stdout, /"permissionDecision":"allow"/, asked.stderr);

  const undone = run('init', '--undo', '--yes');
  assert.equal(undone.status, 0, undone.text);
  assert.equal(settings(), former);
  assert.ok(!existsSync(join(daemon.place.home, 'clients', 'claude-code.json')));
  const blocked = spawnSync('/bin/sh', ['-c', command], {
    input: JSON.stringify(payload),
    encoding: 'utf8',
    env: { HOME: home },
  });
  assert.equal(blocked.status, 2);
});

test('settings that cannot be read are not touched, and an unknown client is said', () => {
  writeFileSync(join(home, '.claude', 'settings.json'), '{ "hooks": [] }');
  const { status, text } = run('init', '--yes');
  assert.notEqual(status, 0);
  assert.match(text, /"hooks" is no object/);
  assert.equal(settings(), '{ "hooks": [] }');
  assert.match(run('init', '--client', 'emacs').text, /There is no client emacs/);
});
