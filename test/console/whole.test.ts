import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { postJson } from './ask-console.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const desk: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };

let browser: ConsoleBrowser;
let daemon: TestDaemon;

before(async () => {
  browser = await ConsoleBrowser.open();
  daemon = await TestDaemon.start();
  mkdirSync(join(daemon.place.workspace, '.vscode'));
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

/** Nothing at the side, and no control under the bar at the bottom. */
async function assertFits(page: Page, place: string): Promise<void> {
  const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.equal(wider, 0, place);
}

async function decide(visit: ConsoleVisit, token: string, press: (page: Page) => Promise<void>): Promise<void> {
  const { page } = visit;
  const file = join(daemon.place.workspace, '.vscode/tasks.json');
  writeFileSync(file, '{\n  "tasks": []\n}\n');
  await visit.open('approvals');
  const content = '{\n  "tasks": ["test"]\n}\n';
  const call = daemon.call('files.write', { path: '.vscode/tasks.json', content }, { token, waitMs: 60_000 });
  const effect = page.getByRole('group', { name: 'What would happen' });
  await effect.getByText('-  "tasks": []').waitFor();
  // The line of the file, and what of it changed.
  assert.equal(await effect.locator('.row-added .row-number').innerText(), '2');
  assert.equal(await effect.locator('.row-added mark').innerText(), '"test"');
  await visit.canApprove();
  await press(page);
  assert.ok((await call).success);
  assert.equal(readFileSync(file, 'utf8'), content);
}

for (const [name, options, press] of [
  ['a desk', desk, (page: Page) => page.keyboard.press('a')],
  ['a phone', phone, (page: Page) => page.getByRole('button', { name: 'Approve once' }).tap()],
] as const) {
  test(`a person at ${name} sees, decides and checks everything, after logging in`, async (t) => {
    requirement('UI-3');
    const stranger = await browser.visit(options);
    await stranger.page.goto(daemon.address);
    await stranger.page.getByRole('heading', { name: 'Open the console from your terminal' }).waitFor();
    await stranger.close();
    for (const method of ['ApprovalService/ListApprovals', 'OperatorService/ReadAudit', 'OperatorService/GetStatus']) {
      assert.equal((await postJson(daemon, `/sallyport.v1.${method}`, {})).status, 401, method);
    }

    const visit = await browser.logIn(daemon, options);
    t.after(() => visit.close());
    const { page } = visit;
    const agent = `worker-${name.replace(' ', '-')}`;
    const token = await daemon.newAgent(agent);

    await visit.open('calls');
    await daemon.call('files.list', { path: '.' }, { token });
    await page.getByRole('list', { name: 'Calls' }).getByRole('listitem').filter({ hasText: agent }).first().waitFor();
    await assertFits(page, 'calls');

    await decide(visit, token, press);
    await assertFits(page, 'approvals');

    await visit.open('tools');
    await page.getByLabel('Filter the tools').fill('files.read');
    await page.getByText('files.read', { exact: true }).click();
    await page.getByText('required').first().waitFor();
    await assertFits(page, 'tools');

    await visit.open('sessions');
    const session = page.getByRole('listitem').filter({ hasText: agent });
    await session.getByText('may call every tool that the rules allow').waitFor();
    await session.getByRole('button', { name: 'Lease' }).click();
    await session.getByText('in force').waitFor();
    await assertFits(page, 'sessions');

    await visit.open('audit');
    await page.getByRole('button', { name: 'Verify the log' }).click();
    await page.getByText(/Intact\. \d+ records/).waitFor();
    await page.getByRole('list', { name: 'Records' }).getByRole('link').first().click();
    await page.getByRole('region', { name: 'Record' }).getByText('"leafHash"').waitFor();
    await assertFits(page, 'audit');

    await visit.open('activity/hour');
    await page.getByRole('region', { name: 'By agent' }).getByText(agent).waitFor();
    const drawn = await page.evaluate<number>(`document.querySelectorAll('.plot canvas').length`);
    assert.equal(drawn, 3);
    await assertFits(page, 'activity');

    // A tool of operators: one attempt is enough.
    await daemon.call('secrets.list', {}, { token });
    await visit.open(`anomalies?q=agent%3A${agent}`);
    await page.getByRole('list', { name: 'Anomalies' }).getByText('only people who run the gate may use').waitFor();
    await assertFits(page, 'anomalies');

    await page.getByRole('button', { name: /^Mode/ }).click();
    await page.getByRole('radio', { name: /ALERT/ }).check();
    await page.getByLabel('Why? Your answer is recorded.').fill('trying it out');
    await page.getByRole('button', { name: 'Change the mode' }).click();
    await page.getByRole('button', { name: 'Mode ALERT' }).waitFor();
    assert.equal((await daemon.status())['mode'], 'ALERT');
    await daemon.call('mode.set', { mode: 'NORMAL', cause: 'done' });

    assert.deepEqual(
      visit.addresses.filter((address) => !address.startsWith(`${daemon.address}/`)),
      [],
    );
  });
}
