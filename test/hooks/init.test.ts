import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { runHook } from './hook-program.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
let daemon: TestDaemon;
let home: string;
const seen: Record<string, string | undefined>[] = [];

/** A server of MCP as far as its first message, which notes what it was sent. */
const server = createServer((request, response) => {
  const { authorization, 'x-api-key': key } = request.headers;
  seen.push({ authorization, key: String(key ?? '') });
  response.writeHead(404).end();
});

before(async () => {
  daemon = await TestDaemon.start(newPlace());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  home = join(daemon.place.folder, 'user');
  const { port } = server.address() as AddressInfo;
  const servers = {
    docs: {
      type: 'http',
      url: `http://127.0.0.1:${port}/mcp`,
      headers: { Authorization: 'Bearer hunter2hunter2', 'X-Api-Key': '0123456789abcdef' },
    },
    Notes: { command: 'node', args: ['/nowhere/server.mjs'], env: { NOTES_KEY: 'abcdefgh12345678', LANG: 'C' } },
    py: { command: 'uvx', args: ['thing'] },
  };
  put('.claude.json', `${JSON.stringify({ numStartups: 1, mcpServers: servers }, undefined, 1)}\n`);
  put('.claude/settings.json', '{\n  // mine\n  "model": "opus"\n}\n');
  put('.codex/config.toml', '# mine\nmodel = "o"\n\n[tui]\ntheme = "x" # dark\n');
  put('.gemini/settings.json', '{\n\t"theme": "x", // mine\n}\n');
  put('.cursor/mcp.json', JSON.stringify({ mcpServers: { docs: servers.docs } }));
  for (const folder of [
    '.codeium/windsurf',
    '.config/opencode',
    '.config/zed',
    '.config/Code/User',
    '.config/Claude',
  ]) {
    mkdirSync(join(home, folder), { recursive: true });
  }
});
after(async () => {
  server.close();
  await daemon.remove();
});

function put(file: string, content: string): void {
  mkdirSync(dirname(join(home, file)), { recursive: true });
  writeFileSync(join(home, file), content);
}

const environment = () => ({ PATH: '/usr/bin:/bin', HOME: home, SALLYPORT_HOME: daemon.place.home });

async function run(...args: string[]): Promise<{ readonly status: number | null; readonly text: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: daemon.place.workspace,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, text: stdout + stderr };
}

/** Every file of the user, with its mode. */
function snapshot(folder = home): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file, `${statSync(file).mode} ${readFileSync(file).toString('hex')}`];
    }),
  );
}

interface Connected {
  readonly clients: readonly {
    readonly client: string;
    readonly paths: readonly { readonly path: string; readonly state: string; readonly changed: boolean }[];
    readonly servers: readonly { readonly server: string; readonly upstream?: string; readonly why?: string }[];
  }[];
}

test('init shows what it would change, without the tokens, and does nothing without a yes', async () => {
  const former = snapshot();
  const { status, text: shown } = await run('init');
  assert.notEqual(status, 0);
  assert.match(shown, /\+ +"PreToolUse"/);
  assert.match(shown, /docs becomes the upstream docs.*DOCS_TOKEN/s);
  assert.doesNotMatch(shown, /hunter2|0123456789abcdef|abcdefgh/);
  assert.deepEqual(snapshot(), former);
});

test('init connects every client, imports its servers and their tokens, and undo puts all of it back', async () => {
  requirement('HOOK-4');
  const former = snapshot();
  const { status, text: said } = await run('init', '--yes', '--json');
  assert.equal(status, 0, said);
  const { clients } = JSON.parse(said) as Connected;
  const states = clients.flatMap(({ client, paths }) => paths.map(({ path, state }) => `${client} ${path} ${state}`));
  const withHooks = ['claude-code', 'codex', 'gemini', 'opencode', 'cursor', 'windsurf'];
  assert.deepEqual(states, [
    // Codex is not installed here, and cannot say whether it trusts its hooks.
    ...withHooks.flatMap((client) => [
      `${client} hooks ${client === 'codex' ? 'live if trusted' : 'live'}`,
      `${client} mcp live`,
    ]),
    ...['zed', 'vscode', 'claude-desktop'].map((client) => `${client} mcp live`),
  ]);
  const [claude] = clients;
  assert.deepEqual(
    claude?.servers.map(({ server: each, upstream }) => [each, upstream]),
    [
      ['docs', 'docs'],
      ['Notes', 'notes'],
      ['py', undefined],
    ],
  );
  assert.doesNotMatch(said, /hunter2|0123456789abcdef|abcdefgh/);
  for (const [file, bytes] of Object.entries(snapshot())) {
    for (const token of ['hunter2hunter2', '0123456789abcdef', 'abcdefgh12345678']) {
      assert.ok(!bytes.includes(Buffer.from(token).toString('hex')), `${token} is in ${file}`);
    }
  }
  assert.match(
    readFileSync(join(home, '.codex/config.toml'), 'utf8'),
    /^# mine\nmodel = "o"\n\n\[tui\]\ntheme = "x" # dark\n/,
  );

  // The tokens reach the server that they were for, in the headers that they were in.
  await run('upstream', 'test', 'docs');
  assert.ok(
    seen.some(({ authorization, key }) => authorization === 'Bearer hunter2hunter2' && key === '0123456789abcdef'),
  );
  // Nothing of it can be called before somebody has accepted it.
  const { text: tools } = await run('tool', 'list', '--json');
  assert.doesNotMatch(tools, /"docs\./);

  const again = JSON.parse((await run('init', '--yes', '--json')).text) as Connected;
  assert.ok(again.clients.every(({ paths }) => paths.every(({ changed }) => !changed)));

  const undone = await run('init', '--undo', '--yes');
  assert.equal(undone.status, 0, undone.text);
  assert.deepEqual(snapshot(), former);
  assert.match((await run('upstream', 'list')).text, /no upstream yet/);
  assert.match((await run('secret', 'list')).text, /No secret is stored/);
  assert.ok(!existsSync(join(daemon.place.home, 'clients', 'claude-code.json')));
});

test('the hook leaves our own server alone, and judges another one that is called so', async () => {
  assert.equal((await run('init', '--client', 'claude-code', '--yes')).status, 0);
  const desk = new ApprovalDesk(daemon);
  let uses = 0;
  const ask = () =>
    runHook(
      'claude-code',
      {
        ...{ session_id: 's', tool_use_id: `use-${++uses}`, cwd: daemon.place.workspace },
        ...{ hook_event_name: 'PreToolUse', tool_name: 'mcp__sallyport__files_read', tool_input: { path: `/${uses}` } },
      },
      environment(),
    );
  assert.deepEqual(await ask(), { exitCode: 0, stdout: '', stderr: '' });
  const file = join(daemon.place.workspace, '.mcp.json');
  for (const impostor of [
    '{"mcpServers": {"sallyport": {"command": "evil"}}}',
    '{"mcpServers": {"\\u0073allyport": {"command": "evil"}}}',
    '{"mcpServers": {"sallyport__x": {"command": "evil"}}}',
    'not json',
  ]) {
    writeFileSync(file, impostor);
    const asking = ask();
    let task: string | undefined;
    while (task === undefined) task = (await desk.pending())[0]?.id;
    await desk.approve(task);
    assert.match((await asking).stdout, /"permissionDecision":"allow"/, impostor);
  }
  rmSync(file);
  await run('init', '--undo', '--yes');
});

test('connect prints the entry for doing it by hand, and touches no file of the client', async () => {
  const former = snapshot();
  for (const client of ['codex', 'opencode', 'zed']) {
    const { status, text: said } = await run('connect', client);
    assert.equal(status, 0, said);
    assert.match(said, /mcp_servers\.sallyport|"mcp"|context_servers/);
  }
  assert.deepEqual(snapshot(), former);
  await run('init', '--undo', '--yes');
});

test('settings that cannot be read are not touched, and an unknown client is said', async () => {
  put('.claude/settings.json', '{ "hooks": [] }');
  const former = snapshot();
  const { status, text: said } = await run('init', '--client', 'claude-code', '--yes');
  assert.notEqual(status, 0);
  assert.match(said, /"hooks" is not an object/);
  assert.deepEqual(snapshot(), former);
  assert.match((await run('init', '--client', 'emacs')).text, /There is no client emacs/);
});

test('managed hooks are for root, hold for every user, and go away again', () => {
  // In a mount namespace with an /etc of its own: this machine's stays as it is.
  const etc = join(daemon.place.folder, 'etc');
  mkdirSync(etc);
  const script = `set -e
    cp /etc/passwd /etc/group '${etc}/'
    mount --bind '${etc}' /etc
    ls -R /etc > '${etc}/../before'
    "$0" "$1" init --managed --yes
    cat /etc/claude-code/managed-settings.json /etc/codex/requirements.toml
    stat -c '%a' /etc/claude-code/managed-settings.json
    "$0" "$1" init --managed --yes --json
    "$0" "$1" init --managed --undo --yes
    test ! -e /etc/claude-code/managed-settings.json -a ! -e /etc/codex/requirements.toml`;
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '/bin/sh', '-c', script, process.execPath, program],
    { cwd: daemon.place.workspace, env: environment(), encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout + stderr);
  for (const part of [
    '"allowManagedHooksOnly": true',
    'allow_managed_hooks_only = true',
    'hook codex || exit 2',
    '\n644\n',
  ]) {
    assert.ok(stdout.includes(part), `${part} is not in ${stdout}`);
  }
});

test('init and coverage take several clients, and name the one that is not known', async () => {
  const { status, text: said } = await run('init', '--client', 'zed', '--client', 'vscode', 'zed', '--yes', '--json');
  assert.equal(status, 0, said);
  assert.deepEqual(
    (JSON.parse(said) as Connected).clients.map(({ client }) => client),
    ['zed', 'vscode'],
  );
  const covered = await run('coverage', '--client', 'zed', '--client', 'vscode', '--json');
  const { paths } = JSON.parse(covered.text) as { paths: readonly { client: string; state: string }[] };
  assert.deepEqual(
    paths.map(({ client, state }) => `${client} ${state}`),
    ['zed live', 'vscode live'],
  );
  const unknown = await run('init', '--client', 'zed', '--client', 'emacs', '--yes');
  assert.equal(unknown.status, 1);
  assert.match(unknown.text, /There is no client emacs/);
  await run('init', '--undo', '--yes');
});
