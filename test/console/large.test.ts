import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { TestDaemon } from '../harness/daemon.ts';
import { howMuch } from '../harness/how-much.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';
import { findBarriers } from './find-barriers.ts';
import { makeWeek, measureList } from './large.ts';
import { BusyAgent, measureHeld } from './stay-open.ts';

const calls = howMuch({ usually: 250, long: 100_000 });
/** More than one page of them. */
const pending = howMuch({ usually: 150, long: 10_000 });

let browser: ConsoleBrowser;
let daemon: TestDaemon;
let visit: ConsoleVisit;

before(async () => {
  const place = await makeWeek(calls, pending);
  daemon = await TestDaemon.start(place);
  browser = await ConsoleBrowser.open();
  visit = await browser.logIn(daemon, { viewport: { width: 1440, height: 900 } });
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

test('a long list of stories draws what is in view, and reads older pages as it is scrolled', async (t) => {
  const figures = await measureList(visit.page, 'calls', '.line-story');
  t.diagnostic(JSON.stringify(figures));
  assert.ok(figures.mostRows < 60, JSON.stringify(figures));
  const height = await visit.page.evaluate<number>(`document.querySelector('.virtual').offsetHeight`);
  assert.ok(height > 100 * 38, `${height} pixels of rows`);
  const steps = visit.page.locator('.story-steps', { hasText: '→' });
  await visit.open('calls?q=tool%3Afiles.delete');
  await steps.first().waitFor();
});

test('many requests that wait are one list, of which only what is in view is drawn', async (t) => {
  const figures = await measureList(visit.page, 'approvals', '.inbox-list li');
  t.diagnostic(JSON.stringify(figures));
  assert.ok(figures.mostRows < 40, JSON.stringify(figures));
  // Besides those six of the demonstration, requests of its last eight hours wait that nobody answered: how many there
  // are depends on the time of the day.
  const { json } = await daemon.post('sallyport.v1.ApprovalService/ListApprovals', { status: 'pending', limit: 200 });
  const { approvals, more } = json as { readonly approvals: readonly object[]; readonly more?: boolean };
  t.diagnostic(`${approvals.length} requests, more: ${more}`);
  assert.ok(approvals.length >= Math.min(200, pending + 6), `${approvals.length} requests`);
  const count = more ? '[\\d,]+' : String(approvals.length);
  await visit.page.getByLabel(new RegExp(`^${count} requests waiting$`)).waitFor();
});

test('further requests are read as somebody comes to them, and a link to one far behind resolves', async () => {
  const { json } = await daemon.post('sallyport.v1.ApprovalService/ListApprovals', { status: 'pending', limit: 1 });
  const [newest] = (json as { readonly approvals: readonly { readonly id: string; readonly title: string }[] })
    .approvals;
  assert.ok(newest !== undefined);
  const fresh = await browser.logIn(daemon, { viewport: { width: 1440, height: 900 } });
  await fresh.open(`approvals/${newest.id}`);
  await fresh.page.getByRole('heading', { level: 2, name: newest.title }).waitFor();
  await fresh.open('approvals');
  const rows = fresh.page.getByRole('list', { name: 'Waiting requests' }).getByRole('listitem');
  const knownCount = async () => Number(await rows.first().getAttribute('aria-setsize'));
  await rows.first().waitFor();
  const reached = Math.min(pending, 300);
  for (let scrolled = 0; scrolled < 200 && (await knownCount()) < reached; scrolled++) {
    await fresh.page.evaluate(`document.querySelector('.inbox-scroll').scrollTop += 4000`);
    await fresh.page.waitForTimeout(100);
  }
  assert.ok((await knownCount()) >= reached, `${await knownCount()} known`);
  assert.deepEqual(fresh.complaints, []);
  await fresh.close();
});

test('a page that stays open while agents work draws and keeps no more than before', async (t) => {
  const agent = await BusyAgent.letIn(daemon);
  await visit.open('calls');
  await visit.page.locator('.line-story').first().waitFor();
  // As many as it keeps, and then as many again.
  const asMany = howMuch({ usually: 1050, long: 20_000 });
  await agent.makeCalls(asMany);
  await visit.page.locator('.line-story').first().getByText('busy', { exact: true }).waitFor();
  await pause(2000);
  const first = await measureHeld(visit);
  await visit.open('calls');
  await agent.makeCalls(asMany);
  await pause(2000);
  // The page before this one goes away a little later. What is kept for good never does.
  let later = await measureHeld(visit);
  for (let looked = 0; looked < 15 && later.heapMegabytes - first.heapMegabytes >= 2; looked++) {
    await pause(1000);
    later = await measureHeld(visit);
  }
  t.diagnostic(JSON.stringify({ first, later }));
  // Each call that stayed would take about four thousand bytes.
  assert.ok(later.heapMegabytes - first.heapMegabytes < 2, JSON.stringify({ first, later }));
  assert.ok(later.nodes - first.nodes < 400, JSON.stringify({ first, later }));
  assert.ok(later.listeners - first.listeners < 100, JSON.stringify({ first, later }));
  await visit.open('calls');
  await visit.page.locator('.line-story').first().getByText('busy', { exact: true }).waitFor();
  const rows = await visit.page.locator('.line-story').count();
  const elements = await visit.page.evaluate<number>(`document.querySelectorAll('*').length`);
  t.diagnostic(JSON.stringify({ rows, elements }));
  assert.ok(rows < 60 && elements < 2500, `${rows} rows, ${elements} elements`);
});

test('home is one screen, however much waits and happened', async () => {
  await visit.open('home');
  await visit.page.getByRole('region', { name: 'Waits for you' }).getByRole('listitem').first().waitFor();
  await visit.page.getByRole('img', { name: 'Calls of agents in the last day' }).waitFor();
  await visit.page.locator('.loading').first().waitFor({ state: 'detached' });
  const overflow = await visit.page.evaluate<number>(
    `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('main'))`,
  );
  assert.equal(overflow, 0);
});

test('the week is on every page that counts it', async () => {
  await visit.open('activity/week');
  for (const agent of ['scout', 'builder', 'reviewer', 'tester', 'release-bot', 'docs-writer']) {
    await visit.page.getByRole('region', { name: 'By agent' }).getByText(agent, { exact: true }).waitFor();
  }
  await visit.open('upstreams');
  await visit.page.getByText('Opens a new ticket.').waitFor();
  await visit.open('people');
  await visit.page.getByRole('list', { name: 'People' }).getByText('mara').waitFor();
  await visit.open('sessions');
  await visit.page.getByText(/session ends in \d+ minutes/).waitFor();
  await visit.open('approvals');
  const folded = visit.page.getByRole('button', { name: /Move 3 files/ });
  await folded.scrollIntoViewIfNeeded();
  await folded.click();
  await visit.page.getByText('3 identical requests: one answer for all of them').waitFor();
  await visit.isArmed();
  await visit.page.emulateMedia({ reducedMotion: 'reduce' });
  assert.deepEqual(await findBarriers(visit.page), []);
  assert.deepEqual(visit.complaints, []);
});
