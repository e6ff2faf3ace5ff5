import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';

let browser: ConsoleBrowser;
let daemon: TestDaemon;
let agent: string;
let visit: ConsoleVisit;

before(async () => {
  browser = await ConsoleBrowser.open();
  daemon = await TestDaemon.start();
  agent = await daemon.newAgent('coder');
  visit = await browser.logIn(daemon);
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

const at = (name: string): string => join(daemon.place.workspace, name);

async function openCall(name: string, content: string): Promise<string> {
  const { callId } = await daemon.call('files.write', { path: name, content }, { token: agent });
  await visit.open(`calls/${callId}`);
  await visit.page.getByRole('button', { name: 'Undo…' }).click();
  return callId;
}

test('a call is undone from its page, after a look at every line that this changes', async () => {
  writeFileSync(at('notes.md'), 'one\ntwo\n');
  await openCall('notes.md', 'one\nthree\n');
  const dialog = visit.page.getByRole('dialog', { name: 'Confirm' });
  await dialog.getByText('-three').waitFor();
  assert.match(await dialog.innerText(), /-three\n\+two/);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(readFileSync(at('notes.md'), 'utf8'), 'one\nthree\n');
  await visit.page.getByRole('button', { name: 'Undo…' }).click();
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await visit.page.getByText('The call is undone.').waitFor();
  assert.equal(readFileSync(at('notes.md'), 'utf8'), 'one\ntwo\n');
});

test('what something else changed since is shown instead, and stays', async () => {
  writeFileSync(at('plan.md'), 'of a person\n');
  const { callId } = await daemon.call('files.write', { path: 'plan.md', content: 'of coder\n' }, { token: agent });
  writeFileSync(at('plan.md'), 'of a person again\n');
  await visit.open(`calls/${callId}`);
  await visit.page.getByRole('button', { name: 'Undo…' }).click();
  const refusal = visit.page.getByRole('alert');
  await refusal.getByText('plan.md was changed by something else since.').waitFor();
  assert.match(await refusal.innerText(), /Nothing was changed[^]*-of a person again\n\+of a person/);
  assert.equal(readFileSync(at('plan.md'), 'utf8'), 'of a person again\n');
});

test('a call that changed nothing has no such button', async () => {
  const { callId } = await daemon.call('files.list', { path: '.' }, { token: agent });
  await visit.open(`calls/${callId}`);
  await visit.page.getByText('On record').waitFor();
  assert.equal(await visit.page.getByRole('button', { name: 'Undo…' }).count(), 0);
});
