import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import type { ToolContext } from '../../packages/gateway/src/call/tool.ts';
import type { JournalEntry, JournalRepository } from '../../packages/gateway/src/storage/stores.ts';
import { filesUndo } from '../../packages/gateway/src/undo/tools/files-undo.ts';
import { gitUndo } from '../../packages/gateway/src/undo/tools/git-undo.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { howMuch } from '../harness/how-much.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

/** A repository whose calls are written into a journal, and undone. */
class JournaledRepository extends GitWorkspace {
  readonly entries: JournalEntry[] = [];
  readonly warnings: string[] = [];
  readonly journal: Pick<JournalRepository, 'readJournal'> = {
    readJournal: async (filter) =>
      this.entries.filter((entry) =>
        Object.entries(filter).every(([name, value]) => entry[name as keyof JournalEntry] === value),
      ),
  };
  readonly undoTool = gitUndo(this.journal);

  constructor() {
    super(programs);
    this.put('.gitignore', 'ignored\n');
    this.plain('add', '.gitignore');
    this.plain('commit', '-q', '-m', 'ignore');
    this.put('a.txt', 'one\ntwo\nunstaged\n', 0o755);
    this.put('sub/deep/c.txt', 'c\n');
    this.plain('add', 'sub/deep/c.txt');
    this.put('untracked.txt', 'untracked\n');
    for (const name of ['a.txt', 'sub/b.txt']) utimesSync(this.at(name), 1_000_000_000.123456, 1_100_000_000.654321);
  }

  async run(words: readonly string[], context: Partial<ToolContext> = {}): Promise<string> {
    const callId = randomUUID();
    const output = await this.gitWith(words, { ...this.contextOf(callId, `git.${words[0]}`), ...context });
    assert.ok(output['exit_code'] !== undefined);
    return callId;
  }

  async undo(call: string, context: Partial<ToolContext> = {}): Promise<string> {
    const callId = randomUUID();
    const isGit = this.entries.some((entry) => entry.callId === call && entry.before.kind === 'repository');
    await this.call(
      isGit ? this.undoTool : filesUndo(this.journal),
      { call_id: call },
      { ...this.contextOf(callId, 'git.undo'), ...context },
    );
    return callId;
  }

  contextOf(callId: string, tool: string): Partial<ToolContext> {
    const call = { callId, tool, sessionId: this.session.id, traceId: '', agent: 'ada', atMs: 0 };
    return {
      callId,
      warn: (text) => void this.warnings.push(text),
      journal: async (...changes) => {
        for (const change of changes) this.entries.push({ ...call, ...change, position: this.entries.length });
      },
      completeChange: async (path, state) => {
        const at = this.entries.findLastIndex(
          (each) => each.callId === callId && each.path === path && each.after.kind === 'unknown',
        );
        const entry = this.entries[at];
        if (entry !== undefined) this.entries[at] = { ...entry, after: state };
        return entry !== undefined;
      },
    };
  }

  /**
   * All that undo promises to restore: files with their bytes, modes and times, and what git says of the repository.
   */
  look(): JsonObject {
    const asked = ['for-each-ref', 'ls-files --stage -v', 'status --porcelain=v2', 'stash list --format=%H%gs'];
    const script = asked.map((each) => `git ${each}`).join('; echo --; ');
    const environment = { PATH: '/usr/bin:/bin', HOME: this.base, GIT_CONFIG_NOSYSTEM: '1' };
    const { stdout } = spawnSync('/bin/sh', ['-c', script], { cwd: this.path, env: environment, encoding: 'utf8' });
    this.giveAway();
    return {
      head: readFileSync(this.at('.git/HEAD'), 'utf8'),
      repository: stdout,
      inProgress: readdirSync(this.at('.git')).filter((name) => /^(?:MERGE|REBASE|CHERRY|rebase|AUTO)/.test(name)),
      files: this.#files(),
    };
  }

  #files(): JsonObject {
    const names = readdirSync(this.path, { recursive: true, encoding: 'utf8' });
    const own = names.filter((name) => !/^(?:\.git|remote\.git)(?:\/|$)/.test(name));
    return Object.fromEntries(
      own.sort().map((name) => {
        const stats = lstatSync(this.at(name), { bigint: true });
        const mode = (Number(stats.mode) & 0o7777).toString(8);
        if (!stats.isFile())
          return [name, stats.isDirectory() ? `folder ${mode}` : `link ${readlinkSync(this.at(name))}`];
        return [name, `${mode} ${stats.mtimeNs / 1000n} ${readFileSync(this.at(name), 'latin1')}`];
      }),
    );
  }
}

type Prepare = (repository: JournaledRepository) => void | Promise<unknown>;
const nothing: Prepare = () => undefined;
const conflict: Prepare = (repository) => {
  repository.plain('stash');
  repository.plain('checkout', '-q', '-b', 'other', 'HEAD~1');
  repository.commit('other', { 'a.txt': 'of other\n' });
  repository.plain('checkout', '-q', 'main');
  repository.commit('again', { 'a.txt': 'of main\n' });
};
const clean: Prepare = (repository) => void repository.plain('stash');
const remote: Prepare = (repository) => {
  repository.plain('clone', '-q', '--bare', '.', 'remote.git');
  repository.plain('remote', 'add', 'origin', repository.at('remote.git'));
  repository.plain('stash');
  repository.plain('checkout', '-q', 'topic');
  repository.commit('far', { 'far/away.txt': 'far\n' });
  repository.plain('push', '-q', 'origin', 'topic:main', '--force');
  repository.plain('checkout', '-q', 'main');
};

const operations: readonly (readonly [command: string, prepare?: Prepare])[] = [
  ['add untracked.txt a.txt'],
  ['add -A'],
  ['commit -m message'],
  ['commit -am message'],
  ['commit --amend -m message'],
  ['branch new'],
  ['branch -D topic'],
  ['branch -m topic moved/below'],
  ['tag v1'],
  ['tag -a v1 -m annotated'],
  ['tag -d v0', (repository) => void repository.plain('tag', '-a', 'v0', '-m', 'x')],
  ['checkout -b new'],
  ['checkout topic', clean],
  ['checkout -f topic'],
  ['checkout --detach HEAD~1', clean],
  ['checkout -- a.txt'],
  ['checkout HEAD~1 -- a.txt sub'],
  ['merge topic', clean],
  ['merge --squash topic', clean],
  ['merge other', conflict],
  [
    'merge --abort',
    async (repository) => {
      await conflict(repository);
      repository.plain('merge', 'other');
    },
  ],
  ['rebase topic', clean],
  ['rebase other', conflict],
  ['reset'],
  ['reset --soft HEAD~1'],
  ['reset --hard HEAD~1'],
  ['reset HEAD -- sub/deep/c.txt'],
  ['stash'],
  ['stash push -m half -- a.txt'],
  ['stash pop', clean],
  [
    'stash drop stash@{1}',
    (repository) => {
      repository.plain('stash');
      repository.commit('x', { 'x.txt': 'x\n' });
      repository.put('x.txt', 'y\n');
      repository.plain('stash');
    },
  ],
  ['fetch origin', remote],
  ['pull origin main', remote],
  ['pull --rebase origin main', remote],
];

/** One for each way to prepare it: an undo leaves it as the next test expects it. */
const prepared = new Map<Prepare, JournaledRepository>();
after(() => {
  for (const repository of prepared.values()) repository[Symbol.dispose]();
});

async function open(prepare: Prepare): Promise<JournaledRepository> {
  const known = prepared.get(prepare);
  if (known !== undefined) return known;
  const repository = new JournaledRepository();
  prepared.set(prepare, repository);
  await prepare(repository);
  repository.giveAway();
  return repository;
}

for (const [at, [command, prepare = nothing]] of operations.entries()) {
  test(`git ${command} is undone: references, what is staged, and bytes, modes and times of files`, async () => {
    const repository = await open(prepare);
    const before = repository.look();
    const call = await repository.run(command.split(' '));
    const changed = repository.look();
    assert.notDeepEqual(changed, before, 'the operation changed nothing');
    assert.deepEqual(repository.warnings, []);
    const undo = await repository.undo(call);
    assert.deepEqual(repository.look(), before);
    // Each undo can be undone; some of them are tried in every run.
    if (at % howMuch({ usually: 6, long: 1 }) !== 0) return;
    assert.equal(repository.plain('fsck', '--no-dangling', '--connectivity-only'), '');
    const redo = await repository.undo(undo);
    assert.deepEqual(repository.look(), changed);
    await repository.undo(redo);
    assert.deepEqual(repository.look(), before);
  });
}

async function committed(): Promise<{ readonly repository: JournaledRepository; readonly call: string }> {
  const repository = new JournaledRepository();
  return { repository, call: await repository.run(['commit', '-am', 'message']) };
}

test('an undo is refused, and nothing is changed, when something else moved the branch, staged a file or changed one', async () => {
  const others: readonly ((repository: JournaledRepository) => unknown)[] = [
    (repository) => repository.plain('commit', '-q', '--allow-empty', '-m', 'of a person'),
    (repository) => repository.plain('add', 'untracked.txt'),
    (repository) => repository.plain('checkout', '-q', '-b', 'elsewhere'),
  ];
  for (const change of others) {
    const { repository, call } = await committed();
    using _ = repository;
    change(repository);
    const before = repository.look();
    await assert.rejects(repository.undo(call), endsWith('FILE_CHANGED', /changed by something else since/));
    assert.deepEqual(repository.look(), before);
  }
  using repository = new JournaledRepository();
  const call = await repository.run(['checkout', '-f', 'topic']);
  repository.put('a.txt', 'of a person\n');
  const before = repository.look();
  await assert.rejects(repository.undo(call), endsWith('FILE_CHANGED', /a\.txt was changed by something else since/));
  assert.deepEqual(repository.look(), before);
});

test('what changes elsewhere in the repository stands against no undo', async () => {
  using repository = new JournaledRepository();
  const call = await repository.run(['branch', '-D', 'topic']);
  repository.plain('add', 'untracked.txt');
  repository.plain('branch', 'unrelated');
  repository.plain('pack-refs', '--all');
  await repository.undo(call);
  assert.match(repository.plain('branch', '--format=%(refname:short)'), /^main\ntopic\nunrelated\n$/);
  assert.match(repository.plain('status', '--short'), /A {2}untracked\.txt/);
});

test('commits and stashes that git has thrown away meanwhile come back from what the gate kept', async () => {
  const losses = [
    ['branch', '-D', 'topic'],
    ['reset', '--hard', 'HEAD~1'],
    ['stash', 'drop'],
  ];
  for (const words of losses) {
    using repository = new JournaledRepository();
    if (words[0] === 'stash') repository.plain('stash');
    const before = repository.look();
    const call = await repository.run(words);
    for (const gone of ['logs', 'ORIG_HEAD']) rmSync(repository.at('.git', gone), { recursive: true, force: true });
    repository.plain('prune', '--expire=now');
    await repository.undo(call);
    assert.deepEqual({ ...repository.look(), stashes: 0 }, { ...before, stashes: 0 });
    assert.equal(repository.plain('fsck', '--no-dangling'), '');
  }
});

test('an operation that was cut off is not undone, and what was there before is shown', async () => {
  using repository = new JournaledRepository();
  const call = await repository.run(['commit', '-am', 'message'], { completeChange: async () => false });
  await assert.rejects(
    repository.undo(call),
    endsWith('FILE_CHANGED', /the journal does not say how the call left it/),
  );
});

test('an undo that was cut off is finished by the same undo', async () => {
  using repository = new JournaledRepository();
  const before = repository.look();
  const call = await repository.run(['checkout', '-f', 'topic']);
  let left = 5;
  const run: typeof programs.run = (...given) =>
    left-- > 0 ? programs.run(...given) : Promise.reject(new Error('the machine stops'));
  await assert.rejects(repository.undo(call, { programs: { run } }));
  await repository.undo(call);
  assert.deepEqual(repository.look(), before);
});

test('neither keeping nor undoing runs what a hostile repository configures', async () => {
  using repository = new JournaledRepository();
  const evil = repository.program('evil');
  for (const hook of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-checkout']) {
    writeFileSync(repository.at('.git/hooks', hook), `#!/bin/sh\ntouch '${repository.marker}'\n`, { mode: 0o755 });
  }
  repository.configure(`[core]\nfsmonitor = ${evil}\npager = ${evil}\n[filter "x"]\nclean = ${evil}\nsmudge = ${evil}`);
  repository.configure(`[diff "x"]\ntextconv = ${evil}\ncommand = ${evil}\n[uploadpack]\npackObjectsHook = ${evil}`);
  repository.configure(`[alias]\nupdate-ref = !${evil}\n[pack]\nwriteBitmaps = true`);
  writeFileSync(repository.at('.gitattributes'), '* filter=x diff=x\n');
  repository.giveAway();
  const call = await repository.run(['checkout', '-f', 'topic']);
  await repository.undo(call);
  assert.ok(!repository.takeMarker());
});

test('links in the place of the repository’s own files lead no undo out of it', async () => {
  for (const name of ['index', 'MERGE_HEAD', 'logs/refs/stash', 'HEAD']) {
    using repository = new JournaledRepository();
    const secret = join(repository.outside, 'secret.txt');
    const call = await repository.run(['stash']);
    const place = repository.at('.git', name);
    rmSync(place, { force: true });
    symlinkSync(secret, place);
    await assert.rejects(repository.undo(call));
    assert.equal(readFileSync(secret, 'utf8'), 'secret');
    await repository.gitWith(['stash', 'list'], repository.contextOf(randomUUID(), 'git.stash'));
    const kept = readdirSync(repository.context.trashFolder, { recursive: true, encoding: 'utf8' });
    for (const each of kept) {
      const path = join(repository.context.trashFolder, each);
      if (lstatSync(path).isFile()) assert.notEqual(readFileSync(path, 'utf8'), 'secret');
    }
  }
});

test('another repository in the same place is not changed', async () => {
  const { repository, call } = await committed();
  using _ = repository;
  rmSync(repository.at('.git'), { recursive: true });
  repository.plain('init', '-q', '-b', 'main');
  await assert.rejects(repository.undo(call), endsWith('FILE_CHANGED'));
});

test('kept bytes that somebody changed are not put back', async () => {
  const { repository, call } = await committed();
  using _ = repository;
  const kept = repository.entries.find(({ before }) => before.kind === 'repository')?.kept ?? '';
  const index = join(repository.context.trashFolder, kept, 'index');
  writeFileSync(index, Buffer.concat([readFileSync(index), Buffer.from('x')]));
  await assert.rejects(repository.undo(call), endsWith('NOT_FOUND', /no longer kept/));
});

test('the first commit, and a commit in another worktree, are undone as well', async () => {
  using repository = new JournaledRepository();
  rmSync(repository.at('.git'), { recursive: true });
  repository.plain('init', '-q', '-b', 'main');
  repository.plain('add', 'a.txt');
  const before = repository.look();
  const first = await repository.run(['commit', '-m', 'first']);
  await repository.undo(await repository.undo(await repository.undo(first)));
  assert.deepEqual(repository.look(), before);
  repository.plain('commit', '-q', '-m', 'first');
  repository.plain('worktree', 'add', '-q', 'copy');
  repository.put('copy/new.txt', 'new\n');
  repository.plain('-C', 'copy', 'add', 'new.txt');
  const head = repository.plain('-C', 'copy', 'rev-parse', 'HEAD');
  const call = await repository.run(['commit', '-m', 'in the worktree'], { workingDirectory: repository.at('copy') });
  assert.notEqual(repository.plain('-C', 'copy', 'rev-parse', 'HEAD'), head);
  await repository.undo(call);
  assert.equal(repository.plain('-C', 'copy', 'rev-parse', 'HEAD'), head);
  assert.equal(repository.plain('-C', 'copy', 'status', '--short'), 'A  new.txt\n');
});

test('cards say which operations can be undone, and which cannot', async () => {
  using repository = new JournaledRepository();
  repository.plain('clone', '-q', '--bare', '.', 'remote.git');
  repository.plain('remote', 'add', 'origin', repository.at('remote.git'));
  repository.plain('push', '-q', 'origin', 'topic');
  const commit = await repository.preview(repository.tool('commit'), { args: ['-m', 'x'] });
  assert.equal(commit.undoable, true);
  assert.ok(repository.tool('commit').definition.undo);
  const push = await repository.preview(repository.tool('push'), { args: ['origin', 'main'] });
  assert.equal(push.undoable, false);
  assert.match(push.detail, /cannot be undone: what the remote has received stays there/);
  assert.equal(repository.tool('push').definition.undo, undefined);
});

test('more than is kept is not promised, runs all the same, and says so', async () => {
  using repository = new JournaledRepository();
  repository.plain('stash');
  repository.plain('checkout', '-q', '-b', 'many');
  const files = Array.from({ length: 2001 }, (_, at) => [`many/${at}.txt`, ''] as const);
  mkdirSync(repository.at('many'));
  for (const [name, content] of files) writeFileSync(repository.at(name), content);
  repository.commit('many', {});
  const effect = await repository.preview(repository.tool('checkout'), { args: ['main'] });
  assert.equal(effect.undoable, false);
  assert.match(effect.detail, /cannot be undone: it may change 2002 files, and at most 2000 are kept/);
  await repository.run(['checkout', 'main']);
  assert.match(repository.warnings.join(), /cannot be undone: it may change 2002 files/);
  assert.ok(!existsSync(repository.at('many')));
});
