import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import * as builtProgram from '../../packages/gateway/bin/built-program.mjs';

const own = join(import.meta.dirname, '../../packages/gateway/bin/built-program.mjs');

/** A package with one source, which is built. */
async function openPackage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-built-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['bin', 'src/cli', 'dist/b']) mkdirSync(join(folder, name), { recursive: true });
  cpSync(own, join(folder, 'bin/built-program.mjs'));
  const source = join(folder, 'src/cli/main.ts');
  writeFileSync(source, 'one');
  writeFileSync(join(folder, 'dist/b/main.js'), '');
  const program = (await import(pathToFileURL(join(folder, 'bin/built-program.mjs')).href)) as typeof builtProgram;
  const sources = { 'src/cli/main.ts': program.describeFile('src/cli/main.ts') };
  writeFileSync(program.recordFile, JSON.stringify({ folder: 'b', sources }));
  return { folder, source, program, built: join(folder, 'dist/b/main.js') };
}

test('a checkout runs its build until a source changes', async (t) => {
  const { source, program, built } = await openPackage(t);
  assert.equal(program.findMainModule(), built);
  const { atime, mtime } = statSync(source);
  writeFileSync(source, 'longer');
  utimesSync(source, atime, mtime);
  assert.equal(program.findMainModule(), source, 'of the same time and another size');
  writeFileSync(source, 'two');
  assert.equal(program.findMainModule(), source, 'of the same size and another time');
  rmSync(source);
  assert.equal(program.isBuildCurrent(), false, 'a source that is gone');
});

test('a checkout that was never built, or whose build or record is damaged, runs its sources', async (t) => {
  const { source, program, built } = await openPackage(t);
  rmSync(built);
  assert.equal(program.findMainModule(), source);
  writeFileSync(built, '');
  assert.equal(program.findMainModule(), built);
  writeFileSync(program.recordFile, readFileSync(program.recordFile).subarray(0, 10));
  assert.equal(program.findMainModule(), source);
  rmSync(program.recordFile);
  assert.equal(program.findMainModule(), source);
});

test('a package without sources runs its build', async (t) => {
  const { folder, program, built } = await openPackage(t);
  rmSync(join(folder, 'src'), { recursive: true });
  assert.equal(program.findMainModule(), built);
});

test('these tests run the program as it was put together for users', () => {
  assert.ok(builtProgram.isBuildCurrent(), 'npm test builds it first');
  const { sources } = JSON.parse(readFileSync(builtProgram.recordFile, 'utf8')) as {
    readonly sources: Record<string, string>;
  };
  assert.ok('src/cli/main.ts' in sources && '../sandbox/src/spawner/spawner-process.ts' in sources);
});
