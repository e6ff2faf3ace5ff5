import assert from 'node:assert/strict';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { canReach, checkReach, chooseUser, unprivilegedUser } from './choose-user.ts';

const root = { uid: 0, gid: 0 };
const stranger = { uid: 61_000, gid: 61_000 };

function makeFolder(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'user-')));
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test('a daemon that is not root starts programs under itself', () => {
  assert.equal(chooseUser({ uid: 1000, gid: 1000 }, [{ source: '/usr', access: 'write' }]), undefined);
});

test('root starts a program that owns nothing under a user without rights', () => {
  assert.deepEqual(chooseUser(root, []), unprivilegedUser);
  assert.deepEqual(chooseUser(root, [{ source: '/usr', access: 'read' }]), unprivilegedUser);
});

test('root starts a program under the owner of what it may change, before that of what it may read', () => {
  using folder = makeFolder();
  const [mine, readable] = ['mine', 'readable'].map((name) => join(folder.path, name)) as [string, string];
  mkdirSync(mine);
  mkdirSync(readable);
  if (process.getuid?.() === 0) {
    chownSync(mine, 1001, 1002);
    chownSync(readable, 1003, 0);
  }
  const { uid, gid } = lstatSync(mine);
  const shown = [
    { source: readable, access: 'read' as const },
    { source: '/usr', access: 'write' as const },
    { source: mine, access: 'write' as const },
  ];
  assert.deepEqual(chooseUser(root, shown), { uid, gid });
  const reader = chooseUser(root, shown.slice(0, 1));
  assert.equal(reader?.uid, lstatSync(readable).uid);
  assert.notEqual(reader?.gid, 0, 'never with the group of root');
});

test('the way, the reading and the writing are checked with the bits of owner, group or others', () => {
  using folder = makeFolder();
  const inner = join(folder.path, 'inner');
  mkdirSync(inner, { mode: 0o755 });
  const { uid, gid } = lstatSync(inner);
  const shown = { source: inner, access: 'read' as const };
  checkReach(shown, stranger);
  checkReach({ ...shown, access: 'write' }, { uid, gid });
  assert.throws(() => checkReach({ ...shown, access: 'write' }, stranger), {
    code: 'SANDBOX_UNAVAILABLE',
    message: /cannot write to/,
    remedy: /chown -R 61000:61000 '/,
  });
  chmodSync(inner, 0o750);
  assert.throws(() => checkReach(shown, stranger), { message: /cannot read/, remedy: /chmod -R o\+rX '/ });
  checkReach(shown, { uid: stranger.uid, gid });
  chmodSync(inner, 0o057);
  assert.throws(() => checkReach(shown, { uid, gid }), /cannot read/, 'an owner has the rights of the owner only');
  chmodSync(inner, 0o755);
  chmodSync(folder.path, 0o700);
  assert.throws(() => checkReach(shown, stranger), { message: /cannot enter/, remedy: /chmod o\+x '/ });
  assert.ok(!canReach(inner, stranger));
  assert.ok(canReach(inner, { uid, gid }));
  assert.ok(!canReach(join(inner, 'none'), { uid, gid }));
});

test('a path in a command is quoted', () => {
  using folder = makeFolder();
  const odd = join(folder.path, `it's; rm -rf $HOME`);
  mkdirSync(odd, { mode: 0o755 });
  assert.throws(() => checkReach({ source: odd, access: 'write' }, stranger), {
    remedy: new RegExp(String.raw`'[^']*it'\\''s; rm -rf \$HOME'$`),
  });
});
