import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const sdk = pathToFileURL(join(import.meta.dirname, '../../packages/sdk/src/index.ts')).href;
const tool = `
  import { serveTool } from '${sdk}';
  globalThis.ready = false;
  const input = { type: 'object', properties: { text: { type: 'string' } } };
  serveTool({
    ...{ name: 'text.size', version: '1.0.0', description: 'Counts.', input },
    run: ({ text }) => ({ size: text.length, ready: globalThis.ready }),
  });`;

interface Started {
  readonly stdin: 'pipe' | number;
  readonly code?: string;
}

/** Runs the tool; writes its input in parts, if it has a pipe. */
async function answer({ stdin, code = tool }: Started, parts: readonly string[] = []): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: [stdin, 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    // It says so when it has got so far.
    if (chunk.includes('go on')) child.stdin?.end(parts.at(-1));
  });
  for (const part of code.includes('go on') ? parts.slice(0, -1) : parts) child.stdin?.write(part);
  if (!code.includes('go on')) child.stdin?.end();
  await once(child, 'close');
  return JSON.parse(Buffer.concat(said).toString());
}

const large = JSON.stringify({ text: 'x'.repeat(300_000) });

test('a tool reads its input whole: from a file, from a socket that does not wait, from a pipe that does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-input-'));
  try {
    const file = join(folder, 'input');
    writeFileSync(file, large);
    const fd = openSync(file, 'r');
    assert.deepEqual(await answer({ stdin: fd }), { size: 300_000, ready: false });
    closeSync(fd);
    assert.deepEqual(await answer({ stdin: 'pipe' }, [large.slice(0, 5), large.slice(5)]), {
      ...{ size: 300_000, ready: false },
    });
    const piped = spawn('/bin/sh', [
      '-c',
      'cat "$0" | "$@"',
      file,
      process.execPath,
      '--input-type=module',
      '-e',
      tool,
    ]);
    const said: Buffer[] = [];
    piped.stdout.on('data', (chunk: Buffer) => said.push(chunk));
    await once(piped, 'close');
    assert.deepEqual(JSON.parse(Buffer.concat(said).toString()), { size: 300_000, ready: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('what a tool has begun before its call goes on while it waits', async () => {
  const code = `${tool}
    setTimeout(() => { globalThis.ready = true; process.stderr.write('go on'); }, 50);`;
  assert.deepEqual(await answer({ stdin: 'pipe', code }, ['{"text":"abc"}']), { size: 3, ready: true });
});
