import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Mount } from '../program.ts';
import { planMounts } from './plan-mounts.ts';
import type { MountPlan } from './plan-mounts.ts';

/** A small tree: `w` with folders, files and links in it. */
class Tree implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'mounts-')));

  constructor(...files: readonly string[]) {
    for (const file of files) {
      mkdirSync(dirname(this.at(file)), { recursive: true });
      writeFileSync(this.at(file), '');
    }
  }

  at(path: string): string {
    return join(this.root, path);
  }

  /** A mount at its own place. */
  show(path: string, access: 'read' | 'write', inside: { hidden?: string[]; frozen?: string[] } = {}): Mount {
    const source = this.at(path);
    const [hidden, frozen] = [inside.hidden, inside.frozen].map((paths) => paths?.map((each) => this.at(each)));
    return { source, target: source, access, ...(hidden && { hidden }), ...(frozen && { frozen }) };
  }

  /** The steps in short: `write w`, `hide-file w/.env`. */
  describe({ steps }: MountPlan): string[] {
    return steps.map(
      (step) => `${step.kind === 'bind' ? step.access : step.kind} ${step.target.slice(this.root.length + 1)}`,
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }
}

const refused = (message: RegExp) => ({ name: 'ProgramNotStarted', code: 'SANDBOX_UNAVAILABLE', message });

test('folders on the way to what is hidden or frozen become mounts, so that they cannot be moved', () => {
  using tree = new Tree('w/a/b/.env', 'w/a/repo/.git/config', 'w/free/file');
  const plan = planMounts([tree.show('w', 'write', { hidden: ['w/a/b/.env'], frozen: ['w/a/repo/.git'] })], []);
  assert.deepEqual(tree.describe(plan), [
    'write w',
    'write w/a',
    'write w/a/b',
    'hide-file w/a/b/.env',
    'write w/a/repo',
    'read w/a/repo/.git',
  ]);
  assert.deepEqual(plan.claims.writes, [tree.at('w')]);
  assert.deepEqual(
    plan.claims.holds,
    ['w/a', 'w/a/b', 'w/a/b/.env', 'w/a/repo', 'w/a/repo/.git'].map((path) => tree.at(path)),
  );
  assert.deepEqual(
    plan.claims.shuts,
    ['w/a/b/.env', 'w/a/repo/.git'].map((path) => tree.at(path)),
  );
});

test('in what is only read, only what is hidden is mounted over', () => {
  using tree = new Tree('w/a/.env', 'w/keys/id');
  const plan = planMounts([tree.show('w', 'read', { hidden: ['w/a/.env', 'w/keys'], frozen: ['w/a'] })], []);
  assert.deepEqual(tree.describe(plan), ['read w', 'hide-file w/a/.env', 'hide-folder w/keys']);
});

test('what is hidden inside something frozen is hidden there', () => {
  using tree = new Tree('w/.git/secret');
  const plan = planMounts([tree.show('w', 'write', { hidden: ['w/.git/secret'], frozen: ['w/.git'] })], []);
  assert.deepEqual(tree.describe(plan), ['write w', 'read w/.git', 'hide-file w/.git/secret']);
});

test('paths that do not exist are left alone', () => {
  using tree = new Tree('w/file');
  const inside = { hidden: ['w/none', 'w/none/deeper', 'w/file/none'], frozen: ['w/.git'] };
  const plan = planMounts([tree.show('w', 'write', inside)], []);
  assert.deepEqual(tree.describe(plan), ['write w']);
  assert.deepEqual(
    plan.claims.misses.toSorted(),
    ['w/.git', 'w/file/none', 'w/none'].map((path) => tree.at(path)),
    'but nobody else may put something there',
  );
});

test('a folder that is shown already is not shown again, and what either hides stays hidden', () => {
  using tree = new Tree('w/sub/.env', 'w/sub/other');
  const plan = planMounts(
    [tree.show('w', 'write'), tree.show('w/sub', 'read', { hidden: ['w/sub/.env'] }), tree.show('w', 'read')],
    [],
  );
  assert.deepEqual(tree.describe(plan), ['write w', 'write w/sub', 'hide-file w/sub/.env']);
});

test('a writable folder inside one that is read is a mount of its own', () => {
  using tree = new Tree('w/out/.env', 'w/file');
  const plan = planMounts([tree.show('w/out', 'write'), tree.show('w', 'read', { hidden: ['w/out/.env'] })], []);
  assert.deepEqual(tree.describe(plan), ['read w', 'write w/out', 'hide-file w/out/.env']);
  assert.deepEqual(plan.claims.holds, [tree.at('w/out'), tree.at('w/out/.env')]);
});

test('a mount that is frozen as a whole is only read', () => {
  using tree = new Tree('w/file');
  assert.deepEqual(tree.describe(planMounts([tree.show('w', 'write', { frozen: ['w'] })], [])), ['read w']);
});

test('mounts that contradict each other are refused', () => {
  using tree = new Tree('w/sub/file', 'other/file');
  const elsewhere = { source: tree.at('other'), target: tree.at('w/sub'), access: 'read' as const };
  assert.throws(() => planMounts([tree.show('w', 'write'), elsewhere], []), refused(/cannot be shown at/));
  assert.throws(() => planMounts([tree.show('w', 'read'), elsewhere], []), refused(/cannot be shown at/));
  const hidden = tree.show('w', 'read', { hidden: ['w/sub'] });
  assert.throws(() => planMounts([hidden, tree.show('w/sub', 'write')], []), refused(/the rules forbid it/));
  assert.throws(() => planMounts([tree.show('w', 'read', { hidden: ['w'] })], []), refused(/the rules forbid it/));
});

test('links are refused as sources, on the way to them, and where something is hidden or frozen', () => {
  using tree = new Tree('w/real/file');
  symlinkSync('real', tree.at('w/link'));
  assert.throws(() => planMounts([tree.show('w/link', 'read')], []), refused(/symbolic link/));
  assert.throws(() => planMounts([tree.show('w/link/file', 'read')], []), refused(/symbolic link/));
  for (const path of ['w/link', 'w/link/file']) {
    for (const way of ['hidden', 'frozen']) {
      assert.throws(() => planMounts([tree.show('w', 'write', { [way]: [path] })], []), refused(/symbolic link/));
    }
  }
});

test('what is neither file nor folder, and folders of the kernel, are shown to nobody', async () => {
  using tree = new Tree('w/file');
  const server = createServer().listen(tree.at('w/socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    assert.throws(() => planMounts([tree.show('w/socket', 'read')], []), refused(/device, pipe or socket/));
  } finally {
    server.close();
  }
  for (const source of ['/', '/proc/self', '/dev/null', '/dev']) {
    assert.throws(() => planMounts([{ source, target: '/tmp/x', access: 'read' }], []), refused(/shown to no program/));
  }
});

test('paths that are not canonical, and inner paths outside of their mount, are refused', () => {
  using tree = new Tree('w/file');
  const mount = tree.show('w', 'write');
  for (const bad of [
    'w',
    `${mount.source}/`,
    `${mount.source}/../w`,
    `${mount.source}//file`,
    `${mount.source}\0`,
    '',
  ]) {
    assert.throws(() => planMounts([{ ...mount, source: bad }], []), refused(/canonical/), bad);
    assert.throws(() => planMounts([{ ...mount, target: bad }], []), refused(/canonical/), bad);
    assert.throws(() => planMounts([{ ...mount, hidden: [bad] }], []), refused(/canonical/), bad);
  }
  assert.throws(() => planMounts([{ ...mount, hidden: [tree.root] }], []), refused(/does not lie in/));
});

test('what every program sees is not mounted again, and cannot be replaced', () => {
  const bin: Mount = { source: '/usr/bin', target: '/usr/bin', access: 'read' };
  assert.deepEqual(planMounts([bin], ['/usr']).steps, []);
  const hidden = planMounts([{ ...bin, hidden: ['/usr/bin/env'] }], ['/usr']);
  assert.deepEqual(hidden.steps, [{ kind: 'hide-file', target: '/usr/bin/env' }]);
  assert.throws(() => planMounts([{ source: '/usr', target: '/usr', access: 'write' }], ['/usr']), refused(/\/usr/));
  assert.throws(
    () => planMounts([{ source: '/usr/bin', target: '/usr/lib', access: 'read' }], ['/usr']),
    refused(/usr/),
  );
  assert.throws(() => planMounts([{ ...bin, target: '/bin' }], ['/usr']), refused(/its own \/bin/));
});

test('more mounts than the kernel makes quickly are refused', () => {
  const files = Array.from({ length: 501 }, (_, index) => `w/${index}`);
  using tree = new Tree(...files);
  assert.throws(() => planMounts([tree.show('w', 'write', { hidden: files })], []), refused(/at most 500/));
});
