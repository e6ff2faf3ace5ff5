import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ConsoleBrowser } from '../console/console-browser.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

let daemon: TestDaemon;
let token: string;

before(async () => {
  daemon = await TestDaemon.start();
  token = await daemon.newAgent('coder');
  for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(join(daemon.place.folder, name), name);
});
after(() => daemon.remove());

const read = (name: string) => daemon.call('files.read', { path: join(daemon.place.folder, name) }, { token });
const rulesFile = () => join(daemon.place.home, 'governance', 'tools.yaml');

function succeed(...args: string[]): string {
  const { status, stdout, stderr } = runSallyport(daemon.place, args);
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

test('a denied call is allowed at the command line, in a copy of the shipped rules, without a restart', async () => {
  const { callId, denied } = await read('a.txt');
  assert.equal(denied?.rationaleCode, 'NO_RULE_ALLOWS');
  assert.match(succeed('policy', 'allow', callId, '--dry-run'), /agents: \[coder\]/);
  assert.ok(!existsSync(rulesFile()));
  assert.equal(runSallyport(daemon.place, ['policy', 'allow', callId]).status, 1, 'nobody to ask');
  assert.match(succeed('policy', 'allow', callId.slice(0, 20), '--yes'), /let through/);
  assert.ok((await read('a.txt')).success);
  assert.equal((await read('b.txt')).denied?.rationaleCode, 'NO_RULE_ALLOWS');
  assert.match(readFileSync(rulesFile(), 'utf8'), /- id: allow-files-read\n/);
});

test('what a denial tells operators to do works as it says, without a restart', async () => {
  const { callId } = await read('b.txt');
  const record = (await daemon.records()).find((each) => each.callId === callId) ?? assert.fail();
  const { refusal } = record.payload as { refusal: { remedy: string } };
  const [, file = '', rule = ''] =
    /add this to (\S+), and run `sallyport policy apply`: (- \{.*\})$/.exec(refusal.remedy) ?? [];
  assert.equal(file, rulesFile());
  writeFileSync(file, `${readFileSync(file, 'utf8')}  ${rule.replace('allow-files-read', 'by-hand')}\n`);
  succeed('policy', 'apply', '--yes');
  assert.ok((await read('b.txt')).success);
});

test('the console allows a denied call by a button, after it has shown the rule', async () => {
  const { callId } = await read('c.txt');
  const browser = await ConsoleBrowser.open();
  try {
    const visit = await browser.logIn(daemon);
    await visit.open(`calls/${callId}`);
    const allow = visit.page.getByRole('button', { name: 'Allow this…' });
    await allow.click();
    const rule = visit.page.getByLabel('The drafted rule');
    assert.match((await rule.textContent()) ?? '', /agents: \[coder\].*c\.txt/s);
    assert.ok((await read('c.txt')).denied, 'nothing has changed yet');
    await visit.page.getByRole('button', { name: 'Not now' }).click();
    assert.ok((await read('c.txt')).denied);
    await allow.click();
    await visit.page.getByText(/Replayed over \d+ recorded call/).waitFor();
    await visit.page.getByRole('button', { name: 'Put it in force' }).click();
    await visit.page.getByText('A rule allows such calls from now on.').waitFor();
    assert.ok((await read('c.txt')).success);
    assert.deepEqual(visit.complaints, []);
  } finally {
    await browser.close();
  }
});

test('init writes rules to edit once, and they count when they are applied', async (t) => {
  const other = await TestDaemon.start();
  t.after(() => other.remove());
  const run = (...args: string[]) => runSallyport(other.place, args);
  const agent = await other.newAgent('coder');
  const write = () => other.call('files.write', { path: 'x.txt', content: '1' }, { token: agent });
  assert.match(run('policy', 'init', '--profile', 'strict').stdout, /governance/);
  assert.ok((await write()).success, 'not in force yet');
  assert.equal(run('policy', 'apply', '--yes').status, 0);
  assert.equal((await write()).denied?.rationaleCode, 'NO_RULE_ALLOWS');
  const again = run('policy', 'init');
  assert.deepEqual([again.status, /rules of your own/.test(again.stderr)], [4, true]);
});
