import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TestDaemon } from '../harness/daemon.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';
import { findBarriers } from './find-barriers.ts';

const places = [
  'approvals',
  'approvals/standing',
  'approvals/decided',
  'calls',
  'audit',
  'usage',
  'usage/day',
  'sessions',
  'tools',
];

const viewport = { width: 1280, height: 800 };

let browser: ConsoleBrowser;
let daemon: TestDaemon;
let agent: string;
let visit: ConsoleVisit;

before(async () => {
  browser = await ConsoleBrowser.open();
  daemon = await TestDaemon.start();
  agent = await daemon.newAgent('coder');
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk');
  mkdirSync(join(daemon.place.workspace, '.vscode'));
  writeFileSync(join(daemon.place.workspace, '.vscode/tasks.json'), '{\n  "tasks": []\n}\n');
  await daemon.call('files.read', { path: 'notes.md' }, { token: agent });
  await daemon.call('files.read', { path: '.env' }, { token: agent });
  await daemon.call('files.read', { path: 'nowhere.md' }, { token: agent });
  const change = { path: '.vscode/tasks.json', content: `{\n  "tasks": ["${'long '.repeat(80)}"]\n}\n` };
  await daemon.call('files.write', change, { token: agent });
  await daemon.call('files.delete', { path: 'notes.md' }, { token: agent });
  visit = await browser.logIn(daemon, { viewport });
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

/** The page has what it shows, also after it was drawn for the first time. */
const settled = async (): Promise<void> => {
  await visit.page.locator('.loading').waitFor({ state: 'detached' });
  await visit.page.locator('main h1').waitFor({ state: 'attached' });
};

/** The two differ in nothing but their colours. */
async function assertNoBarriers(where: string): Promise<void> {
  await visit.page.emulateMedia({ colorScheme: 'light' });
  assert.deepEqual(await findBarriers(visit.page), [], `${where} in light`);
  await visit.page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await findBarriers(visit.page, ['color-contrast']), [], `${where} in dark`);
}

describe('calls', () => {
  it('appear as they happen, with outcome, tool, agent, what came of it and how long it took', async () => {
    await visit.open('calls');
    const list = visit.page.getByRole('list', { name: 'Calls' });
    await list.getByText('17 of 17 bytes read').waitFor();
    await daemon.call('files.list', { path: '.' }, { token: agent });
    const newest = list.getByRole('listitem').first();
    // It is shown while it runs, and again when it has ended.
    await newest.getByText('1 entry listed').waitFor();
    assert.match(await newest.innerText(), /ok[^]*files\.list[^]*coder[^]*1 entry listed[^]*\d+ ms/);
  });

  it('are filtered by outcome, caller and text', async () => {
    await visit.open('calls');
    const rows = visit.page.getByRole('list', { name: 'Calls' }).getByRole('listitem');
    await visit.page.getByLabel('Outcome').selectOption('denied');
    await visit.page.getByText('Files like this one hold credentials.').waitFor();
    assert.equal(await rows.count(), 1);
    await visit.page.getByLabel('Outcome').selectOption('');
    await visit.page.getByLabel('Caller').selectOption('operator');
    assert.doesNotMatch((await rows.allInnerTexts()).join(), /files\.read/);
    await visit.page.getByLabel('Filter by tool, agent or text').fill('no such call');
    await visit.page.getByRole('heading', { name: 'No call fits the filter' }).waitFor();
    await visit.page.reload();
  });

  it('open to every fact on record and every gate, with the rule that decided', async () => {
    await visit.open('calls');
    await visit.page.getByRole('link', { name: /Files like this one hold credentials/ }).click();
    const detail = visit.page.getByRole('region', { name: 'Call' });
    await detail.getByText('RULE_DENIES').waitFor();
    const text = await detail.innerText();
    assert.match(text, /rule\s+secrets/);
    assert.match(text, /what to do\s+\S/i);
    assert.match(text, /passed\s+check-mode/);
    assert.match(text, /refused\s+judge-call/);
    assert.match(text, /not reached\s+execute-tool/);
    assert.match(text, /"path": "\.env"/);
    assert.match(text, /request id/);
  });
});

describe('the audit log', () => {
  it('is filtered, opened record by record, and verified', async () => {
    await visit.open('audit');
    const rows = visit.page.getByRole('list', { name: 'Records' }).getByRole('listitem');
    await visit.page.getByLabel('Kind of record').selectOption('refusal');
    await visit.page.getByLabel('Filter the records').fill('.env');
    await rows.getByText('Files like this one hold credentials.').click();
    await visit.page.getByText('"leafHash"').waitFor();
    await visit.page.getByRole('button', { name: 'Verify the log' }).click();
    await visit.page.getByText(/Intact\. \d+ records, the first \d+ of them signed/).waitFor();
  });
});

describe('usage', () => {
  it('counts the calls of each tool and how they ended, and follows new ones', async () => {
    await visit.open('usage');
    const line = visit.page
      .getByRole('list', { name: 'By tool' })
      .getByRole('listitem')
      .filter({ hasText: 'files.read' });
    await line.getByText('1 ok, 1 denied, 1 failed').waitFor();
    await line
      .getByRole('img', { name: /^files\.read: 1 ok, 1 denied, 1 failed, from \d\d:\d\d to \d\d:\d\d$/ })
      .waitFor();
    await visit.page.getByRole('listitem').filter({ hasText: 'files.delete' }).getByText('1 asked a person').waitFor();
    await daemon.call('files.read', { path: 'notes.md' }, { token: agent });
    await line.getByText('2 ok, 1 denied, 1 failed').waitFor();
    await visit.page.getByRole('link', { name: 'Last day' }).click();
    await visit.page.getByText(/calls in the last day/).waitFor();
  });

  it('says so when nothing was called, and when it cannot be read', async (test) => {
    const other = await browser.logIn(daemon);
    test.after(() => other.close());
    await other.page.route('**/sallyport.v1.OperatorService/GetUsage', (route) =>
      route.fulfill({ json: { tools: [], reports: [] } }),
    );
    await other.open('usage');
    await other.page.getByRole('heading', { name: 'No calls in the last hour' }).waitFor();
    await other.page.unroute('**/sallyport.v1.OperatorService/GetUsage');
    await other.page.route('**/sallyport.v1.OperatorService/GetUsage', (route) => route.abort());
    await other.open('usage/day');
    await other.page.getByText('The daemon cannot be reached.').waitFor();
    await other.page.unroute('**/sallyport.v1.OperatorService/GetUsage');
    await other.page.getByRole('button', { name: 'Try again' }).click();
    await other.page.getByText(/calls in the last day/).waitFor();
  });
});

describe('sessions', () => {
  it('are listed with their leases, and can be ended', async () => {
    const token = await daemon.newAgent('short-lived');
    await visit.open('sessions');
    const line = visit.page.getByRole('listitem').filter({ hasText: 'short-lived' });
    await line.getByRole('button', { name: 'Lease' }).click();
    await line.getByText('in force').waitFor();
    await line.getByRole('button', { name: 'Revoke the lease' }).click();
    await line.getByText('ended', { exact: true }).waitFor();
    await line.getByRole('button', { name: 'End' }).click();
    await line.waitFor({ state: 'detached' });
    await assert.rejects(daemon.call('files.list', { path: '.' }, { token }), /401/);
  });
});

describe('the mode', () => {
  it('is shown and changed, with a cause, and every console sees it', async () => {
    const other = await browser.logIn(daemon);
    await visit.page.getByRole('button', { name: 'Mode NORMAL' }).click();
    await visit.page.getByRole('radio', { name: /ALERT/ }).check();
    await visit.page.getByLabel('Why? Your answer is recorded.').fill('trying it out');
    await visit.page.getByRole('button', { name: 'Change the mode' }).click();
    for (const { page } of [visit, other]) await page.getByRole('button', { name: 'Mode ALERT' }).waitFor();
    assert.equal((await daemon.status())['mode'], 'ALERT');
    await daemon.call('mode.set', { mode: 'NORMAL', cause: 'done' });
    await visit.page.getByRole('button', { name: 'Mode NORMAL' }).waitFor();
    await other.close();
  });
});

describe('every page', () => {
  it('has no barrier that axe finds against WCAG 2.2 AA, in light and dark', async () => {
    await visit.page.emulateMedia({ reducedMotion: 'reduce' });
    for (const place of places) {
      await visit.open(place);
      await settled();
      await assertNoBarriers(place);
    }
    await visit.open('calls');
    await visit.page.getByRole('link', { name: /Files like this one hold credentials/ }).click();
    await visit.page.getByRole('region', { name: 'Call' }).waitFor();
    await assertNoBarriers('a call');
    await visit.page.getByRole('button', { name: /^Mode/ }).click();
    await visit.page.getByRole('radio').first().waitFor();
    await assertNoBarriers('the mode');
    await visit.page.getByRole('button', { name: 'Close' }).click();
  });

  it('has no barrier either for whoever is not logged in', async (test) => {
    const stranger = await browser.visit();
    test.after(() => stranger.close());
    await stranger.page.goto(daemon.address);
    await stranger.page.getByRole('heading', { name: 'Open the console from your terminal' }).waitFor();
    assert.deepEqual(await findBarriers(stranger.page), []);
  });

  it('fits a phone: nothing is wider than the screen', async () => {
    await visit.page.setViewportSize({ width: 360, height: 740 });
    for (const place of [...places, 'calls/nothing']) {
      await visit.open(place);
      await settled();
      const widths = await visit.page.evaluate(
        `[...document.querySelectorAll('html, .content, main')].map((each) => each.scrollWidth - each.clientWidth)`,
      );
      assert.deepEqual(widths, [0, 0, 0], place);
    }
    await visit.page.setViewportSize(viewport);
  });

  it('asks nobody but the daemon, and breaks no rule of its own policy', async () => {
    for (const place of places) {
      await visit.open(place);
      await settled();
    }
    assert.ok(visit.addresses.length > 10);
    assert.deepEqual(
      visit.addresses.filter((address) => !address.startsWith(`${daemon.address}/`)),
      [],
    );
    assert.deepEqual(visit.complaints, []);
  });

  it('keeps the colours that were chosen', async () => {
    const background = (): Promise<string> => visit.page.evaluate('getComputedStyle(document.body).backgroundColor');
    await visit.page.emulateMedia({ colorScheme: 'light' });
    const light = await background();
    await visit.page.getByRole('button', { name: /^Colours: system/ }).click();
    await visit.page.getByRole('button', { name: /^Colours: light/ }).click();
    const dark = await background();
    assert.notEqual(dark, light);
    await visit.page.reload();
    await settled();
    assert.equal(await background(), dark);
  });
});

describe('the console', () => {
  it('says that the connection is lost, and recovers when the daemon is back', async (test) => {
    const first = await TestDaemon.start();
    const { port } = new URL(first.address);
    const watching = await browser.logIn(first);
    test.after(() => watching.close());
    const { page } = watching;
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await first.kill('SIGTERM');
    await page.getByText('Connection lost.').waitFor();
    const second = await TestDaemon.start(first.place, { SALLYPORT_PORT: port });
    test.after(() => second.remove());
    const token = await second.newAgent('coder');
    await second.call('files.write', { path: '.envrc', content: 'x' }, { token });
    await page.getByRole('heading', { name: /\.envrc/ }).waitFor();
    await page.getByText('Connection lost.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.locator('.badge-waiting').waitFor();
  });

  it('is small: less than 150 KB on the wire, compressed', () => {
    const folder = join(import.meta.dirname, '../../packages/console/dist');
    const files = globSync('**/*.{html,js,css,svg}', { cwd: folder });
    const sizes = files.map((file) => gzipSync(readFileSync(join(folder, file))).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(files.length >= 4);
    assert.ok(total < 150 * 1024, `${total} bytes`);
  });
});
