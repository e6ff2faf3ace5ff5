import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const sdk = pathToFileURL(join(import.meta.dirname, '../../packages/sdk/src/index.ts')).href;
const tool = `
  import { serveTool } from '${sdk}';
  let calls = 0;
  const input = { type: 'object', properties: { text: { type: 'string' } } };
  serveTool({
    ...{ name: 'text.size', version: '1.0.0', description: 'Counts.', input },
    run: ({ text }) => ({ size: text.length, calls: ++calls }),
  });`;

/** A tool that was started ahead, with a pipe as its input, until it waits in the kernel. */
async function startAhead(environment: Record<string, string>) {
  // The shell makes a real pipe of the socket that Node gives it.
  const command = [process.execPath, '--input-type=module', '-e', tool];
  const child = spawn('/bin/sh', ['-c', 'cat | "$@"', 'sh', ...command], { env: environment });
  const said: Buffer[] = [];
  const complained: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => complained.push(chunk));
  const pid = await findWaiting(child.pid as number);
  return {
    residentKb: Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
    saidBefore: Buffer.concat(said).toString(),
    answer: async (text: string) => {
      child.stdin.end(text);
      await once(child, 'close');
      return [Buffer.concat(said).toString(), Buffer.concat(complained).toString()];
    },
  };
}

/** The Node below the shell, once it reads its input. */
async function findWaiting(shell: number): Promise<number> {
  const readCall = process.arch === 'arm64' ? 63 : 0;
  for (let left = 500; left > 0; left--) {
    await sleep(20);
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        const isNode = Number(parent) === shell && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serveTool');
        if (isNode && readFileSync(`/proc/${pid}/syscall`, 'utf8').startsWith(`${readCall} 0x0 `)) return Number(pid);
      } catch {
        // It has ended.
      }
    }
  }
  return assert.fail('the tool does not wait for its input');
}

const sign = 'a'.repeat(32);

test('a tool that waits for a call is rehearsed: nothing is said, and the tool itself is not run', async () => {
  const waiting = await startAhead({ SALLYPORT_ANSWER: sign });
  assert.equal(waiting.saidBefore, '');
  const answer = '{"size":3,"calls":1}\n';
  assert.deepEqual(await waiting.answer('{"text":"abc"}'), [`\u001e${sign} ${answer.length}\n${answer}`, '']);
});

test('a tool that waits for a call does not hold the pages of its start', async () => {
  const [signed, plain] = await Promise.all([startAhead({ SALLYPORT_ANSWER: sign }), startAhead({})]);
  assert.ok(
    signed.residentKb < plain.residentKb * 0.6,
    `${signed.residentKb} kB of files, and ${plain.residentKb} where it was not asked to answer`,
  );
  await Promise.all([signed.answer('{"text":""}'), plain.answer('{"text":""}')]);
});
