import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ownText } from '../call/redacted.ts';
import { ServerLogs } from './server-logs.ts';

const never = new AbortController().signal;
const redaction = () => ({ add: (text: string) => ownText(text.replaceAll('hunter2', '***')), end: () => ownText('') });

function open(context: TestContext): { readonly folder: string; readonly logs: ServerLogs } {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-logs-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return { folder, logs: new ServerLogs(folder, redaction) };
}

const textsOf = (lines: readonly { readonly text: string }[]): readonly string[] => lines.map(({ text }) => text);

test('lines are kept without secrets, in their order, and numbers go on after a restart', async (context) => {
  const { folder, logs } = open(context);
  const log = logs.open('demo');
  log.add(Buffer.from('one\ntwo hunter2\r\n\n3 4 forged\n'));
  log.end(undefined);
  const lines = await logs.read('demo', { most: 100 });
  assert.deepEqual(textsOf(lines), ['(started)', 'one', 'two ***', '3 4 forged', '(ended by the gate)']);
  const again = new ServerLogs(folder, redaction);
  again.open('demo').end(ownText('exit code 1'));
  const later = await again.read('demo', { after: lines.at(-1)?.number ?? 0, most: 100 });
  assert.deepEqual(textsOf(later), ['(started)', '(ended: exit code 1)']);
  assert.deepEqual(textsOf(await again.read('other', { most: 100 })), []);
  await again.remove('demo');
  assert.deepEqual(readdirSync(folder), []);
});

test('a server that writes without end fills neither the disk nor the memory', async (context) => {
  const { folder, logs } = open(context);
  const log = logs.open('flood');
  const chunk = Buffer.from(`${'x'.repeat(900)}\n`.repeat(1000));
  for (let round = 0; round < 6; round++) {
    log.add(chunk);
    await logs.read('flood', { most: 1 });
  }
  log.add(Buffer.from(`${'y'.repeat(10_000)}\n`));
  const lines = await logs.read('flood', { most: 10_000 });
  assert.ok(
    lines.some(({ text }) => /lines were left out/.test(text)),
    'what is missing is counted',
  );
  assert.equal(lines.at(-1)?.text.length, 2000);
  const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  assert.ok(bytes.length === 2 && bytes.every((size) => size < 300 * 1024), bytes.join());
});

test('anyone who waits is told of the next line, or of the end of their patience', async (context) => {
  const { logs } = open(context);
  const log = logs.open('demo');
  const waiting = logs.wait('demo', 1, never);
  log.add(Buffer.from('news\n'));
  await waiting;
  assert.deepEqual(textsOf(await logs.read('demo', { after: 1, most: 10 })), ['news']);
  await logs.wait('demo', 1000, AbortSignal.timeout(5));
});
