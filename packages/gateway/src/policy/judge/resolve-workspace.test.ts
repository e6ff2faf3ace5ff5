import assert from 'node:assert/strict';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { resolveWorkspace } from './resolve-workspace.ts';
import type { WorkspaceChoice } from './resolve-workspace.ts';
import { makeFolder } from '../test-world.ts';

/** A machine on disk: a person with a project, the program in its checkout, the gate's home. */
function makeMachine() {
  const root = makeFolder();
  const at = (path: string): string => join(root, path);
  for (const folder of ['ada/project/src', 'ada/.sallyport/keys', 'ada/.claude', 'ada/clone/config/governance']) {
    mkdirSync(at(folder), { recursive: true });
  }
  const folders = {
    home: at('ada/.sallyport'),
    userHome: at('ada'),
    programFolder: at('ada/clone'),
    rulesFolder: at('ada/clone/config/governance'),
    environment: {},
  };
  const makeOwnWorkspace = (home: string) => () => {
    mkdirSync(join(home, 'workspace'), { recursive: true, mode: 0o700 });
    return join(home, 'workspace');
  };
  const resolveFrom = (startFolder: string, more: Partial<WorkspaceChoice> = {}) =>
    resolveWorkspace({
      ...folders,
      startFolder: at(startFolder),
      makeOwnWorkspace: makeOwnWorkspace(more.home ?? folders.home),
      ...more,
    });
  const resolveExplicit = (explicit: string, more: Partial<WorkspaceChoice> = {}) =>
    resolveWorkspace({
      ...folders,
      startFolder: at('ada/project'),
      explicit: at(explicit),
      makeOwnWorkspace: () => assert.fail('the workspace is named'),
      ...more,
    });
  return { at, resolveFrom, resolveExplicit };
}

test('a start folder of its own is the workspace, without a word', () => {
  const { at, resolveFrom } = makeMachine();
  assert.deepEqual(resolveFrom('ada/project'), { workspace: at('ada/project') });
  assert.deepEqual(resolveFrom('ada/project/src'), { workspace: at('ada/project/src') });
});

test('links on the way to the workspace are followed', () => {
  const { at, resolveFrom, resolveExplicit } = makeMachine();
  symlinkSync(at('ada/project'), at('short'));
  assert.deepEqual(resolveFrom('short'), { workspace: at('ada/project') });
  assert.deepEqual(resolveExplicit('short/src'), { workspace: at('ada/project/src') });
});

const unsafeStarts: readonly (readonly [folder: string, why: RegExp])[] = [
  ['ada', /is your home folder/],
  ['', /contains Sallyport's own files/],
  ['ada/clone', /belongs to Sallyport's own files/],
  ['ada/clone/config', /belongs to Sallyport's own files/],
  ['ada/.sallyport', /belongs to Sallyport's own files/],
  ['ada/.sallyport/keys', /belongs to Sallyport's own files/],
  ['ada/.claude', /belongs to the configuration of an agent client/],
  ['ada/gone', /does not exist/],
];

test('a start folder that overlaps what is protected is exchanged for one in the home, and the reason is said', () => {
  for (const [folder, why] of unsafeStarts) {
    const { at, resolveFrom } = makeMachine();
    const { workspace, reason } = resolveFrom(folder);
    assert.equal(workspace, at('ada/.sallyport/workspace'), folder);
    assert.match(reason ?? '', why, folder);
    assert.match(reason ?? '', /Set SALLYPORT_WORKSPACE/);
    assert.equal(statSync(workspace).mode & 0o777, 0o700);
  }
});

test('the root of the file system is never the workspace', () => {
  const { at, resolveFrom, resolveExplicit } = makeMachine();
  assert.equal(resolveFrom('', { startFolder: '/' }).workspace, at('ada/.sallyport/workspace'));
  assert.throws(() => resolveExplicit('', { explicit: '/' }), {
    name: 'ConfigError',
    message: /root of the file system/,
  });
});

test('a named workspace that overlaps what is protected is refused with the reason and a way out', () => {
  requirement('MODE-5');
  const { at, resolveExplicit } = makeMachine();
  writeFileSync(at('ada/file'), '');
  for (const [folder, why] of [...unsafeStarts, ['ada/file', /is not a folder/] as const]) {
    const expected = { name: 'ConfigError', message: why, remedy: /project folder/ };
    assert.throws(() => resolveExplicit(folder), expected, folder);
  }
});

test('a link cannot hide that a named workspace overlaps', () => {
  const { at, resolveExplicit } = makeMachine();
  symlinkSync(at('ada/.sallyport/keys'), at('innocent'));
  symlinkSync(at('ada/clone'), at('ada/project/link'));
  assert.throws(() => resolveExplicit('innocent'), { name: 'ConfigError', message: /Sallyport's own files/ });
  assert.throws(() => resolveExplicit('ada/project/link/config'), { name: 'ConfigError', message: /Sallyport's own/ });
});

test('the workspace folder in the home can be named, and so can a folder in it', () => {
  const { at, resolveExplicit } = makeMachine();
  mkdirSync(at('ada/.sallyport/workspace/one'), { recursive: true });
  assert.deepEqual(resolveExplicit('ada/.sallyport/workspace'), { workspace: at('ada/.sallyport/workspace') });
  assert.deepEqual(resolveExplicit('ada/.sallyport/workspace/one'), { workspace: at('ada/.sallyport/workspace/one') });
});

test('a workspace folder in the home that leads somewhere protected is refused', () => {
  const { at, resolveFrom } = makeMachine();
  symlinkSync(at('ada/.sallyport/keys'), at('ada/.sallyport/workspace'));
  assert.throws(() => resolveFrom('ada'), { name: 'ConfigError', message: /workspace cannot be used: it belongs to/ });
});

test('a home inside the program has no safe workspace, and says what to do', () => {
  const { at, resolveFrom } = makeMachine();
  const expected = { name: 'ConfigError', remedy: /SALLYPORT_HOME/ };
  assert.throws(() => resolveFrom('ada/clone', { home: at('ada/clone/.home') }), expected);
});

test('a workspace that cannot be created is said', () => {
  const { at, resolveFrom } = makeMachine();
  writeFileSync(at('plain-file'), '');
  const expected = { name: 'ConfigError', message: /cannot be created/ };
  assert.throws(() => resolveFrom('ada', { home: at('plain-file') }), expected);
});
