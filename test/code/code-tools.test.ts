import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { codeLint } from '../../packages/gateway/src/catalogue/code/code-lint.ts';
import { codeSearch } from '../../packages/gateway/src/catalogue/code/code-search.ts';
import { codeTest } from '../../packages/gateway/src/catalogue/code/code-test.ts';
import type { AnyTool } from '../../packages/gateway/src/call/tool.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { requirement } from '../requirement.ts';
import { SandboxedWorkspace } from '../shell/sandboxed-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());
const modules = join(import.meta.dirname, '../../node_modules');

function openWorkspace() {
  const workspace = new SandboxedWorkspace(programs);
  const grants = { ...workspace.context.grants, read: [workspace.path] };
  const use = (tool: AnyTool, args: JsonObject = {}) => workspace.call(tool, args, { grants });
  return Object.assign(workspace, { use });
}

for (const engine of ['ripgrep', 'built-in']) {
  const tool = codeSearch(() => engine === 'ripgrep');

  test(`code is found with file and line, and what the rules forbid is omitted and counted (${engine})`, async () => {
    requirement('CAT-6');
    using workspace = openWorkspace();
    workspace.put('src/a.ts', 'one\nconst needle = 1;\nthree\n');
    workspace.put('src/b.py', 'NEEDLE = 2\n');
    workspace.put('forbidden.ts', 'needle');
    workspace.put('sub/forbidden/c.ts', 'needle');
    workspace.put('.hidden.ts', 'needle');
    symlinkSync(join(workspace.outside, 'secret.txt'), workspace.at('link.ts'));
    const find = async (args: JsonObject) => {
      const answer = await workspace.use(tool, args);
      assert.equal(answer['engine'], engine);
      return answer;
    };
    const pathsOf = (answer: JsonObject) =>
      (answer['matches'] as JsonObject[]).map(({ path, line }) => `${String(path)}:${String(line)}`);
    const found = await find({ query: 'needle' });
    assert.deepEqual([pathsOf(found), found['omitted'], found['truncated']], [['src/a.ts:2'], 2, false]);
    const folded = await find({ query: 'needle', case_sensitive: false });
    assert.deepEqual(pathsOf(folded), ['src/a.ts:2', 'src/b.py:1']);
    assert.deepEqual(pathsOf(await find({ query: '^\\w+ = \\d$', regex: true, files: '*.py' })), ['src/b.py:1']);
    assert.deepEqual(pathsOf(await find({ query: 'secret' })), []);
    const one = await find({ query: 'e', max_results: 1 });
    assert.deepEqual([pathsOf(one), one['truncated']], [['src/a.ts:1'], true]);
    await assert.rejects(find({ query: 'x', path: workspace.outside }), endsWith('NO_RULE_ALLOWS'));
    await assert.rejects(find({ query: '(?=x)', regex: true }), endsWith('INVALID_ARGUMENTS'));
    await assert.rejects(find({ query: 'x', path: 'nowhere' }), endsWith('NOT_FOUND'));
    assert.deepEqual(pathsOf(await find({ query: '--files' })), []);
  });
}

test('ripgrep shows the lines around a match and leaves out what .gitignore names', async () => {
  using workspace = openWorkspace();
  workspace.put('a.txt', '1\n2\nx\n4\nx\n6\n7\n');
  workspace.put('built/b.txt', 'x\n');
  workspace.put('.gitignore', 'built\n');
  const { matches } = await workspace.use(codeSearch(), { query: 'x', context_lines: 1 });
  assert.deepEqual(matches, [
    { path: 'a.txt', line: 3, column: 1, text: 'x', before: ['2'], after: ['4'] },
    { path: 'a.txt', line: 5, column: 1, text: 'x', before: [], after: ['6'] },
  ]);
});

test("the project's own linter is found and run, and its problems have file, line and rule", async () => {
  requirement('CAT-6');
  using workspace = openWorkspace();
  await assert.rejects(workspace.use(codeLint()), endsWith('INVALID_ARGUMENTS', /no linter/));
  workspace.put('package.json', '{}');
  workspace.put('.gitignore', 'node_modules\n');
  workspace.put('src/bad.ts', 'const a = 1;\ndebugger;\nexport { a };\n');
  workspace.put('src/good.ts', 'export const b = 2;\n');
  workspace.put('forbidden.txt', 'x');
  mkdirSync(workspace.at('node_modules/.bin'), { recursive: true });
  for (const name of ['oxlint', '@oxlint'])
    cpSync(join(modules, name), workspace.at('node_modules', name), { recursive: true });
  symlinkSync('../oxlint/bin/oxlint', workspace.at('node_modules/.bin/oxlint'));
  workspace.giveAway();
  const found = await workspace.use(codeLint());
  const message = '`debugger` statement is not allowed';
  assert.deepEqual(found, {
    ...{ linter: 'oxlint', ok: true, exit_code: 0, truncated: false, hidden: 1 },
    problems: [{ file: 'src/bad.ts', line: 2, column: 1, rule: 'eslint(no-debugger)', severity: 'warning', message }],
  });
  const good = await workspace.use(codeLint(), { files: ['src/good.ts'] });
  assert.deepEqual([good['problems'], good['ok']], [[], true]);
  await assert.rejects(workspace.use(codeLint(), { files: ['../outside'] }), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.use(codeLint(), { linter: 'ruff' }), endsWith('INVALID_ARGUMENTS'));
});

test('nobody learns from an answer what is in a folder that the rules close', async () => {
  using workspace = openWorkspace();
  writeFileSync(join(workspace.outside, 'pyproject.toml'), '');
  symlinkSync(workspace.outside, workspace.at('link'));
  workspace.put('forbidden/pyproject.toml', '');
  execFileSync('/usr/bin/mkfifo', [workspace.at('package.json')]);
  mkdirSync(workspace.at('forbidden-too'));
  for (const path of [workspace.outside, join(workspace.outside, 'none'), 'forbidden', 'forbidden-too']) {
    await assert.rejects(workspace.use(codeTest(), { path }), endsWith('NO_RULE_ALLOWS'), path);
  }
  await assert.rejects(workspace.use(codeTest(), { path: 'link' }), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.use(codeTest(), { path: 'none' }), endsWith('NOT_FOUND'));
  // A pipe in the place of a file holds up nobody.
  await assert.rejects(workspace.use(codeTest()), endsWith('INVALID_ARGUMENTS'));
});

test('the tests of a project run where they can change nothing, and are told one by one', async () => {
  requirement('CAT-6');
  using workspace = openWorkspace();
  workspace.put('package.json', JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }));
  workspace.put(
    'a.test.js',
    `import assert from 'node:assert'; import { test } from 'node:test'; import { writeFileSync, readFileSync } from 'node:fs';
    test('adds', () => assert.equal(1 + 1, 2));
    test('breaks <"&', () => assert.equal(1, 2));
    test('later', { skip: true }, () => {});
    test('writes', () => writeFileSync('made.txt', 'x'));
    test('reads outside', () => readFileSync('${workspace.outside}/secret.txt'));
    test('connects', async () => { await fetch('http://127.0.0.1:9/'); });`,
  );
  const answer = await workspace.use(codeTest());
  assert.deepEqual(
    [answer['runner'], answer['ok'], answer['passed'], answer['failed'], answer['skipped']],
    ['node', false, 1, 4, 1],
  );
  const tests = answer['tests'] as JsonObject[];
  assert.deepEqual(tests[0]?.['name'], 'breaks <"&');
  assert.match(String(tests[0]?.['message']), /1 == 2/);
  assert.deepEqual(tests[0]?.['file'], 'a.test.js');
  assert.equal(existsSync(workspace.at('made.txt')), false);
  const adds = await workspace.use(codeTest(), { name: 'adds', files: ['a.test.js'] });
  assert.deepEqual([adds['ok'], adds['passed']], [true, 1]);
  assert.deepEqual(workspace.claim(codeTest(), {}).commands?.[0]?.startsWith('node --test '), true);
});

test('tests of Python run with unittest, and a project without tests is told', async () => {
  using workspace = openWorkspace();
  await assert.rejects(workspace.use(codeTest()), endsWith('INVALID_ARGUMENTS', /no test runner/));
  workspace.put('pyproject.toml', '');
  workspace.put(
    'test_a.py',
    'import unittest\nclass T(unittest.TestCase):\n    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(1, 2)\n',
  );
  const answer = await workspace.use(codeTest());
  assert.deepEqual([answer['runner'], answer['passed'], answer['failed']], ['unittest', 1, 1]);
  assert.match(JSON.stringify((answer['tests'] as JsonObject[])[0]), /test_bad.*AssertionError: 1 != 2/);
  workspace.put(
    'endless.py',
    'import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n        while True: pass\n',
  );
  workspace.put('test_b.py', 'from endless import *\n');
  await assert.rejects(workspace.use(codeTest(), { timeout_ms: 1500 }), endsWith('TIMEOUT'));
});
