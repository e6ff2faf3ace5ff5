import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
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
import { TestWorkspace } from './test-workspace.ts';

const raceMs = 1000;
const readMs = 300;

/** Another program: exchanges a file or folder with a link, back and forth, as fast as it can. */
const exchange = `
  const { renameSync, rmSync } = require('node:fs');
  const [real, link] = process.argv.slice(1);
  const end = Date.now() + ${raceMs};
  function move(from, to) {
    for (;;) {
      try {
        return renameSync(from, to);
      } catch (error) {
        // A tool made a folder of this name in the instant when it was free.
        if (error.code === 'ENOENT') throw error;
        try {
          rmSync(to, { recursive: true, force: true });
        } catch {}
      }
    }
  }
  let rounds = 0;
  for (; Date.now() < end; rounds++) {
    move(real, real + '.parked');
    move(link, real);
    move(real, link);
    move(real + '.parked', real);
  }
  console.log(rounds);
`;

/** Runs `round` until the other program ends, and returns what that program printed. */
async function raceAgainst(script: string, args: readonly string[], round: () => Promise<void>): Promise<string> {
  const child = spawn(process.execPath, ['-e', script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  // Closed: the program ended and all it printed was read.
  while (!child.stdout.closed) {
    await round();
    await setImmediate();
  }
  assert.equal((await ended)[0], 0);
  return printed.trim();
}

/** How the call ended: its answer as text, or a code. */
async function attempt(workspace: TestWorkspace, tool: AnyTool, args: JsonObject): Promise<string> {
  try {
    return JSON.stringify(await workspace.call(tool, args));
  } catch (error) {
    assert.ok(error instanceof Error && error.name.startsWith('Tool'), String(error));
    return error.name;
  }
}

test('a folder that is exchanged with a link while reading lets nothing out', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('swap/secret.txt', 'public');
  writeFileSync(join(workspace.outside, 'canary.txt'), 'canary');
  symlinkSync('../outside', workspace.at('link'));
  const answers = new Map<string, number>();
  let careless = 0;
  const rounds = await raceAgainst(exchange, [workspace.at('swap'), workspace.at('link')], async () => {
    for (const [tool, args] of [
      [filesRead, { path: 'swap/secret.txt' }],
      [filesList, { path: 'swap', recursive: true }],
      [filesSearch, { path: 'swap', content: 'c' }],
    ] as const) {
      const answer = await attempt(workspace, tool, args);
      assert.doesNotMatch(answer, /"secret"|canary/);
      answers.set(answer.slice(0, 5), (answers.get(answer.slice(0, 5)) ?? 0) + 1);
    }
    try {
      if (readFileSync(workspace.at('swap/secret.txt'), 'utf8') === 'secret') careless++;
    } catch {
      // Between two renames there is no such path.
    }
  });
  assert.ok(Number(rounds) > 0 && answers.size > 1);
  assert.ok(careless > 0, 'the attack would have worked on a program that just opens the path');
});

test('a folder that is exchanged with a link while it is changed lets nothing out and brings nothing in', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('swap/secret.txt', 'public');
  mkdirSync(workspace.at('to'));
  symlinkSync('../outside', workspace.at('link'));
  for (const name of ['victim.txt', 'movable.txt']) writeFileSync(join(workspace.outside, name), 'canary');
  // The folder itself, whatever its name is at the moment.
  const swap = openSync(workspace.at('swap'), 'r');
  let changed = 0;
  try {
    await raceAgainst(exchange, [workspace.at('swap'), workspace.at('link')], async () => {
      for (const name of ['victim.txt', 'movable.txt']) writeFileSync(`/proc/self/fd/${swap}/${name}`, 'x');
      for (const [tool, args] of [
        [filesWrite, { path: 'swap/new.txt', content: 'mine' }],
        [filesWrite, { path: 'swap/secret.txt', content: 'mine', append: true }],
        [filesWrite, { path: 'swap/sub/new.txt', content: 'mine', create_parents: true }],
        [filesEdit, { path: 'swap/secret.txt', old_content: 'secret', new_content: 'mine' }],
        [filesEnsureDir, { path: 'swap/made' }],
        [filesDelete, { path: 'swap/victim.txt' }],
        [filesMoveGlob, { from: 'swap', to: 'to', patterns: ['movable.txt'], overwrite: true }],
        [filesMoveGlob, { from: 'to', to: 'swap', patterns: ['*.txt'], overwrite: true }],
      ] as const) {
        if (!(await attempt(workspace, tool, args)).startsWith('Tool')) changed++;
      }
    });
  } finally {
    closeSync(swap);
  }
  assert.ok(changed > 0);
  assert.deepEqual(readdirSync(workspace.outside).sort(), ['movable.txt', 'secret.txt', 'victim.txt']);
  assert.equal(readFileSync(join(workspace.outside, 'secret.txt'), 'utf8'), 'secret');
  for (const name of ['victim.txt', 'movable.txt']) {
    assert.equal(readFileSync(join(workspace.outside, name), 'utf8'), 'canary');
  }
  // grep -r does not enter the link; readdirSync would.
  const found = spawnSync('grep', ['-r', '-l', 'canary', workspace.path], { encoding: 'utf8' });
  assert.deepEqual([found.stdout, found.status], ['', 1]);
});

test('a file that is exchanged with a link is neither read nor written through it', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('swap', 'public');
  symlinkSync('../outside/secret.txt', workspace.at('link'));
  await raceAgainst(exchange, [workspace.at('swap'), workspace.at('link')], async () => {
    assert.doesNotMatch(await attempt(workspace, filesRead, { path: 'swap' }), /"secret"/);
    await attempt(workspace, filesEdit, { path: 'swap', old_content: 'secret', new_content: 'mine' });
    await attempt(workspace, filesEdit, { path: 'swap', old_content: 'public', new_content: 'public' });
  });
  assert.equal(readFileSync(join(workspace.outside, 'secret.txt'), 'utf8'), 'secret');
});

test('another program that reads a file never sees a part of what is written', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  const path = workspace.put('a.txt', 'a'.repeat(200_000));
  const reader = `
    const { readFileSync } = require('node:fs');
    const end = Date.now() + ${readMs};
    const seen = new Set();
    let reads = 0;
    // On a busy machine the first write may come late.
    for (; Date.now() < end || (seen.size < 2 && Date.now() < end + 20_000); reads++) {
      const text = readFileSync(process.argv[1], 'latin1');
      const whole = text.length === 200000 && text === text[0].repeat(text.length);
      seen.add(whole ? text[0] : 'torn');
    }
    console.log([...seen].sort().join(' '));
  `;
  let version = 0;
  const seen = await raceAgainst(reader, [path], async () => {
    version++;
    await workspace.call(filesWrite, { path: 'a.txt', content: 'ab'.charAt(version % 2).repeat(200_000) });
  });
  assert.equal(seen, 'a b');
});

test('a file that another program keeps replacing can be read every time', async () => {
  using workspace = new TestWorkspace();
  const path = workspace.put('a.txt', 'content');
  const replacer = `
    const { renameSync, writeFileSync } = require('node:fs');
    const end = Date.now() + ${readMs};
    while (Date.now() < end) {
      writeFileSync(process.argv[1] + '.new', 'content');
      renameSync(process.argv[1] + '.new', process.argv[1]);
    }
  `;
  await raceAgainst(replacer, [path], async () => {
    for (let index = 0; index < 50; index++) {
      assert.equal((await workspace.call(filesRead, { path: 'a.txt' }))['content'], 'content');
    }
  });
});

test('200 concurrent appends are all in the file, in whole', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  const lines = Array.from({ length: 200 }, (_, index) => `${index}\n`);
  await Promise.all(lines.map((content) => workspace.call(filesWrite, { path: 'log', content, append: true })));
  assert.deepEqual(workspace.text('log').split('\n').slice(0, -1).map(Number), [...lines.keys()]);
});
