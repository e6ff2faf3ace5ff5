import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { TestDaemon } from '../harness/daemon.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';
import { describeHome } from '../../packages/gateway/src/index.ts';
import { findBarriers } from './find-barriers.ts';

const places = [
  'home',
  'approvals',
  'approvals/standing',
  'approvals/decided',
  'calls',
  'calls?q=kind%3Acall%2Cevent',
  'activity',
  'activity/hour',
  'activity/week',
  'anomalies',
  'anomalies?q=unseen%20kind%3Acall_spike',
  'anomalies/nothing',
  'sessions',
  'sessions/new',
  'clients',
  'people',
  'rules',
  'tools',
  'upstreams',
  'audit',
  'nowhere',
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
  const loading = visit.page.locator('.loading');
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
  await visit.page.locator('main h1').waitFor({ state: 'attached' });
};

/** The two differ in nothing but their colours. */
async function assertNoBarriers(where: string): Promise<void> {
  await visit.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  assert.deepEqual(await findBarriers(visit.page), [], `${where} in light`);
  await visit.page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await findBarriers(visit.page, ['color-contrast']), [], `${where} in dark`);
}

describe('home', () => {
  it('shows what waits, what was denied and how the log is, on one screen', async () => {
    await visit.page.setViewportSize({ width: 1440, height: 900 });
    await visit.open('home');
    await visit.page.getByRole('region', { name: 'Waits for you' }).getByText('Delete notes.md (1 file)').waitFor();
    await visit.page
      .getByRole('region', { name: 'Denied in the last day' })
      .getByRole('link', { name: /coder/ })
      .first()
      .waitFor();
    await visit.page
      .getByRole('region', { name: 'Is all well?' })
      .getByText(/signed through \d\d:\d\d/)
      .waitFor();
    await visit.page.getByRole('region', { name: 'Changed today' }).getByText('let in coder').waitFor();
    await settled();
    const overflow = await visit.page.evaluate(
      `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('main'))`,
    );
    assert.equal(overflow, 0);
    await visit.page.setViewportSize(viewport);
  });
});

describe('calls', () => {
  const rows = () => visit.page.getByRole('list', { name: 'Calls' }).getByRole('listitem');

  it('are sentences that appear as they happen, of agents and not of the person who looks', async () => {
    await visit.open('calls');
    await rows().getByText('read notes.md, 17 bytes').waitFor();
    await daemon.call('files.list', { path: '.' }, { token: agent });
    await rows()
      .first()
      .getByText(/listed \./)
      .waitFor();
    assert.match(await rows().first().innerText(), /ok[^]*coder[^]*\d+ ms/);
    assert.doesNotMatch((await rows().allInnerTexts()).join('\n'), /console|operator/);
    await visit.page.getByRole('button', { name: 'People' }).click();
    await rows().getByText('let in coder').waitFor();
  });

  it('are one story with the question, the answer and the run, wherever one comes from', async () => {
    const asked = await daemon.call('files.write', { path: '.envrc', content: 'a' }, { token: agent });
    const taskId = (asked.denied?.approval as { taskId?: string } | undefined)?.taskId ?? '';
    const { json } = await daemon.post('sallyport.v1.ApprovalService/GetApproval', { id: taskId });
    const { effectSha256 } = (json as { approval: { effectSha256: string } }).approval;
    await daemon.call('approvals.approve', { task_id: taskId, effect_sha256: effectSha256 });
    await daemon.call('files.write', { path: '.envrc', content: 'a' }, { token: agent, approvalTaskId: taskId });
    await visit.open('calls?q=path%3A.envrc');
    const story = rows().filter({ hasText: '.envrc' });
    await story.getByText('asked → approved → ran').waitFor();
    assert.equal(await story.count(), 1);
    await visit.open(`calls/${asked.callId}`);
    const detail = visit.page.getByRole('region', { name: 'Call' });
    await detail.getByRole('list', { name: 'What happened' }).getByText('by operator').waitFor();
    await detail.getByText('Waited for a person').waitFor();
  });

  it('are searched with the fields of audit search, and the search is in the address', async () => {
    await visit.open('calls');
    await visit.page.getByLabel('Search the calls').fill('status:denied path:.env');
    await visit.page.keyboard.press('Enter');
    await rows().getByText('may not read .env').waitFor();
    assert.match(visit.page.url(), /#\/calls\?q=status%3Adenied%20path%3A\.env$/);
    await visit.page.reload();
    await rows().getByText('may not read .env').waitFor();
    await visit.page.getByLabel('Search the calls').fill('nosuchword');
    await visit.page.getByRole('heading', { name: 'No call fits the search' }).waitFor();
    await visit.page.getByLabel('Search the calls').fill('colour:red');
    await visit.page.getByText(/There is no field colour/).waitFor();
  });

  it('open to what decided first, then every gate and fact, with a receipt to take away', async () => {
    await visit.open('calls?q=status%3Adenied');
    await rows()
      .getByRole('link', { name: /may not read \.env/ })
      .click();
    const detail = visit.page.getByRole('region', { name: 'Call' });
    await detail.getByText('RULE_DENIES').waitFor();
    const text = await detail.innerText();
    assert.match(text, /refused\s+judge-call/);
    assert.match(text, /rule\s+secrets/);
    assert.match(text, /what to do\s+\S/i);
    assert.doesNotMatch(text, /check-mode/);
    await detail.getByText('Gates').click();
    await detail.getByText('On record').click();
    const all = await detail.innerText();
    assert.match(all, /passed\s+check-mode/);
    assert.match(all, /not reached\s+execute-tool/);
    assert.match(all, /request id/);
    const download = visit.page.waitForEvent('download');
    await detail.getByRole('button', { name: 'Download receipt' }).click();
    assert.match((await download).suggestedFilename(), /^receipt-.*\.json$/);
    await visit.page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
  });

  it('that no rule allowed are allowed by the narrowest rule, after its replay was shown', async () => {
    const { callId } = await daemon.call('shell.run', { argv: ['true'] }, { token: agent });
    await visit.open(`calls/${callId}`);
    const detail = visit.page.getByRole('region', { name: 'Call' });
    await detail.getByRole('button', { name: 'Allow this…' }).click();
    await detail.getByLabel('The drafted rule').getByText('tools: [shell.run]').waitFor();
    await detail.getByText(/Replayed over \d+ recorded call/).waitFor();
    await detail.getByRole('button', { name: 'Not now' }).click();
  });
});

describe('names that others choose', () => {
  it('are text on every page, never markup', async () => {
    const markup = '<img src=x onerror="document.title=1">';
    await daemon.call('files.read', { path: `${markup}.md` }, { token: agent });
    await daemon.call('shell.run', { argv: [markup] }, { token: agent });
    const { callId } = await daemon.call(markup, { [markup]: markup }, { token: agent });
    await daemon.call('files.write', { path: `.vscode/${markup}`, content: markup }, { token: agent });
    for (const place of ['home', 'calls', `calls/${callId}`, 'approvals', 'activity/hour', 'audit', 'rules']) {
      await visit.open(place);
      await settled();
      assert.equal(await visit.page.locator('img').count(), 0, place);
    }
    await visit.open('calls?q=onerror');
    await visit.page.getByText(`${markup}.md`).first().waitFor();
    assert.match(await visit.page.title(), /Sallyport$/);
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

describe('activity', () => {
  it('plots the calls of agents, and each part leads to its calls', async () => {
    await visit.open('activity/hour');
    const calls = visit.page.getByRole('region', { name: /calls? in the last hour/ });
    await calls.getByRole('img', { name: 'Calls of agents' }).waitFor();
    await calls.getByText('As a table').click();
    // The oldest row: the call below was among the first.
    await calls.getByRole('row').last().getByRole('link').click();
    await visit.page.waitForURL(/#\/calls\?q=since/);
    await visit.page.getByText('read notes.md, 17 bytes').waitFor();
    await visit.open('activity/hour');
    await visit.page.getByRole('region', { name: 'By agent' }).getByRole('link', { name: /coder/ }).waitFor();
    await visit.page
      .getByRole('region', { name: 'Rules by hour' })
      .getByRole('link', { name: 'workspace-read' })
      .waitFor();
    const plot = visit.page.locator('.u-over').first();
    const box = await plot.boundingBox();
    assert.ok(box !== null);
    await plot.click({ position: { x: box.width - 4, y: box.height / 2 } });
    await visit.page.waitForURL(/#\/calls\?q=since/);
  });

  it('is shown although the log grows faster than it can be read', async (test) => {
    const other = await browser.logIn(daemon);
    test.after(() => other.close());
    let isOver = false;
    const work = (async () => {
      while (!isOver) {
        await daemon.call('files.list', { path: '.' }, { token: agent });
        await pause(500);
      }
    })();
    // Longer than the page waits until it asks again.
    await other.page.route('**/sallyport.v1.OperatorService/GetActivity', async (route) => {
      await pause(5000);
      await route.continue().catch(() => undefined);
    });
    await other.open('activity/hour');
    await other.page.getByRole('img', { name: 'Calls of agents' }).waitFor({ timeout: 30_000 });
    isOver = true;
    await work;
  });

  it('says so when nothing was called, and when it cannot be read', async (test) => {
    const other = await browser.logIn(daemon);
    test.after(() => other.close());
    const method = '**/sallyport.v1.OperatorService/GetActivity';
    await other.page.route(method, (route) =>
      route.fulfill({ json: { agents: [], tools: [], rules: [], medianMs: [], p95Ms: [], lastCalls: [], slots: 0 } }),
    );
    await other.open('activity/hour');
    await other.page.getByRole('heading', { name: 'No calls of agents in the last hour' }).waitFor();
    await other.page.unroute(method);
    await other.page.route(method, (route) => route.abort());
    await other.open('activity/week');
    await other.page.getByText('The daemon cannot be reached.').waitFor();
    await other.page.unroute(method);
    await other.page.getByRole('button', { name: 'Try again' }).click();
    await other.page
      .getByText(/calls? in the last week/)
      .first()
      .waitFor();
  });
});

describe('anomalies', () => {
  const list = () => visit.page.getByRole('list', { name: 'Anomalies' }).getByRole('listitem');
  const detail = () => visit.page.getByRole('region', { name: 'Anomaly' });

  it('say what would show up, appear as they happen, and are seen by somebody', async () => {
    const token = await daemon.newAgent('climber');
    await visit.open('anomalies?q=agent%3Aclimber');
    await visit.page.getByRole('heading', { name: 'No anomaly fits the filter' }).waitFor();
    // A tool of operators: one attempt is enough.
    await daemon.call('secrets.list', {}, { token });
    await list().getByText('It tried to use a tool that only people who run the gate may use.').waitFor();
    await visit.page.getByRole('link', { name: /^Anomalies \d+ not seen$/ }).waitFor();
    await visit.open('home');
    const home = visit.page.getByRole('region', { name: 'Is all well?' });
    await home.getByRole('link', { name: /^\d+ not seen$/ }).click();
    await visit.page.waitForURL(/#\/anomalies\?q=unseen$/);
    await list()
      .getByRole('link', { name: /climber/ })
      .click();
    await detail().getByText('alerted the directors').waitFor();
    await assertNoBarriers('an anomaly');
    await detail().getByRole('button', { name: 'I have seen it' }).click();
    await detail()
      .getByText(/^operator, \d{4}-/)
      .waitFor();
    await list().filter({ hasText: 'climber' }).waitFor({ state: 'detached' });
  });

  it('resolve by the link of an alert, with the calls behind them, of which no name is markup', async () => {
    const token = await daemon.newAgent('stumbler');
    const names = Array.from({ length: 16 }, (_, at) => `<img src=x onerror="document.title=${at}">`);
    for (const name of names) await daemon.call(name, {}, { token });
    const find = async (): Promise<string | undefined> => {
      const { json } = await daemon.post('sallyport.v1.AnomalyService/ListAnomalies', { agent: 'stumbler' });
      return (json as { anomalies: readonly { id: string; kind: string }[] }).anomalies[0]?.id;
    };
    let id = await find();
    // The gate looks after a call was answered.
    for (let attempt = 0; id === undefined && attempt < 100; attempt++) {
      await pause(100);
      id = await find();
    }
    const { page } = visit;
    await page.goto(`${daemon.address}/#/anomalies/${id}`);
    await page.reload();
    await detail().getByText('15 of the last 20 calls failed.').waitFor();
    assert.equal(await page.locator('img').count(), 0);
    await assertNoBarriers('an anomaly with calls');
    const calls = detail().getByRole('list', { name: 'Calls behind it' }).getByRole('link');
    assert.equal(await calls.count(), 15);
    await calls.first().click();
    await page.getByRole('region', { name: 'Call' }).getByText('UNKNOWN_TOOL').first().waitFor();
    await visit.open(`anomalies/${'0'.repeat(8)}-0000-7000-8000-000000000000`);
    await page.getByRole('heading', { name: 'There is no such anomaly' }).waitFor();
  });
});

describe('coverage of clients', () => {
  it('names the command that checks it, then shows what it found, and when each path was used', async () => {
    await visit.open('clients');
    await visit.page.getByRole('heading', { name: 'Coverage was not checked yet' }).waitFor();
    await visit.page.getByLabel('Command that checks the coverage').getByText('npx sallyport coverage').waitFor();
    const others = visit.page.getByRole('list', { name: 'Other agents' }).getByRole('listitem');
    await others
      .filter({ hasText: 'coder' })
      .getByText(/last call/)
      .waitFor();
    const markup = '<img src=x onerror="document.title=1">';
    const path = { client: 'coder', path: 'mcp', state: 'live', version: markup, fix: '' };
    const missing = { ...path, path: 'hooks', state: 'not connected', fix: 'sallyport init --client coder' };
    await daemon.call('clients.coverage', { paths: [path, missing], uses: [{ client: 'coder', use_id: 'unknown' }] });
    // The index is a little behind the log.
    await pause(1500);
    await visit.open('home');
    const home = visit.page.getByRole('region', { name: 'Is all well?' });
    await home.getByRole('link', { name: '1 of 2 paths live' }).click({ timeout: 30_000 });
    await visit.page.getByText('2 paths, 1 use around the gate').waitFor();
    const lines = visit.page.getByRole('list', { name: 'Paths' }).getByRole('listitem');
    await lines
      .filter({ hasText: 'mcp' })
      .getByText(/last call/)
      .waitFor();
    await lines.filter({ hasText: 'hooks' }).getByText('sallyport init --client coder').waitFor();
    await lines.filter({ hasText: 'hooks' }).getByText('no call found').waitFor();
    assert.equal(await visit.page.locator('img').count(), 0);
    await others.filter({ hasText: 'coder' }).waitFor({ state: 'detached' });
    await assertNoBarriers('the coverage');
    // A look is no report, and no change of the day.
    await visit.open('home');
    await settled();
    assert.doesNotMatch(await visit.page.getByRole('region', { name: 'Changed today' }).innerText(), /coverage/);
  });
});

describe('rules', () => {
  it('are listed with how often they decided, and what the files would change is replayed', async () => {
    await visit.open('rules');
    const line = visit.page
      .getByRole('list', { name: 'Rules' })
      .getByRole('listitem')
      .filter({ hasText: 'secrets' })
      .first();
    await line.getByText(/^\d+ calls?/).waitFor();
    await visit.page.getByLabel('Order').selectOption('unused');
    await visit.page.locator('.line-rule').first().getByText('never matched').waitFor();
    await visit.page.getByRole('button', { name: 'Replay with the files as they are now' }).click();
    await visit.page.getByText(/recorded calls? decided again: nothing would change/).waitFor();
    await visit.open('rules/secrets');
    await visit.page.getByText('Files like this one hold credentials.').waitFor();
    await visit.open('rules/input-schema');
    await visit.page.getByText('No rule named input-schema is in force.').waitFor();
  });

  it('are edited in files, replayed, and put in force after what changes was shown', async () => {
    await daemon.call('policy.init', {});
    const { rulesFolder } = describeHome(daemon.place.home);
    const file = join(rulesFolder, 'tools.yaml');
    const rule = '  - { id: no-drafts, effect: deny, tools: [files.read], paths: [$WORKSPACE/notes.md] }';
    writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n${rule}\n`);
    await visit.open('home');
    await visit.open('rules');
    const files = visit.page.getByRole('region', { name: 'The files of the rules' });
    await files.getByText('The files have changed, and the change is not in force yet.').waitFor();
    await files.getByRole('button', { name: 'Replay with the files as they are now' }).click();
    await files.getByText(/recorded calls? decided again: \d+ from allow to deny/).waitFor();
    await files.getByRole('button', { name: 'Put the files in force…' }).click();
    const dialog = visit.page.getByRole('dialog', { name: 'Confirm' });
    await dialog.getByText(/then: \d+ rules/).waitFor();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await files.getByText('The files are what is in force.').waitFor();
    await visit.page.getByRole('list', { name: 'Rules' }).getByText('no-drafts').waitFor();
  });
});

describe('people and upstreams', () => {
  it('are listed, and an empty list says what to do', async () => {
    await visit.open('people');
    await visit.page.getByRole('list', { name: 'People' }).getByText('operator').first().waitFor();
    await visit.open('upstreams');
    await visit.page.getByText('No server is behind the gate yet').waitFor();
  });
});

describe('keys', () => {
  it('lead to every page, through every list, and to anything by a few letters', async () => {
    await visit.open('home');
    await settled();
    await visit.page.keyboard.press('g');
    await visit.page.keyboard.press('c');
    await visit.page.getByRole('list', { name: 'Calls' }).waitFor();
    await visit.page.keyboard.press('j');
    await visit.page.keyboard.press('j');
    await visit.page.keyboard.press('k');
    await visit.page.keyboard.press('Enter');
    await visit.page.getByRole('region', { name: 'Call' }).waitFor();
    await visit.page.keyboard.press('?');
    await visit.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await visit.page.keyboard.press('Escape');
    await visit.page.keyboard.press('Control+k');
    await visit.page.keyboard.type('upstr');
    await visit.page.keyboard.press('Enter');
    await visit.page.getByRole('heading', { name: 'Upstreams' }).waitFor();
    await visit.page.keyboard.press('g');
    await visit.page.keyboard.press('a');
    await visit.page.getByRole('heading', { name: 'Approvals' }).waitFor();
    await visit.open('no-such-page');
    await visit.page.getByRole('heading', { name: 'This address leads nowhere' }).waitFor();
    await visit.open(`approvals/${'0'.repeat(8)}-0000-7000-8000-000000000000`);
    await visit.page.getByRole('heading', { name: 'There is no such request' }).waitFor();
  });
});

describe('sessions', () => {
  it('are listed with their leases, and can be ended', async () => {
    const token = await daemon.newAgent('short-lived');
    await visit.open('sessions');
    const line = visit.page.getByRole('listitem').filter({ hasText: 'short-lived' });
    await line.getByText('no call yet').waitFor();
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
    for (const place of places) {
      await visit.open(place);
      await settled();
      await assertNoBarriers(place);
    }
    await visit.open('calls?q=status%3Adenied');
    await visit.page.getByRole('link', { name: /Files like this one hold credentials/ }).click();
    await visit.page.getByRole('region', { name: 'Call' }).waitFor();
    await assertNoBarriers('a call');
    await visit.page.getByRole('button', { name: /^Mode/ }).click();
    await visit.page.getByRole('radio').first().waitFor();
    await assertNoBarriers('the mode');
    await visit.page.getByRole('button', { name: 'Close' }).click();
  });

  it('has no barrier either for the one who is not logged in', async (test) => {
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
    // What was asked for and does not exist is no fault of the page.
    const faults = visit.complaints.filter((each) => !/status of 40[04]/.test(each));
    assert.deepEqual(faults, []);
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
    await watching.open('approvals');
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await first.kill('SIGTERM');
    await page.getByText('Connection lost.').waitFor();
    const second = await TestDaemon.start(first.place, { SALLYPORT_PORT: port });
    test.after(() => second.remove());
    const token = await second.newAgent('coder');
    await second.call('files.write', { path: '.envrc', content: 'x' }, { token });
    await page.getByRole('heading', { name: /\.envrc/ }).waitFor();
    await page.getByText('Connection lost.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.locator('.badge-waiting').waitFor();
  });

  it('is small: less than 250 KB on the wire, compressed', () => {
    const folder = join(import.meta.dirname, '../../packages/console/dist');
    const files = globSync('**/*.{html,js,css,svg}', { cwd: folder });
    const sizes = files.map((file) => gzipSync(readFileSync(join(folder, file))).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(files.length >= 4);
    assert.ok(total < 250 * 1024, `${total} bytes`);
  });
});
