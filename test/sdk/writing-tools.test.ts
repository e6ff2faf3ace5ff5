import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { toolExitCodes } from '@sallyport/sdk';
import { descriptionKeys, parseToolDescription } from '../../packages/gateway/src/registry/tool-description.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { askFile, runFile, ToolFolder } from './tool-folder.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/writing-tools.md'), 'utf8');
const folder = new ToolFolder();
after(() => folder[Symbol.dispose]());

/** The code of the one block that begins with this. */
function codeOf(start: string): string {
  const [only, ...more] = page.split('\n```').filter((part) => part.startsWith(`${start}\n`));
  assert.ok(only !== undefined && more.length === 0, `there must be one block ${start}`);
  return only.slice(start.length + 1);
}

function checkTool(file: string, name: string): void {
  const { status, stdout, stderr } = runFile(file, ['--schema']);
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(parseToolDescription(JSON.parse(stdout) as Json).name, name);
}

test('the tool in TypeScript has fewer than 15 lines and does what the page says', () => {
  const code = codeOf('ts tool');
  assert.ok(code.trim().split('\n').length < 15);
  const file = folder.add('words.ts', code);
  checkTool(file, 'text.words');
  assert.deepEqual(askFile(file, { text: ' one  two ' }), { words: 2 });
  assert.deepEqual(runFile(file, [], '{"text":" "}'), { status: 3, stdout: '', stderr: 'The text is empty.\n' });
});

test('the tool in Python does what the page says', () => {
  const file = folder.add('words.py', codeOf('python tool'));
  checkTool(file, 'text.words');
  assert.deepEqual(askFile(file, { text: ' eins  zwölf ' }), { words: 2 });
  assert.deepEqual(runFile(file, [], '{"text":" "}'), { status: 1, stdout: '', stderr: 'The text is empty.\n' });
});

test('the tool in Bash does what the page says', () => {
  const file = folder.add('time.sh', codeOf('sh tool'));
  checkTool(file, 'time.in');
  const { time } = askFile(file, { minutes: 60 }) as { time: string };
  assert.ok(Date.parse(time) > Date.now() + 58 * 60_000, time);
  assert.equal(runFile(file, [], '{}').status, 2);
});

test('the tool in C compiles without a warning and does what the page says', () => {
  const source = join(folder.path, 'gcd.c');
  const file = join(folder.path, 'number.gcd');
  writeFileSync(source, codeOf('c tool'));
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', file, source], { stdio: 'pipe' });
  checkTool(file, 'number.gcd');
  assert.deepEqual(askFile(file, { a: 84, b: 36 }), { gcd: 12 });
  assert.equal(runFile(file, [], '{"a":1}').status, 2);
});

test('the test of a tool runs and passes', () => {
  const file = folder.add('upper.test.ts', codeOf('ts test'));
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '' },
  });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /# pass 1/);
});

test('the client reads a note through a real gate, and is told why it may not', async () => {
  const daemon = await TestDaemon.start();
  try {
    const token = await daemon.newAgent('reader');
    const env = { SALLYPORT_TOKEN: token, SALLYPORT_ADDRESS: daemon.address };
    // On standard input, so that the package is found from here, as in a project that has installed it.
    const run = (code: string) =>
      spawnSync(process.execPath, ['--input-type=module-typescript', '-'], {
        cwd: root,
        env,
        input: code,
        encoding: 'utf8',
      });
    writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk');
    assert.equal(run(codeOf('ts client')).stdout, 'remember the milk\n');
    const forbidden = codeOf('ts client').replace('notes.md', '/etc/passwd');
    assert.match(run(forbidden).stdout, /^NO_RULE_ALLOWS: files\.read: /);
  } finally {
    await daemon.remove();
  }
});

test('the page lists the exit codes and every field that the gate reads', () => {
  for (const code of Object.values(toolExitCodes)) assert.match(page, new RegExp(`^\\| ${code} +\\|`, 'm'));
  for (const key of descriptionKeys) assert.ok(page.includes(`\`${key}`), key);
});
