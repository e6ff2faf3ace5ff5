import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { ToolFailure } from '../call/tool.ts';
import { mostParts } from './find-tool-files.ts';
import { packBundle, unpackBundle } from './tool-bundle.ts';
import type { BundlePart } from './tool-bundle.ts';

function newFolder(t: TestContext): string {
  const outer = mkdtempSync(join(tmpdir(), 'sallyport-bundle-'));
  t.after(() => rmSync(outer, { recursive: true, force: true }));
  return join(outer, 'tool');
}

async function* chunksOf(bytes: Uint8Array, size = 3): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function header(...parts: readonly object[]): string {
  return `${JSON.stringify({ parts })}\n`;
}

const part = (path: string, size = 1) => ({ path, size, executable: false });
const refused = (error: unknown): boolean => error instanceof ToolFailure;

test('a folder comes out of its bundle as it went in, however the bytes arrive', async (t) => {
  const contents = new Map([
    ['run.sh', '#!/bin/sh\n'],
    ['deep/er/empty', ''],
    ['deep/data', 'x'.repeat(1000)],
    ['.hidden', 'ü'],
  ]);
  const parts: BundlePart[] = [...contents].map(([path, text]) => ({
    path,
    sizeBytes: Buffer.byteLength(text),
    isExecutable: path === 'run.sh',
  }));
  const packed = Buffer.concat(
    await Array.fromAsync(packBundle(parts, (path) => chunksOf(Buffer.from(contents.get(path) ?? '')))),
  );
  for (const size of [1, 7, 100_000]) {
    const folder = join(newFolder(t), String(size));
    await unpackBundle(folder, chunksOf(packed, size));
    for (const [path, text] of contents) assert.equal(readFileSync(join(folder, path), 'utf8'), text);
    assert.equal(statSync(join(folder, 'run.sh')).mode & 0o777, 0o755);
    assert.equal(statSync(join(folder, '.hidden')).mode & 0o777, 0o644);
  }
});

const hostile: Readonly<Record<string, string>> = {
  'a path that leads up': `${header(part('../evil'))}x`,
  'a path that leads up in the middle': `${header(part('a/../../evil'))}x`,
  'an absolute path': `${header(part('/tmp/evil'))}x`,
  'a name that is too long': `${header(part('n'.repeat(256)))}x`,
  'an empty name': `${header(part(''))}x`,
  'a NUL in a name': `${header(part('a\0b'))}x`,
  'the same name twice': `${header(part('a'), part('a'))}xx`,
  'a file that is also a folder': `${header(part('a'), part('a/b'))}xx`,
  'less than it lists': `${header(part('a', 5))}xx`,
  'more than it lists': `${header(part('a'))}xx`,
  'a negative size': `${header(part('a', -1))}x`,
  'more than a tool may have': header(part('a', 1e12)),
  'too many files': header(...Array.from({ length: mostParts + 1 }, (_, at) => part(`f${at}`, 0))),
  'no files': header(),
  'no list': 'hello\n',
  'no end of the list': '{"parts":'.padEnd(2 * 1024 * 1024, ' '),
  nothing: '',
};

for (const [what, text] of Object.entries(hostile)) {
  test(`a bundle with ${what} is refused, and nothing lies outside its folder`, async (t) => {
    const folder = newFolder(t);
    await assert.rejects(unpackBundle(folder, chunksOf(Buffer.from(text), 4096)), refused);
    const outside = readdirSync(join(folder, '..'));
    assert.ok(
      outside.every((name) => name === 'tool'),
      outside.join(),
    );
  });
}

test('whatever the bytes are, a bundle is unpacked or refused', async (t) => {
  const folder = newFolder(t);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 400, size: 'max' }), fc.nat(5), async (name, size) => {
      const bytes = Buffer.from(`${header(part(name, size))}xxx`);
      await unpackBundle(join(folder, String((count += 1))), chunksOf(bytes)).catch((error: unknown) => {
        if (!refused(error)) throw error;
      });
    }),
    { numRuns: 50 },
  );
});

test('a file that changes while it is packed is not packed', async () => {
  const parts = [{ path: 'a', sizeBytes: 2, isExecutable: false }];
  await assert.rejects(Array.fromAsync(packBundle(parts, () => chunksOf(Buffer.from('longer')))), /changed/);
});
