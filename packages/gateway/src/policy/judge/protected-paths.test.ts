import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { Access } from '@sallyport/sandbox';
import { protectPaths } from './protected-paths.ts';
import { makeFolder, world } from '../test-world.ts';

const folders = { ...world, rulesFolder: '/etc/sallyport' };
const { explain } = protectPaths(folders);

const closedToAll = [
  // Sallyport itself
  '/home/ada/.sallyport',
  '/home/ada/.sallyport/keys/audit.key',
  '/home/ada/.sallyport/workspaces',
  '/opt/sallyport/packages/gateway/src/gateway.ts',
  '/etc/sallyport/tools.yaml',
  // Agent clients of this person
  '/home/ada/.claude/settings.json',
  '/home/ada/.claude.json',
  '/home/ada/.cursor/mcp.json',
  '/home/ada/.codex/config.toml',
  '/home/ada/.gemini/settings.json',
  '/home/ada/.codeium/windsurf/mcp_config.json',
  '/home/ada/.config/zed/settings.json',
  '/home/ada/.config/opencode/opencode.json',
  '/home/ada/.config/Claude/claude_desktop_config.json',
  '/home/ada/.config/Code/User/mcp.json',
  '/home/ada/Library/Application Support/Claude/claude_desktop_config.json',
  '/home/ada/Library/Application Support/Code/User/mcp.json',
  // Agent clients in any project
  '/home/ada/work/.mcp.json',
  '/home/ada/work/.claude/settings.local.json',
  '/home/ada/work/.cursor/hooks.json',
  '/home/ada/work/.codex/config.toml',
  '/home/ada/work/.vscode/mcp.json',
  '/srv/other/deep/inside/.mcp.json',
  '/home/ada/work/opencode.jsonc',
  '/home/ada/work/.kiro/settings/mcp.json',
  '/home/ada/work/.roo/mcp.json',
  '/home/ada/work/.aider.conf.yml',
  // Other spellings that a lax file system takes for the same
  '/home/ada/.SALLYPORT/keys',
  '/home/ada/work/.MCP.JSON',
  '/home/ada/work/.cl\u200baude/settings.json',
];

const leftToRules = [
  '/home/ada/.sallyport/workspace',
  '/home/ada/.sallyport/workspace/src/a.ts',
  '/home/ada/work/src/main.ts',
  '/home/ada/work/.mcp.json.md',
  '/home/ada/work/mcp.json',
  '/home/ada/work/claude/settings.json',
  '/home/ada/work/.vscode/settings.json',
  '/home/ada/work/.roo/rules/style.md',
  '/home/ada/.claudette',
  '/opt/sallyport-tools/x',
  // Checked-out branches that clients keep below their own folders
  '/home/ada/work/.claude/worktrees/fix-login/src/a.ts',
  '/home/ada/.cursor/worktrees/thing/a.ts',
];

test('no access to the files of the gate or of agent clients is left to the rules', () => {
  requirement('MODE-5');
  for (const path of closedToAll) {
    for (const access of ['read', 'write'] as const) assert.notEqual(explain(path, access), undefined, path);
  }
});

test('everything else is left to the rules', () => {
  for (const path of leftToRules) {
    for (const access of ['read', 'write'] as const) assert.equal(explain(path, access), undefined, path);
  }
});

test('a folder around something protected may be read but not written, because renaming it would reach inside', () => {
  const around = ['/', '/home', '/home/ada', '/home/ada/.config', '/opt', '/home/ada/work/.vscode'];
  for (const path of around) {
    assert.equal(explain(path, 'read'), undefined, path);
    assert.match(explain(path, 'write') ?? '', /^contains /, path);
  }
});

test('a worktree of a client has protected entries of its own', () => {
  assert.notEqual(explain('/home/ada/work/.claude/worktrees/fix/.claude/settings.json', 'read'), undefined);
  assert.notEqual(explain('/home/ada/work/.claude/worktrees/fix/.mcp.json', 'read'), undefined);
  assert.notEqual(explain('/home/ada/work/.claude/worktrees', 'write'), undefined);
});

test('the explanation says whose files they are', () => {
  assert.equal(explain('/home/ada/.sallyport/keys', 'read'), "belongs to Sallyport's own files");
  assert.equal(explain('/home/ada/.claude.json', 'read'), 'belongs to the configuration of an agent client');
  assert.equal(explain('/srv/x/.mcp.json', 'write'), 'belongs to the configuration of an agent client');
  assert.equal(explain('/opt', 'write'), "contains Sallyport's own files");
});

test('configuration that a client was told to keep elsewhere is protected there', () => {
  const moved = protectPaths({
    ...folders,
    environment: { CLAUDE_CONFIG_DIR: '/data/claude', CODEX_HOME: '/data/codex', XDG_CONFIG_HOME: '/data/config' },
  });
  for (const path of ['/data/claude/.claude.json', '/data/codex/config.toml', '/data/config/zed/settings.json']) {
    assert.notEqual(moved.explain(path, 'read'), undefined, path);
    assert.equal(explain(path, 'read'), undefined, path);
  }
});

test('links to protected folders and files protect what they lead to', () => {
  const root = makeFolder();
  for (const folder of ['real-home', 'user/.claude', 'dotfiles', 'rules']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  symlinkSync(join(root, 'real-home'), join(root, 'home'));
  writeFileSync(join(root, 'dotfiles', 'claude.json'), '{}');
  symlinkSync(join(root, 'dotfiles', 'claude.json'), join(root, 'user', '.claude', 'settings.json'));
  writeFileSync(join(root, 'dotfiles', 'tools.yaml'), '');
  symlinkSync(join(root, 'dotfiles', 'tools.yaml'), join(root, 'rules', 'tools.yaml'));
  const linked = protectPaths({
    home: join(root, 'home'),
    userHome: join(root, 'user'),
    programFolder: join(root, 'program'),
    rulesFolder: join(root, 'rules'),
    environment: {},
  });
  const isClosed = (path: string, access: Access): boolean => linked.explain(join(root, path), access) !== undefined;
  assert.equal(isClosed('home/keys', 'read'), true);
  assert.equal(isClosed('real-home/keys', 'read'), true);
  assert.equal(isClosed('real-home/workspace/a', 'write'), false);
  assert.equal(isClosed('dotfiles/claude.json', 'read'), true);
  assert.equal(isClosed('dotfiles/tools.yaml', 'write'), true);
  assert.equal(isClosed('dotfiles/vimrc', 'write'), false);
});

test('a program at the root of the file system closes everything', () => {
  const whole = protectPaths({ ...folders, programFolder: '/' });
  assert.notEqual(whole.explain('/', 'read'), undefined);
  assert.notEqual(whole.explain('/home/ada/work/a', 'read'), undefined);
});
