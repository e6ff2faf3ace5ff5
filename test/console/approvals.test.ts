import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { findBarriers } from './find-barriers.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';

let browser: ConsoleBrowser;
let daemon: TestDaemon;
let agent: string;
let visit: ConsoleVisit;

before(async () => {
  browser = await ConsoleBrowser.open();
  daemon = await TestDaemon.start();
  visit = await browser.logIn(daemon, { viewport: { width: 1280, height: 800 } });
});
after(async () => {
  await browser.close();
  await daemon.remove();
});
beforeEach(async () => {
  agent = await daemon.newAgent('coder');
  await visit.open('approvals');
});
afterEach(async () => {
  await denyAll();
  assert.deepEqual(visit.complaints, []);
});

/** A test that failed half-way must not leave its requests to the next one. */
async function denyAll(): Promise<void> {
  const { success } = await daemon.call('approvals.list', {});
  const { approvals } = JSON.parse(success?.outputJson ?? '{}') as { approvals: readonly { id: string }[] };
  for (const { id } of approvals) await daemon.call('approvals.deny', { task_id: id });
}

/** A call that the shipped rules ask about, and that waits for the answer. */
function askToMove(folder: string, names: readonly string[]): Promise<Answer> {
  const from = join(daemon.place.workspace, folder);
  mkdirSync(from);
  for (const name of names) writeFileSync(join(from, name), name);
  mkdirSync(`${from}-moved`);
  const input = { from: folder, to: `${folder}-moved`, patterns: ['*'] };
  return daemon.call('files.move_glob', input, { token: agent, waitMs: 30_000 });
}

const movedFrom = (folder: string): string[] => readdirSync(join(daemon.place.workspace, `${folder}-moved`));
/** What came instead is worth reading. */
async function runs(call: Promise<Answer>): Promise<void> {
  const answer = await call;
  assert.ok(answer.success, JSON.stringify(answer));
}

const heading = (name: string | RegExp) => visit.page.getByRole('heading', { level: 2, name });

/** Looks at the effect part by part, as far as it does not fit into the window. */
async function seeAll(): Promise<void> {
  const unseen = visit.page.getByText(/lines? not seen yet/);
  for (let pressed = 0; pressed < 30 && (await unseen.isVisible()); pressed++) {
    await visit.page.keyboard.press('Space');
    await visit.page.waitForTimeout(300);
  }
}

describe('a request', () => {
  it('is approved with one key, and the call runs', async () => {
    const call = askToMove('letters', ['a.txt', 'b.txt']);
    await heading('Move 2 files from letters to letters-moved').waitFor();
    await visit.page.getByText('letters/a.txt -> letters-moved/a.txt').waitFor();
    await visit.page.getByText('Moving by pattern can touch many files at once.').waitFor();
    await visit.page.getByText('rule workspace-move').waitFor();
    assert.match(await visit.page.title(), /^\(1\)/);
    await visit.canApprove();
    await visit.page.keyboard.press('a');
    await runs(call);
    assert.deepEqual(movedFrom('letters'), ['a.txt', 'b.txt']);
    await heading('Nothing waits for you').waitFor();
    await visit.page.getByRole('link', { name: 'Decided' }).click();
    await visit.page.getByText('by operator').waitFor();
  });

  it('is denied with a text that reaches the agent', async () => {
    requirement('APPR-10');
    const call = askToMove('drafts', ['a.txt']);
    await heading(/Move 1 file from drafts/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('c');
    await visit.page.getByLabel('What should the agent do instead?').fill('Only move what is older than a week.');
    await visit.page.getByRole('button', { name: 'Deny and send' }).click();
    const { denied } = await call;
    assert.equal(denied?.rationaleCode, 'APPROVAL_DENIED');
    assert.match(denied?.message ?? '', /Only move what is older than a week\./);
    assert.deepEqual(movedFrom('drafts'), []);
  });

  it('is denied with one key', async () => {
    const call = askToMove('plans', ['a.txt']);
    await heading(/Move 1 file from plans/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    assert.equal((await call).denied?.rationaleCode, 'APPROVAL_DENIED');
  });

  it('of critical risk takes a typed word, and nothing more than one run', async () => {
    writeFileSync(join(daemon.place.workspace, 'old.txt'), 'old');
    const call = daemon.call('files.delete', { path: 'old.txt' }, { token: agent, waitMs: 30_000 });
    await heading(/Delete old\.txt/).waitFor();
    await visit.canApprove();
    for (const key of ['s', 't']) await visit.page.keyboard.press(key);
    assert.equal(
      await visit.page.getByRole('button', { name: /For the session/ }).getAttribute('aria-disabled'),
      'true',
    );
    await visit.page.keyboard.press('a');
    const word = visit.page.getByLabel(/Type approve to approve it/);
    await word.fill('yes');
    await word.press('Enter');
    assert.ok(existsSync(join(daemon.place.workspace, 'old.txt')));
    await word.fill('approve');
    await word.press('Enter');
    await runs(call);
    assert.equal(existsSync(join(daemon.place.workspace, 'old.txt')), false);
  });

  it('cannot be approved before all of its effect was in view, and can be denied', async () => {
    const names = Array.from({ length: 70 }, (_, at) => `file-${String(at).padStart(3, '0')}.txt`);
    const call = askToMove('many', names);
    await heading('Move 70 files from many to many-moved').waitFor();
    await visit.page.getByText(/lines not seen yet/).waitFor();
    await visit.isArmed();
    // Jumping to the end leaves the middle unseen, whatever the browser makes of it on the way.
    await visit.page.locator('.card-scroll').press('End');
    await visit.page.getByText('many/file-069.txt -> many-moved/file-069.txt').waitFor();
    await visit.page.keyboard.press('a');
    await visit.page.getByRole('button', { name: /Approve once/ }).click({ force: true });
    assert.deepEqual(movedFrom('many'), []);
    const unseen = visit.page.getByText(/lines? not seen yet/);
    assert.ok(await unseen.isVisible());
    await heading(/Move 70 files/).focus();
    await seeAll();
    assert.equal(await unseen.count(), 0);
    await visit.page.keyboard.press('a');
    await runs(call);
    assert.equal(movedFrom('many').length, 70);
  });

  it('asked several times is one card that says so, and each is a run of its own', async () => {
    const folder = join(daemon.place.workspace, 'twice');
    mkdirSync(folder);
    mkdirSync(`${folder}-moved`);
    const input = { from: 'twice', to: 'twice-moved', patterns: ['*'] };
    const calls = [1, 2].map(() => daemon.call('files.move_glob', input, { token: agent, waitMs: 30_000 }));
    await visit.page.getByText('asked 2 times').waitFor();
    assert.equal(await visit.page.getByRole('list', { name: 'Waiting requests' }).getByRole('listitem').count(), 1);
    await visit.canApprove();
    await visit.page.getByRole('button', { name: 'Approve 2 runs' }).waitFor();
    await visit.page.keyboard.press('a');
    for (const call of calls) await runs(call);
  });
});

/** Presses keys at the very moment at which the page shows another request: no finger is that quick. */
function pressOnArrival(title: string, keys: readonly string[]): Promise<void> {
  return visit.page.evaluate(`new Promise((done) => {
    const look = () => {
      if (!document.querySelector('main h2')?.textContent.includes(${JSON.stringify(title)})) return;
      observer.disconnect();
      for (const key of ${JSON.stringify(keys)}) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      }
      done();
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  })`);
}

describe('keys', () => {
  it('are dead when another request comes under them', async () => {
    const first = askToMove('one', ['a.txt']);
    await heading(/from one/).waitFor();
    await visit.canApprove();
    const second = askToMove('two', ['a.txt']);
    await visit.page.getByText('2 requests').waitFor();
    const pressed = pressOnArrival('from two', ['a', 's', 'd']);
    await visit.page.keyboard.press('a');
    await runs(first);
    await pressed;
    await visit.canApprove();
    await heading(/from two/).waitFor();
    assert.deepEqual(movedFrom('two'), []);
    await visit.page.keyboard.press('a');
    await runs(second);
  });

  it('are dead after moving to another card, and after coming back to the window', async () => {
    const calls = [askToMove('red', ['a.txt'])];
    await heading(/from red/).waitFor();
    calls.push(askToMove('blue', ['a.txt']));
    await visit.page.getByText('2 requests').waitFor();
    await visit.isArmed();
    const pressed = pressOnArrival('from blue', ['a', 'd']);
    await visit.page.keyboard.press('j');
    await pressed;
    await visit.canApprove();
    await visit.page.evaluate(`
      dispatchEvent(new Event('focus'));
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    `);
    await visit.page.waitForTimeout(600);
    assert.deepEqual([...movedFrom('red'), ...movedFrom('blue')], []);
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    await heading(/from red/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    for (const call of calls) assert.equal((await call).denied?.rationaleCode, 'APPROVAL_DENIED');
  });

  it('stay with the request that somebody looks at when a new one arrives', async () => {
    const first = askToMove('calm', ['a.txt']);
    await heading(/from calm/).waitFor();
    await visit.canApprove();
    const second = askToMove('rush', ['a.txt']);
    await visit.page.getByText('2 requests').waitFor();
    await visit.page.keyboard.press('a');
    await runs(first);
    assert.deepEqual(movedFrom('rush'), []);
    await heading(/from rush/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    await second;
  });

  it('do nothing while somebody writes', async () => {
    const call = askToMove('words', ['a.txt']);
    await heading(/from words/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('c');
    await visit.page.keyboard.type('add a date');
    assert.equal(await visit.page.getByLabel('What should the agent do instead?').inputValue(), 'add a date');
    await visit.page.keyboard.press('Escape');
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    assert.equal((await call).denied?.rationaleCode, 'APPROVAL_DENIED');
  });
});

describe('a standing approval', () => {
  it('for the session lets further calls through until it is revoked', async () => {
    const call = askToMove('stand', ['a.txt']);
    await heading(/from stand/).waitFor();
    await visit.canApprove();
    await visit.page.keyboard.press('s');
    await runs(call);
    await runs(askToMove('further', ['a.txt']));
    await visit.open('approvals/standing');
    await visit.page.getByText('whatever it touches').waitFor();
    await visit.page.getByRole('button', { name: 'Revoke' }).click();
    await heading('No standing approvals').waitFor();
    await visit.open('approvals');
    const asking = askToMove('again', ['a.txt']);
    await heading(/from again/).waitFor();
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    await asking;
  });

  it('for minutes covers the same things only, and is listed with what is left', async () => {
    const call = askToMove('timed', ['a.txt']);
    await heading(/from timed/).waitFor();
    await visit.canApprove();
    await visit.page.keyboard.press('t');
    await visit.page.getByLabel('Minutes').selectOption('5');
    await visit.page.getByLabel('Calls').selectOption('20');
    await visit.page.getByRole('button', { name: 'Approve', exact: true }).click();
    await runs(call);
    await visit.open('approvals/standing');
    await visit.page.getByText(/exactly the same things · 20 calls left/).waitFor();
    await visit.page.getByText(/[45]:\d\d left/).waitFor();
  });
});

describe('text from outside', () => {
  it('is shown, never obeyed: no markup, no hidden characters, no turned text', async () => {
    const content =
      '<img src=x onerror="document.title=1"><script>document.title=2</script>\n\u202egnp.exe\u202c \u0007\u200b end\n';
    const call = daemon.call(
      'files.write',
      { path: '.devcontainer/<b>x\u202e.md', content, create_parents: true },
      { token: agent, waitMs: 30_000 },
    );
    const effect = visit.page.getByRole('group', { name: 'What would happen' });
    await effect.getByText('<img src=x onerror="document.title=1">').waitFor();
    assert.equal(await effect.locator('img, script, b').count(), 0);
    const shown = await visit.page.locator('main').innerText();
    assert.doesNotMatch(shown, /[\u202a-\u202e\u2066-\u2069\u200b\u0007]/);
    assert.match(shown, /202e/i);
    assert.match(await visit.page.title(), /Sallyport$/);
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    await call;
  });
});

describe('a secret in an effect', () => {
  const secret = 'kJ83hQx2PzXw9BnRt7';

  it('is masked with its length; a reason shows it for a while, it is on record, and the page keeps nothing of it', async () => {
    requirement('APPR-2', 'AUD-4');
    await daemon.call('secrets.set', { name: 'deploy-key', value: secret });
    const call = daemon.call(
      'files.write',
      { path: '.envrc', content: `export KEY=${secret}\n` },
      { token: agent, waitMs: 60_000 },
    );
    const mask = visit.page.getByRole('button', { name: 'deploy-key, 18 characters · reveal' });
    await mask.waitFor();
    assert.doesNotMatch(await visit.page.content(), new RegExp(secret));
    await mask.click();
    const dialog = visit.page.getByRole('dialog', { name: 'Reveal what is masked' });
    // Keys decide nothing while somebody writes.
    await dialog.getByLabel('Why do you need to see it?').pressSequentially('add it?');
    assert.deepEqual(await findBarriers(visit.page), []);
    await dialog.getByRole('button', { name: 'Reveal it' }).click();
    await visit.page.getByText(secret).waitFor();
    const kept = await visit.page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location])',
    );
    assert.doesNotMatch(kept, new RegExp(secret));
    await visit.page.getByRole('button', { name: 'Hide' }).click();
    await mask.waitFor();
    assert.doesNotMatch(await visit.page.content(), new RegExp(secret));
    const records = (await daemon.records()).filter(({ payload }) => payload['tool'] === 'approvals.reveal');
    assert.match(JSON.stringify(records), /add it\?/);
    assert.doesNotMatch(JSON.stringify(records), new RegExp(secret));
    await visit.isArmed();
    await visit.page.keyboard.press('d');
    assert.equal((await call).denied?.rationaleCode, 'APPROVAL_DENIED');
  });
});

describe('a plan', () => {
  it('is shown whole, approved in part, and what was left out does not run', async () => {
    const write = (name: string) => ({
      tool: 'files.write',
      inputJson: JSON.stringify({ path: `.devcontainer/${name}`, content: name, create_parents: true }),
      reason: `because of ${name}`,
    });
    const proposed = daemon.post(
      'sallyport.v1.PlanService/ProposePlan',
      { summary: 'Set up the editor', calls: [write('one.md'), write('two.md')], waitMs: 30_000 },
      agent,
    );
    // What the agent says about it is told from what the gate says.
    await heading('Plan: files.write').waitFor();
    await visit.page.getByText('The agent says: “Set up the editor”').waitFor();
    await visit.page.getByText('because of two.md').waitFor();
    await visit.isArmed();
    await seeAll();
    await visit.page.getByRole('checkbox', { name: /Step 2/ }).uncheck();
    await visit.page.getByRole('button', { name: /Approve 1/ }).click();
    const { plan } = (await proposed).json as { plan: { status: string; approvedSteps: number[] } };
    assert.equal(plan.status, 'approved');
    assert.deepEqual(plan.approvedSteps, [0]);
    await heading('Nothing waits for you').waitFor();
  });
});

describe('two consoles', () => {
  it('stay in step: what one decides is gone from the other, and the first decision counts', async () => {
    const other = await browser.logIn(daemon);
    await other.open('approvals');
    const call = askToMove('shared', ['a.txt']);
    await Promise.all([
      heading(/from shared/).waitFor(),
      other.page.getByRole('heading', { name: /from shared/ }).waitFor(),
    ]);
    await visit.canApprove();
    await visit.page.keyboard.press('a');
    await other.page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await runs(call);
    await other.close();
  });
});

describe('a first visit', () => {
  it('leads to a first approval without leaving the page: an agent is let in, asks, and is answered', async (test) => {
    const fresh = await TestDaemon.start();
    test.after(() => fresh.remove());
    const first = await browser.logIn(fresh);
    test.after(() => first.close());
    const { page } = first;
    await first.open('approvals');
    await page.getByRole('button', { name: 'Let a first agent in' }).click();
    // What a person would paste into a terminal.
    const command = await page.getByLabel('A first call').innerText();
    const token = /Bearer (sp_[\w-]+)/.exec(command)?.[1] ?? '';
    const call = promisify(execFile)('sh', ['-c', command]);
    await page.getByRole('heading', { name: /hello\.md/ }).waitFor();
    await page.locator('.decisions[data-armed=true]').waitFor();
    await page.keyboard.press('a');
    const { stdout } = await call;
    assert.equal((JSON.parse(stdout) as { success: boolean }).success, true, stdout);
    const written = readFileSync(join(fresh.place.workspace, '.devcontainer/hello.md'), 'utf8');
    assert.equal(written, 'Hello from an agent.\n');
    // The token is still there for a person who has not copied it yet.
    await page.getByText(token, { exact: true }).waitFor();
  });
});
