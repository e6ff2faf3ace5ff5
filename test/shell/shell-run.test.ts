import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../../packages/gateway/src/call/tool.ts';
import type { Grants } from '../../packages/gateway/src/call/verdict.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { shellRun } from '../../packages/gateway/src/catalogue/shell/shell-run.ts';
import { SandboxedWorkspace } from './sandboxed-workspace.ts';
import { requirement } from '../requirement.ts';

const programs = new SpawnerClient();
after(() => programs.close());

function openWorkspace(): SandboxedWorkspace & {
  run: (args: JsonObject, grants?: Partial<Grants>) => Promise<JsonObject>;
} {
  const workspace = new SandboxedWorkspace(programs);
  const run = (args: JsonObject, grants: Partial<Grants> = {}): Promise<JsonObject> =>
    workspace.call(shellRun, args, {
      grants: { ...workspace.context.grants, write: [workspace.path], ...grants },
    });
  return Object.assign(workspace, { run });
}

test('words reach the program as they are', async () => {
  using workspace = openWorkspace();
  const argv = ['printf', '%s|', 'a b', '$HOME', '*', "it's", '', 'é\n'];
  assert.deepEqual(await workspace.run({ argv }), { exit_code: 0, stdout: "a b|$HOME|*|it's||é\n|", stderr: '' });
});

test('an exit code other than 0 is a result, and so is a deadly signal', async () => {
  using workspace = openWorkspace();
  assert.equal((await workspace.run({ command: 'false' }))['exit_code'], 1);
  assert.equal((await workspace.run({ argv: ['sh', '-c', 'echo oops >&2; exit 7'] }))['stderr'], 'oops\n');
  const killed = await workspace.run({ argv: ['sh', '-c', 'kill -TERM $$'] });
  assert.equal(killed['exit_code'], 143);
});

test(
  'a program that may not open a file of root is told as whom it ran',
  { skip: process.getuid?.() !== 0 && 'only a daemon of root runs programs as somebody else' },
  async () => {
    using workspace = openWorkspace();
    writeFileSync(workspace.at('of-root.txt'), 'x', { mode: 0o600 });
    const warnings: string[] = [];
    const grants = { ...workspace.context.grants, write: [workspace.path] };
    const warn = (warning: string): void => void warnings.push(warning);
    const denied = await workspace.call(shellRun, { command: 'cat of-root.txt' }, { grants, warn });
    assert.match(String(denied['stderr']), /Permission denied/);
    assert.match(warnings.join(), /ran as user \d+, because the daemon runs as root/);
  },
);

test('pipelines, lists and redirections do what they say', async () => {
  using workspace = openWorkspace();
  workspace.put('in.txt', 'b\na\nb\n');
  const sorted = await workspace.run({ command: 'sort <in.txt | uniq -c >out.txt && cat out.txt; false || echo end' });
  assert.deepEqual(sorted, { exit_code: 0, stdout: '      1 a\n      2 b\nend\n', stderr: '' });
  assert.equal(workspace.text('out.txt'), '      1 a\n      2 b\n');
  assert.equal((await workspace.run({ command: 'cat', stdin: 'from the caller' }))['stdout'], 'from the caller');
});

test('the program sees the granted folders without what the rules forbid, and nothing beside them', async () => {
  using workspace = openWorkspace();
  workspace.put('seen.txt', 'seen');
  workspace.put('forbidden/deep.txt', 'no');
  workspace.put('sub/forbidden.txt', 'no');
  const { stdout } = await workspace.run({ argv: ['find', '.', '-type', 'f', '-size', '+0'] });
  assert.equal(stdout, './seen.txt\n');
  symlinkSync(join(workspace.outside, 'secret.txt'), workspace.at('link'));
  for (const path of ['sub/forbidden.txt', 'link', join(workspace.outside, 'secret.txt'), '/etc/shadow', '/root']) {
    const read = await workspace.run({ argv: ['cat', path] });
    assert.equal(read['stdout'], '', path);
  }
});

test('the program can change what is granted for it and nothing else; .git is for git alone', async () => {
  requirement('EXEC-1');
  using workspace = openWorkspace();
  workspace.put('a.txt', 'old');
  workspace.put('settled.txt', 'old');
  workspace.put('.git/config', 'old');
  const script = 'echo new | tee a.txt settled.txt .git/config .git/new /usr/x /x; mv .git moved; rm -rf .git';
  await workspace.run({ argv: ['sh', '-c', script] });
  assert.equal(workspace.text('a.txt'), 'new\n');
  assert.equal(workspace.text('settled.txt'), 'old');
  assert.equal(workspace.text('.git/config'), 'old');
  assert.deepEqual(readdirSync(workspace.at('.git')), ['config']);
  const asReader = { write: [], read: [workspace.path] };
  assert.notEqual((await workspace.run({ command: 'touch b.txt' }, asReader))['exit_code'], 0);
  assert.ok(!existsSync(workspace.at('b.txt')));
});

test('a file that the rules do not let the call create is set aside when the program has ended', async () => {
  using workspace = openWorkspace();
  const { withheld } = await workspace.run({ command: 'echo x >fine; cp fine settled.json' });
  assert.equal((withheld as string[]).length, 1);
  assert.ok(!existsSync(workspace.at('settled.json')));
  assert.equal(readFileSync((withheld as string[])[0] ?? '', 'utf8'), 'x\n');
  assert.ok(existsSync(workspace.at('fine')));
});

test('the program runs in the folder that was named, if it may see it', async () => {
  using workspace = openWorkspace();
  workspace.put('sub/a');
  assert.equal((await workspace.run({ command: 'pwd' }))['stdout'], `${workspace.path}\n`);
  assert.equal((await workspace.run({ command: 'pwd', cwd: 'sub' }))['stdout'], `${workspace.at('sub')}\n`);
  assert.equal((await workspace.run({ command: 'pwd' }, { write: [] }))['stdout'], '/tmp\n');
  await assert.rejects(workspace.run({ command: 'pwd', cwd: 'sub' }, { write: [] }), endsWith('NO_RULE_ALLOWS'));
});

test('the environment holds what the rules give and the caller may set', async () => {
  using workspace = openWorkspace();
  const { stdout } = await workspace.run({ command: 'env', env: { TZ: 'UTC' } }, { environment: { MODE: 'test' } });
  const names = String(stdout)
    .split('\n')
    .map((line) => line.split('=')[0])
    .filter(Boolean)
    .toSorted((a = '', b = '') => a.localeCompare(b));
  assert.deepEqual(names, ['HOME', 'LANG', 'MODE', 'PATH', 'PWD', 'TZ']);
  await assert.rejects(workspace.run({ command: 'env', env: { LD_PRELOAD: 'x' } }), endsWith('RULE_DENIES'));
});

test('there is no network unless it is asked for and granted', async () => {
  requirement('EXEC-1');
  using workspace = openWorkspace();
  const { stdout } = await workspace.run({ command: 'ls /sys/class/net' }).catch(() => ({ stdout: '' }));
  assert.equal(stdout, '');
  await assert.rejects(
    workspace.run({ command: 'true', network_access: true }),
    endsWith('NO_RULE_ALLOWS', /no rule grants it a host/),
  );
});

test('a program that takes too long is ended with everything it started', async () => {
  using workspace = openWorkspace();
  const running = workspace.run({ command: 'sleep 987 | sleep 987', timeout_ms: 300 });
  await assert.rejects(running, (error) => error instanceof ToolFailure && error.code === 'TIMEOUT');
  const left = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sleep\x00987');
      } catch {
        return false;
      }
    });
  assert.deepEqual(left, []);
});

test('much output is kept whole elsewhere, and output that is no text is marked', async () => {
  using workspace = openWorkspace();
  const much = await workspace.run({ argv: ['sh', '-c', 'yes 0123456789 | head -c 300000'] });
  assert.equal(String(much['stdout']).length, 256 * 1024);
  assert.deepEqual([much['stdout_truncated'], much['stdout_bytes']], [true, 300_000]);
  assert.equal(workspace.kept.get(String(much['stdout_hash']))?.length, 300_000);
  const odd = await workspace.run({ argv: ['printf', '\\377a'] });
  assert.deepEqual([odd['stdout'], odd['stdout_lossy']], ['\uFFFDa', true]);
});

test('a person who is asked sees every program, where it runs and what it may reach', async () => {
  using workspace = openWorkspace();
  const context = {
    ...workspace.context,
    grants: { ...workspace.context.grants, write: [workspace.path], hosts: ['example.com'] },
  };
  const args = { command: 'git status | wc -l', env: { TZ: 'UTC' }, stdin: '', network_access: true, timeout_ms: 1000 };
  const effect = await shellRun.preview(args, context);
  assert.equal(effect.summary, 'Run git status | wc -l');
  assert.equal(
    effect.detail,
    [
      'runs: git status',
      'runs: wc -l',
      `in: ${workspace.path}`,
      'with: TZ=UTC',
      `may change: ${workspace.path}`,
      'may reach: example.com',
      'at most: 1 s, 60 s of CPU, 1024 MB of memory, 64 processes, files of 1024 MB, 4096 MB on disk, 32 MB of output',
      'What it will read and change in there is not known beforehand.',
      '',
    ].join('\n'),
  );
  assert.ok(!effect.undoable);
  const fed = await shellRun.preview({ ...args, stdin: 'first\nsecond' }, context);
  assert.match(fed.detail, /\nreads:\n {2}\| first\n {2}\| second\n/);
  const hostile = await shellRun.preview({ ...args, argv: ['echo', '\u202e\n'], command: undefined } as never, context);
  assert.doesNotMatch(hostile.summary + hostile.detail.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
});

test('nobody is asked about a command in a folder that it would not see', async () => {
  using workspace = openWorkspace();
  workspace.put('inner/a.txt');
  workspace.put('forbidden/a.txt');
  const grants = { ...workspace.context.grants, write: [workspace.at('inner')] };
  const ask = (cwd: string) => workspace.preview(shellRun, { command: 'true', cwd }, { grants });
  assert.match((await ask('inner')).detail, /may change: .*inner/);
  await assert.rejects(ask('.'), endsWith('NO_RULE_ALLOWS', /do not let the program see/));
  const secret = { ...grants, write: [], read: ['/proc'] };
  await assert.rejects(workspace.preview(shellRun, { command: 'true' }, { grants: secret }), endsWith('UNSAFE_PATH'));
});
