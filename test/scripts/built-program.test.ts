import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import * as builtProgram from '../../packages/cli/bin/built-program.mjs';
import { isBuildCurrent } from '../../scripts/program-build.mjs';

const own = join(import.meta.dirname, '../../packages/cli/bin/built-program.mjs');

/** A package with one source, which is built. */
async function openPackage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-built-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['bin', 'src', 'dist/b']) mkdirSync(join(folder, name), { recursive: true });
  cpSync(own, join(folder, 'bin/built-program.mjs'));
  const source = join(folder, 'src/main.ts');
  writeFileSync(source, 'one');
  writeFileSync(join(folder, 'dist/b/main.js'), '');
  const program = (await import(pathToFileURL(join(folder, 'bin/built-program.mjs')).href)) as typeof builtProgram;
  writeFileSync(program.recordFile, JSON.stringify({ folder: 'b', sources: {} }));
  return { folder, source, program, built: join(folder, 'dist/b/main.js') };
}

test('a checkout runs its last build, and its sources where somebody asks for them', async (t) => {
  const { source, program, built } = await openPackage(t);
  assert.equal(program.findMainModule({}), built);
  writeFileSync(source, 'changed');
  assert.equal(program.findMainModule({}), built);
  assert.equal(program.findMainModule({ SALLYPORT_SOURCES: '1' }), source);
});

test('a checkout that was never built, or whose build or record is damaged, runs its sources', async (t) => {
  const { source, program, built } = await openPackage(t);
  rmSync(built);
  assert.equal(program.findMainModule({}), source);
  writeFileSync(built, '');
  assert.equal(program.findMainModule({}), built);
  writeFileSync(program.recordFile, readFileSync(program.recordFile).subarray(0, 10));
  assert.equal(program.findMainModule({}), source);
  rmSync(program.recordFile);
  assert.equal(program.findMainModule({}), source);
});

test('a package without sources runs its build', async (t) => {
  const { folder, program, built } = await openPackage(t);
  rmSync(join(folder, 'src'), { recursive: true });
  assert.equal(program.findMainModule({ SALLYPORT_SOURCES: '1' }), built);
});

test('these tests run the program as it was put together for users', () => {
  assert.ok(isBuildCurrent(), 'npm test builds it first');
  const sources = builtProgram.readRecord()?.sources ?? {};
  assert.ok('packages/cli/src/main.ts' in sources && 'packages/sandbox/src/spawner/spawner-process.ts' in sources);
});
