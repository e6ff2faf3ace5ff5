import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeSdkRuntime } from './sdk-runtime.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-sdk-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('the SDK is written once, as JavaScript that everyone may read, and nothing else is left', () => {
  const home = join(folder, 'once', 'sdk');
  const umask = process.umask(0o077);
  try {
    const place = writeSdkRuntime(home);
    const writtenAt = statSync(place).mtimeMs;
    assert.equal(writeSdkRuntime(home), place);
    assert.equal(statSync(place).mtimeMs, writtenAt);
    assert.deepEqual(readdirSync(home), [place.slice(home.length + 1)]);
    assert.equal(statSync(place).mode & 0o777, 0o755);
    for (const name of readdirSync(place)) {
      assert.match(name, /\.js$|^package\.json$/);
      assert.equal(statSync(join(place, name)).mode & 0o777, 0o644);
      assert.doesNotMatch(readFileSync(join(place, name), 'utf8'), /\.ts['"]/);
    }
  } finally {
    process.umask(umask);
  }
});

test('an attempt that broke off leaves nothing that counts', () => {
  const home = join(folder, 'broken');
  mkdirSync(join(home, 'half.new'), { recursive: true });
  writeFileSync(join(home, 'half.new', 'index.js'), 'half');
  const place = writeSdkRuntime(home);
  assert.match(readFileSync(join(place, 'package.json'), 'utf8'), /"@sallyport\/sdk"/);
  assert.throws(() => writeSdkRuntime(join(folder, 'broken', 'half.new', 'index.js', 'x')), /ENOTDIR|EEXIST/);
});

test('what is written works below node_modules: tools and their tests, without the client', async () => {
  const scope = join(folder, 'node_modules', '@sallyport');
  mkdirSync(scope, { recursive: true });
  symlinkSync(writeSdkRuntime(join(folder, 'runtime')), join(scope, 'sdk'));
  const tool = join(folder, 'tool.mjs');
  writeFileSync(
    tool,
    `import { object, string } from '@sallyport/sdk';
import { testTool } from '@sallyport/sdk/testing';
export const answer = await testTool({
  name: 'a', version: '1', description: 'a', input: object({ a: string() }), run: ({ a }) => ({ b: a }),
}).call({ a: 'x' });
export const refused = await import('@sallyport/sdk/client').then(() => 'found', (error) => error.code);
`,
  );
  const { answer, refused } = (await import(pathToFileURL(tool).href)) as { answer: unknown; refused: unknown };
  assert.deepEqual([answer, refused], [{ b: 'x' }, 'ERR_PACKAGE_PATH_NOT_EXPORTED']);
});
