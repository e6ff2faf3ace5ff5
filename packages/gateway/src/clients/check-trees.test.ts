import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import { readScript } from '../catalogue/shell/reading/read-script.ts';
import { checkTrees } from './check-trees.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sallyport-trees-'));
  put('src/a.ts', 'x');
});
afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, text = ''): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

/** What the command would read that is closed. Undefined: nothing. */
async function closedFor(command: string): Promise<string | undefined> {
  const judge = (path: string) =>
    /\/(\.env|[^/]*\.pem|config)$/.test(path) || !path.startsWith(root)
      ? refuse('RULE_DENIES', 'secrets', 'No.')
      : undefined;
  const { trees } = readScript(command, { cwd: root, home: '/home/ada' });
  const context = { paths: { judge }, signal: new AbortController().signal, workingDirectory: root };
  try {
    await checkTrees(trees, context);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ToolRefused);
    return /also read (.*), which/.exec(error.refusal.message)?.[1];
  }
}

test('a command that reads a whole folder is refused when something in it is closed', async () => {
  put('.env');
  put('.git/config');
  for (const command of [
    'grep -r KEY .',
    'grep -R KEY',
    'grep -rn KEY . | head',
    'rg -uu KEY',
    'diff -r . src',
    'cd src && grep -r x ..',
  ]) {
    assert.match((await closedFor(command)) ?? '', /\.env|\.git\/config/, command);
  }
  for (const command of ['grep -r KEY src', 'grep KEY src/a.ts', 'rg KEY', 'rg KEY src', 'ls -R .', 'find . -name x']) {
    assert.equal(await closedFor(command), undefined, command);
  }
});

test('what the command leaves out is not read', async () => {
  put('.env');
  put('keys/a.pem');
  for (const command of [
    "grep -r --include='*.ts' KEY .",
    'grep -r --exclude=.env --exclude-dir=keys KEY .',
    "grep -r --exclude=.env --exclude='*.pem' KEY .",
    "rg --hidden -g '!.env' -g '!*.pem' KEY",
  ]) {
    assert.equal(await closedFor(command), undefined, command);
  }
  // Which of the two counts depends on their order, and a name that is brought back counts.
  assert.ok(await closedFor("grep -r --exclude=.env --include='.e*' KEY ."));
  assert.ok(await closedFor("rg --hidden -g '!.env' -g '.e*' KEY"));
  assert.ok(await closedFor("grep -r --exclude='[.]env' KEY ."));
});

test('what git ignores is passed over by those that do so, and only if no file brings it back', async () => {
  mkdirSync(join(root, '.git'));
  put('.gitignore', 'node_modules/\n*.pem/\n');
  put('node_modules/x/test.pem');
  assert.equal(await closedFor('rg KEY'), undefined);
  assert.equal(await closedFor('grep -r KEY .'), 'node_modules/x/test.pem');
  assert.equal(await closedFor('rg --no-ignore KEY'), 'node_modules/x/test.pem');
  put('src/b.pem');
  assert.equal(await closedFor('rg KEY'), 'src/b.pem', 'a pattern for folders says nothing about files');
  rmSync(join(root, 'src/b.pem'));
  for (const file of ['.ignore', '.gitignore', 'src/.gitignore', '.rgignore']) {
    put(file, '!node_modules\n');
    assert.ok(await closedFor('rg KEY'), file);
    put(file, file === '.gitignore' ? 'node_modules/\n' : '');
  }
  put('.env');
  assert.equal(await closedFor('rg KEY'), undefined, 'hidden');
  put('.ignore', '!.env\n');
  assert.ok((await closedFor('rg KEY'))?.includes('.env'));
});

test('links count where they are followed', async () => {
  symlinkSync('/etc/hostname', join(root, 'src/out'));
  assert.equal(await closedFor('grep -r KEY src'), undefined);
  assert.equal(await closedFor('grep -R KEY src'), 'src/out');
  assert.equal(await closedFor('rg -L KEY src'), 'src/out');
});
