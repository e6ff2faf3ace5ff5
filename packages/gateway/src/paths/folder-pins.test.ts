import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import { refuse } from '../call/refusal.ts';
import { FolderPins } from './folder-pins.ts';
import { openFile } from './open-path.ts';
import type { Reach } from './open-path.ts';

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pins-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything below `open/` may be read; each question is noted. */
function reachOf(folder: string) {
  const judged: string[] = [];
  const reach: Reach = {
    workingDirectory: folder,
    paths: {
      judge: (path) => {
        judged.push(path);
        const isOpen = path.startsWith(join(folder, 'open/')) && !path.endsWith('.env');
        return isOpen ? undefined : refuse('NO_RULE_ALLOWS', 'none', 'No rule allows it.');
      },
    },
  };
  const read = (name: string): string => {
    using file = openFile({ given: name, path: join(folder, name) }, reach);
    return readFileSync(file.fd, 'utf8');
  };
  return { read, judged };
}

test('the second file of a folder is judged like the first, each time it is read', (t) => {
  const folder = openFolder(t);
  mkdirSync(join(folder, 'open'));
  for (const name of ['a', 'b', '.env']) writeFileSync(join(folder, 'open', name), name);
  const { read, judged } = reachOf(folder);
  assert.deepEqual([read('open/a'), read('open/b'), read('open/b')], ['a', 'b', 'b']);
  assert.deepEqual(
    judged,
    ['a', 'b', 'b'].map((name) => join(folder, 'open', name)),
  );
  assert.throws(() => read('open/.env'), ToolRefused);
});

test('a folder that is exchanged while it is held opens nothing that the rules close', (t) => {
  const folder = openFolder(t);
  for (const name of ['open', 'shut', 'other']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'a'), name);
  }
  const { read } = reachOf(folder);
  assert.equal(read('open/a'), 'open');
  // Moved away, and another one in its place: the name decides, not what is held.
  renameSync(join(folder, 'open'), join(folder, 'moved'));
  renameSync(join(folder, 'other'), join(folder, 'open'));
  assert.equal(read('open/a'), 'other');
  // A link in its place leads out.
  renameSync(join(folder, 'open'), join(folder, 'away'));
  symlinkSync(join(folder, 'shut'), join(folder, 'open'));
  assert.throws(() => read('open/a'), ToolRefused);
});

test('a link, a pipe, a folder and a second name are what they are, also in a folder that is held', (t) => {
  const folder = openFolder(t);
  mkdirSync(join(folder, 'open/inner'), { recursive: true });
  mkdirSync(join(folder, 'shut'));
  writeFileSync(join(folder, 'shut/secret'), 'secret');
  writeFileSync(join(folder, 'open/a'), 'a');
  symlinkSync(join(folder, 'shut/secret'), join(folder, 'open/link'));
  execFileSync('ln', [join(folder, 'shut/secret'), join(folder, 'open/twin')]);
  execFileSync('mkfifo', [join(folder, 'open/pipe')]);
  const { read } = reachOf(folder);
  for (let times = 0; times < 2; times++) {
    assert.equal(read('open/a'), 'a');
    assert.throws(() => read('open/link'), ToolRefused);
    assert.throws(() => read('open/twin'), ToolRefused);
    assert.throws(() => read('open/pipe'), ToolFailure);
    assert.throws(() => read('open/inner'), ToolFailure);
    assert.throws(() => read('open/none'), { code: 'ENOENT' });
  }
});

test('held folders are few and are let go after a moment', async (t) => {
  const folder = openFolder(t);
  const pins = new FolderPins({ keepMs: 20 });
  const count = (): number => readdirSync('/proc/self/fd').length;
  const before = count();
  for (let n = 0; n < 200; n++) {
    mkdirSync(join(folder, String(n)));
    pins.keep(join(folder, String(n)));
  }
  assert.equal(pins.size, 64);
  assert.ok(count() <= before + 66);
  pins.drop(join(folder, '0'));
  assert.equal(pins.find(join(folder, '0')), undefined);
  while (pins.size > 0) await sleep(5);
  assert.ok(count() <= before + 2);
  for (const special of ['/dev', '/proc/self', '/sys']) pins.keep(special);
  pins.keep(join(folder, 'missing'));
  assert.equal(pins.size, 0);
});
