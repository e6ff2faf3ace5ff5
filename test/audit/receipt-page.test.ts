import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hash as pageHash } from '../../packages/log/page/node-crypto.ts';
import { writeReceipt } from '../../packages/log/src/index.ts';
import { openChromium } from '../harness/chromium.ts';
import { requirement } from '../requirement.ts';
import { makeLog } from './made-log.ts';

const page = pathToFileURL(join(import.meta.dirname, '../../packages/log/verify-receipt.html')).href;
const folder = mkdtempSync(join(tmpdir(), 'sallyport-page-'));
const log = makeLog();
const text = writeReceipt({ ...log.receiptParts(2) });
let browser: Browser;

before(async () => {
  browser = await openChromium();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function judge(receipt: string, { key = '', witness = '' } = {}) {
  const opened = await browser.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  opened.on('request', (request) => requests.push(request.url()));
  opened.on('pageerror', (error) => complaints.push(String(error)));
  opened.on('console', (message) => complaints.push(message.text()));
  try {
    await opened.goto(page);
    await opened.locator('#key').fill(key);
    await opened.locator('#witness').fill(witness);
    const file = join(folder, 'receipt.json');
    writeFileSync(file, receipt);
    await opened.locator('#choose').setInputFiles(file);
    const verdict = opened.locator('#verdict[data-state]');
    await verdict.waitFor();
    assert.deepEqual(requests, [page], 'the page asks nobody');
    assert.deepEqual(complaints, []);
    const state = await verdict.getAttribute('data-state');
    return { state, said: `${await verdict.textContent()}\n${await opened.locator('#details').textContent()}` };
  } finally {
    await opened.close();
  }
}

async function drop(receipt: string, opened: Page): Promise<void> {
  const data = await opened.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(receipt)}], 'receipt.json'));
    return data;
  })()`);
  await opened.dispatchEvent('body', 'drop', { dataTransfer: data });
}

test('the page finds a good receipt to be good, with the key that a person pasted', async () => {
  requirement('AUD-8');
  const { state, said } = await judge(text, { key: log.verifier, witness: log.witness });
  assert.equal(state, 'intact', said);
  assert.match(said, /Intact: the records below are in the log/);
  assert.match(said, /files\.read/);
  assert.match(said, /Cosigned by witness\.example/);
});

test('without a key the page says that the receipt only fits itself', async () => {
  const { state, said } = await judge(text);
  assert.equal(state, 'own-key');
  assert.match(said, /from the receipt itself: paste the one you know above/);
  assert.match(said, /Also signed by witness\.example: paste their keys above/);
});

test('a receipt may be dropped on the page', async () => {
  const opened = await browser.newPage();
  await opened.goto(page);
  await opened.locator('#key').fill(log.verifier);
  await drop(text, opened);
  await opened.locator('#verdict[data-state="intact"]').waitFor();
  await drop(text.replace('files.read', 'files.list'), opened);
  await opened.locator('#verdict[data-state="changed"]').waitFor();
  await opened.close();
});

for (const [what, change, problem] of [
  ['content', (receipt: string) => receipt.replace('notes.txt', 'other.txt'), /content of record 2 was changed/],
  ['the checkpoint', (receipt: string) => receipt.replace('\\n4\\n', '\\n5\\n'), /checkpoint cannot be believed/],
  [
    'the decision',
    (receipt: string) => receipt.replace('"result": "ok"', '"result": "denied"'),
    /decision in the receipt/,
  ],
  ['the place', (receipt: string) => receipt.replace('"index": 2', '"index": 1'), /not in the log of the checkpoint/],
] as const) {
  test(`the page finds ${what} changed`, async () => {
    const changed = change(text);
    assert.notEqual(changed, text);
    const { state, said } = await judge(changed, { key: log.verifier });
    assert.equal(state, 'changed', said);
    assert.match(said, problem);
  });
}

test('the key of another log, a witness that did not sign and a file that is not one are said to be so', async () => {
  const other = makeLog();
  assert.match((await judge(text, { key: other.verifier })).said, /not signed by the key/);
  assert.match((await judge(text, { key: log.verifier, witness: other.witness })).said, /has not cosigned/);
  assert.equal((await judge('{"format":"x"}')).state, 'unreadable');
  assert.equal((await judge('<b>', { key: log.verifier })).state, 'unreadable');
});

test('what a caller wrote stays text', async () => {
  const hostile = makeLog('<img src=x onerror="document.title=1"></script><script>document.title=1</script>');
  const { state, said } = await judge(writeReceipt(hostile.receiptParts(2)), { key: hostile.verifier });
  assert.equal(state, 'intact', said);
  assert.match(said, /<img src=x/);
});

test('the hash of the page is that of Node', () => {
  for (let length = 0; length < 300; length += 1) {
    const bytes = Buffer.alloc(length, (length * 37) & 0xff);
    assert.equal(pageHash('sha256', bytes, 'binary'), hash('sha256', bytes, 'binary'), String(length));
  }
  assert.equal(pageHash('sha256', 'ä€😀', 'binary'), hash('sha256', 'ä€😀', 'binary'));
});
