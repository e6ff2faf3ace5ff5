import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import type { AnyTool } from '../../call/tool.ts';
import { filesDelete } from './files-delete.ts';
import { filesEdit } from './files-edit.ts';
import { filesEnsureDir } from './files-ensure-dir.ts';
import { filesList } from './files-list.ts';
import { filesMoveGlob } from './files-move-glob.ts';
import { filesRead } from './files-read.ts';
import { filesSearch } from './files-search.ts';
import { filesWrite } from './files-write.ts';
import { folderPins } from '../../paths/open-path.ts';
import { countDescriptors, endsWith, TestWorkspace } from './test-workspace.ts';

/** Every way in which a file tool takes a path. */
const ways: readonly (readonly [tool: AnyTool, args: (path: string) => JsonObject])[] = [
  [filesRead, (path) => ({ path })],
  [filesList, (path) => ({ path })],
  [filesSearch, (path) => ({ path, name: '*' })],
  [filesWrite, (path) => ({ path, content: 'x' })],
  [filesWrite, (path) => ({ path, content: 'x', append: true })],
  [filesWrite, (path) => ({ path, content: 'x', create_parents: true })],
  [filesEdit, (path) => ({ path, old_content: 'secret', new_content: 'x' })],
  [filesEnsureDir, (path) => ({ path })],
  [filesDelete, (path) => ({ path, recursive: true })],
  [filesMoveGlob, (path) => ({ from: path, to: 'to', patterns: ['*'] })],
  [filesMoveGlob, (path) => ({ from: 'from', to: path, patterns: ['*'] })],
];

const changing = ways.filter(([tool]) => tool.definition.mutates);
const ofContent = ways.filter(([tool]) => [filesRead, filesWrite, filesEdit].includes(tool));

function prepare(): TestWorkspace {
  const workspace = new TestWorkspace();
  workspace.put('from/a.txt', 'secret');
  mkdirSync(workspace.at('to'));
  return workspace;
}

function assertOutsideUntouched(workspace: TestWorkspace): void {
  assert.deepEqual(workspace.outsideNames(), ['secret.txt']);
  assert.equal(readFileSync(join(workspace.outside, 'secret.txt'), 'utf8'), 'secret');
}

test('".." is refused wherever it stands', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  for (const [tool, args] of ways) {
    for (const path of [
      '..',
      '../outside',
      'from/../../outside/secret.txt',
      'from/..',
      `${workspace.path}/../outside`,
    ]) {
      await assert.rejects(
        workspace.call(tool, args(path)),
        endsWith('UNSAFE_PATH'),
        `${tool.definition.name} ${path}`,
      );
    }
  }
  assertOutsideUntouched(workspace);
});

test('names that only look like ".." are names', async () => {
  using workspace = prepare();
  workspace.put('..a/b..', 'x');
  assert.equal((await workspace.call(filesRead, { path: '..a/b..' }))['content'], 'x');
});

test('NUL, control characters, half characters and overlong paths are refused', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  for (const [tool, args] of ways) {
    for (const path of ['from/a.txt\0.png', '\0', 'a\nb', 'a\u009bb', '\ud800', 'é'.repeat(2100)]) {
      await assert.rejects(workspace.call(tool, args(path)), endsWith('INVALID_ARGUMENTS'), tool.definition.name);
    }
  }
});

test('links that lead out are followed by no tool, absolute or relative, as the file or on the way', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  symlinkSync(workspace.outside, workspace.at('absolute'));
  symlinkSync('../outside', workspace.at('relative'));
  symlinkSync('absolute', workspace.at('chain'));
  symlinkSync('../outside/secret.txt', workspace.at('secret'));
  symlinkSync('../outside/new.txt', workspace.at('dangling'));
  symlinkSync('loop', workspace.at('loop'));
  const paths = ['absolute/secret.txt', 'relative/secret.txt', 'chain/secret.txt', 'relative/new.txt', 'chain/new/x'];
  for (const [tool, args] of ways) {
    for (const path of [...paths, ...(tool === filesDelete ? [] : ['absolute', 'secret', 'dangling', 'loop'])]) {
      await assert.rejects(
        workspace.call(tool, args(path)),
        endsWith('UNSAFE_PATH'),
        `${tool.definition.name} ${path}`,
      );
    }
  }
  assertOutsideUntouched(workspace);
});

test('a link tells nothing about what is behind it', async () => {
  using workspace = prepare();
  symlinkSync('../outside', workspace.at('out'));
  symlinkSync('../outside/secret.txt', workspace.at('there'));
  symlinkSync('../outside/nothing', workspace.at('gone'));
  const answers = await Promise.all(
    ['out/secret.txt', 'out/nothing', 'out/nothing/below', 'there', 'gone'].map(async (path) => {
      const error = await workspace.call(filesRead, { path }).then(
        () => assert.fail(`${path} was read`),
        (reason: unknown) => reason as Error,
      );
      return error.message.replace(path, 'PATH');
    }),
  );
  assert.equal(new Set(answers).size, 1);
  assert.doesNotMatch(answers[0] ?? '', /outside/);
});

test('links inside the workspace are followed for reading and refused for changes', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  symlinkSync('from', workspace.at('link'));
  symlinkSync('from/a.txt', workspace.at('file-link'));
  assert.equal((await workspace.call(filesRead, { path: 'link/a.txt' }))['content'], 'secret');
  assert.equal((await workspace.call(filesRead, { path: 'file-link' }))['content'], 'secret');
  for (const [tool, args] of changing) {
    await assert.rejects(workspace.call(tool, args('link/a.txt')), endsWith('UNSAFE_PATH'), tool.definition.name);
  }
});

test('the file systems of the kernel stay closed even where the rules allow everything', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  symlinkSync('/proc/self/root/etc', workspace.at('etc'));
  symlinkSync('/proc/self', workspace.at('self'));
  const paths = { judge: () => undefined };
  for (const path of ['/proc/self/environ', '/proc/1/environ', 'self/environ', '/proc/self/mem', '/sys/kernel/notes']) {
    const call = async () =>
      filesRead.run({ path, offset: 0, limit: 1, max_size_mb: 1, encoding: 'base64' }, { ...workspace.context, paths });
    await assert.rejects(call, endsWith('UNSAFE_PATH'), path);
  }
  await assert.rejects(workspace.call(filesRead, { path: 'etc/passwd' }), endsWith('UNSAFE_PATH'));
  for (const path of [
    '/proc/self/root/etc/passwd',
    '/proc/1/root/etc/passwd',
    `/proc/self/root${workspace.path}/from/a.txt`,
  ]) {
    await assert.rejects(workspace.call(filesRead, { path }), endsWith('NO_RULE_ALLOWS'));
    const args = { path, content: 'x', encoding: 'utf-8', create_only: false, append: false, create_parents: false };
    await assert.rejects(
      async () => filesWrite.run(args, { ...workspace.context, paths }),
      endsWith('UNSAFE_PATH'),
      path,
    );
  }
});

test('nothing is truncated or written through a link', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  symlinkSync('../outside/secret.txt', workspace.at('link'));
  for (const more of [{}, { append: true }, { create_only: true }, { content: '' }]) {
    const call = workspace.call(filesWrite, { path: 'link', content: 'x', ...more });
    await assert.rejects(call, endsWith('UNSAFE_PATH'));
  }
  assertOutsideUntouched(workspace);
  assert.ok(lstatSync(workspace.at('link')).isSymbolicLink());
});

test('a hard link out is neither written to nor read, no matter who may read the file', async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  const secret = join(workspace.outside, 'secret.txt');
  linkSync(secret, workspace.at('linked'));
  for (const mode of [0o640, 0o644]) {
    chmodSync(secret, mode);
    for (const [tool, args] of ofContent) {
      await assert.rejects(workspace.call(tool, args('linked')), endsWith('UNSAFE_PATH'), tool.definition.name);
    }
  }
  assertOutsideUntouched(workspace);
});

test('pipes, sockets and devices neither hang nor answer', { timeout: 60_000 }, async () => {
  requirement('EXEC-7');
  using workspace = prepare();
  execFileSync('mkfifo', [workspace.at('pipe')]);
  symlinkSync('/dev/zero', workspace.at('zero'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(workspace.at('socket'), resolve));
  const paths = { judge: () => undefined };
  try {
    for (const [tool, args] of ofContent) {
      for (const path of ['pipe', 'socket']) {
        await assert.rejects(
          workspace.call(tool, args(path)),
          endsWith('NOT_A_FILE'),
          `${tool.definition.name} ${path}`,
        );
      }
    }
    await assert.rejects(workspace.call(filesRead, { path: 'zero' }, { paths }), endsWith('NOT_A_FILE'));
    await assert.rejects(workspace.call(filesSearch, { path: 'pipe', name: '*' }), endsWith('NOT_A_FOLDER'));
    assert.equal((await workspace.call(filesSearch, { content: 'x' }))['skipped'], 0);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test('a name that ends like the mark of a deleted file is a name', async () => {
  using workspace = prepare();
  workspace.put('a (deleted)', 'named so');
  assert.equal((await workspace.call(filesRead, { path: 'a (deleted)' }))['content'], 'named so');
  await workspace.call(filesWrite, { path: 'a (deleted)', content: 'still' });
  assert.equal(workspace.text('a (deleted)'), 'still');
});

test('no call leaves a descriptor open, however it ends', async () => {
  using workspace = prepare();
  symlinkSync('../outside', workspace.at('out'));
  execFileSync('mkfifo', [workspace.at('pipe')]);
  writeFileSync(workspace.at('large.txt'), 'x'.repeat(300_000));
  const paths = [
    '.',
    'from',
    'from/a.txt',
    'missing',
    'missing/below',
    'from/a.txt/below',
    'out',
    'out/secret.txt',
    'pipe',
    'large.txt',
    'forbidden',
    '..',
    'a\0',
  ];
  const endings = new Set<string>();
  // One is opened with the first file of a held folder and stays, whatever comes.
  for (const path of ['from/a.txt', 'from/a.txt']) await workspace.call(filesRead, { path });
  // Folders are held for a moment on purpose.
  folderPins?.close();
  const before = countDescriptors();
  for (const [tool, args] of ways) {
    for (const path of paths) {
      for (const signal of [workspace.context.signal, AbortSignal.abort(), AbortSignal.timeout(1)]) {
        const ending = await workspace.call(tool, args(path), { signal }).then(
          () => 'ok',
          (error: unknown) => (error as Error).name,
        );
        endings.add(ending);
      }
    }
  }
  folderPins?.close();
  assert.equal(countDescriptors(), before);
  assert.deepEqual([...endings].sort(), ['ToolFailure', 'ToolRefused', 'ok']);
  assert.deepEqual(
    readdirSync(workspace.path).filter((name) => name.startsWith('.sallyport')),
    [],
  );
});

test('what git takes for a repository is made and changed by no file tool, in whatever order', async () => {
  using workspace = new TestWorkspace();
  const hostile = '[core]\nfsmonitor = "touch marker"\n';
  const denied = endsWith('RULE_DENIES');
  const write = (path: string, content = 'x') => workspace.call(filesWrite, { path, content, create_parents: true });
  for (const folder of ['a', 'b', '.']) {
    const parts = [`${folder}/objects/x`, `${folder}/refs/x`, `${folder}/HEAD`];
    await write(`${folder}/config`, hostile);
    const order = folder === 'a' ? parts : parts.toReversed();
    for (const part of order.slice(0, 2)) await write(part);
    await assert.rejects(write(order[2] ?? ''), denied, folder);
    await assert.rejects(
      workspace.call(filesEnsureDir, { path: `${folder}/${folder === 'a' ? 'HEAD' : 'Objects'}` }),
      denied,
    );
  }
  await write('from/commondir');
  await workspace.call(filesMoveGlob, { from: 'from', to: 'a', patterns: ['*'] });
  workspace.put('spare/HEAD', 'ref: refs/heads/main');
  const { moved } = await workspace.call(filesMoveGlob, { from: 'spare', to: 'a', patterns: ['*'] });
  assert.deepEqual(moved, []);
});

test('calls at once make no repository of a folder together', async () => {
  using workspace = new TestWorkspace();
  for (let round = 0; round < 20; round++) {
    const at = (name: string) => `r${round}/${name}`;
    workspace.put(at('objects/x'), '');
    const [head, refs] = await Promise.allSettled([
      workspace.call(filesWrite, { path: at('HEAD'), content: 'ref: refs/heads/main' }),
      workspace.call(filesEnsureDir, { path: at('refs') }),
    ]);
    assert.ok(head.status === 'rejected' || refs.status === 'rejected', String(round));
  }
});

test('a repository without a working tree, under any name, is not changed by file tools', async () => {
  using workspace = new TestWorkspace();
  for (const name of ['HEAD', 'objects/x', 'refs/x', 'config', 'hooks/x']) workspace.put(`mirror/${name}`, 'x');
  workspace.put('hooks/update', 'x');
  const denied = endsWith('RULE_DENIES');
  await assert.rejects(workspace.call(filesWrite, { path: 'mirror/hooks/update', content: 'x' }), denied);
  await assert.rejects(
    workspace.call(filesEdit, { path: 'mirror/config', old_content: 'x', new_content: 'y' }),
    denied,
  );
  await assert.rejects(workspace.call(filesDelete, { path: 'mirror/HEAD' }), denied);
  const { moved } = await workspace.call(filesMoveGlob, { from: 'hooks', to: 'mirror/hooks', patterns: ['*'] });
  assert.deepEqual(moved, []);
  assert.deepEqual(readdirSync(workspace.at('mirror/hooks')), ['x']);
  await workspace.call(filesDelete, { path: 'mirror', recursive: true });
});
