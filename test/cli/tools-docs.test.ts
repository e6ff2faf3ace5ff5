import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InJson, ToolDescriptor } from '@sallyport/contract';
import { buildProgram } from '../../packages/cli/src/program.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/tools.md'), 'utf8');

let daemon: TestDaemon;
before(async () => {
  const place = newToolPlace();
  mkdirSync(join(place.home, 'tools'), { recursive: true, mode: 0o700 });
  const blocks = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text);
  assert.equal(blocks.length, 2);
  for (const [at, text] of blocks.entries()) writeFileSync(join(place.home, 'tools', `page-${at}.yaml`), text);
  writeProgram(place, 'text.count.sh', shellProgram('text.count', 'echo {}'));
  daemon = await TestDaemon.start(place);
});
after(() => daemon.remove());

type Listed = InJson<ToolDescriptor>;

test('the files that the page shows are read, and say what the page says', () => {
  requirement('DEF-8');
  const standing = runSallyport(daemon.place, ['tool', 'status', 'text.count', '--json']);
  assert.equal(standing.status, 0, standing.stdout);
  const { tools } = JSON.parse(runSallyport(daemon.place, ['tool', 'list', '--json']).stdout) as { tools: Listed[] };
  const find = (name: string): Listed => tools.find((tool) => tool.name === name) ?? assert.fail(`no ${name}`);
  const { risk, mutates, idempotent, timeoutMs } = find('text.count');
  assert.deepEqual([risk, mutates, idempotent, timeoutMs], ['low', false, true, 20_000]);
  assert.equal(find('repo.authors').risk, 'low');
  assert.deepEqual([find('text.sort').risk, find('text.sort').mutates], ['high', true]);
  const { skipped } = JSON.parse(runSallyport(daemon.place, ['tool', 'status', '--json']).stdout) as {
    skipped: unknown;
  };
  assert.deepEqual(skipped, [], 'no line of them is wrong');
});

test('every command in the documents exists, with the options that are used', async () => {
  requirement('UI-1');
  const program = await buildProgram(() => Promise.resolve(), { json: false });
  const documents = ['README.md', ...globSync('docs/*.md', { cwd: root })];
  const lines = documents.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^ {4}(?:npx )?sallyport ([^#>|\n]+)/gm)].map(
      ([, words = '']) => `${file}: ${words.trim()}`,
    ),
  );
  assert.ok(lines.length > 20, String(lines.length));
  for (const line of lines) {
    const words = line.replace(/^\S+ /, '').split(/\s+/);
    let command = program;
    for (const word of words) command = command.commands.find((each) => each.name() === word) ?? command;
    assert.notEqual(command, program, line);
    assert.equal(command.commands.length, 0, `${line}: names no command`);
    const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
    for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
      assert.ok(known.includes(option), `${line}: ${option}`);
  }
});
