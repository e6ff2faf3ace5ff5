import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { ConsoleVisit } from './console-browser.ts';

/** Markup that would tell on itself, a text that turns the reading direction, and characters that nobody sees. */
const markup = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>';
const hostile = `${markup}\u202Egnp.exe\u202C\u200B\u0007\u001B[31m`;
const elsewhere = '<a href="https://elsewhere.example/x">x</a><iframe src="//elsewhere.example"></iframe>';
const places = [
  ...['home', 'approvals', 'approvals/standing', 'approvals/decided', 'calls', 'calls?q=kind%3Acall%2Cevent'],
  ...['activity', 'activity/hour', 'activity/week', 'anomalies', 'sessions', 'sessions/new', 'clients', 'people'],
  ...['rules', 'rules/odd', 'tools', 'upstreams', 'upstreams/odd', 'audit', 'nowhere'],
];
/** What anybody can write into an address. */
const pages = ['approvals', 'calls', 'activity', 'anomalies', 'sessions', 'rules', 'upstreams', 'audit', 'elsewhere'];

const rules = `version: 1
rules:
  - { id: odd, effect: require_approval, tools: [files.write, 'odd.*'], reason: ${JSON.stringify(hostile)} }
  - { id: reads, effect: allow, tools: [files.read], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: tried, effect: deny, tools: [files.read], shadow: true, reason: ${JSON.stringify(elsewhere)} }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
`;

/** A server that says hostile things wherever a server may say something. */
const server = `
import { createInterface } from 'node:readline';
const hostile = ${JSON.stringify(`${hostile}${elsewhere}`)};
const markup = ${JSON.stringify(`${markup}${elsewhere}`)};
const toolOf = (name, text) => ({
  name, title: text, description: text, inputSchema: { type: 'object', properties: { field: { type: 'string', description: text } } },
});
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, instructions: hostile, serverInfo: { name: hostile, version: hostile },
  }),
  // The gate leaves out the first, because of what nobody sees.
  'tools/list': () => ({ tools: [toolOf('unseen', hostile), toolOf('tool', markup)] }),
  'tools/call': () => ({ content: [{ type: 'text', text: hostile }], isError: true }),
};
process.stderr.write(hostile + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const result = answer ? { result: answer(params) } : { error: { code: -32601, message: hostile } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...result }) + '\\n');
});
`;

let browser: ConsoleBrowser;
let daemon: TestDaemon;
let visit: ConsoleVisit;
const details: string[] = [];

before(async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': rules });
  const script = join(place.folder, 'odd-server.mjs');
  writeFileSync(script, server);
  daemon = await TestDaemon.start(place);
  const added = runSallyport(place, ['upstream', 'add', 'odd', '--yes', '--read', script, '--', 'node', script]);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  runSallyport(place, ['upstream', 'test', 'odd']);
  const token = await daemon.newAgent('coder');
  const call = async (tool: string, input: object): Promise<void> => {
    const { callId, denied } = await daemon.call(tool, input, { token });
    const { taskId } = (denied?.approval ?? {}) as { readonly taskId?: string };
    details.push(`calls/${callId}`, ...(taskId === undefined ? [] : [`approvals/${taskId}`]));
  };
  await call('files.read', { path: `${hostile}.md` });
  await call(hostile, { [hostile]: hostile });
  await call('files.write', { path: `${hostile.replaceAll('/', '')}.md`, content: `${hostile}\n${elsewhere}\n` });
  writeFileSync(join(place.workspace, 'named.md'), elsewhere);
  await call('files.write', { path: 'named.md', content: hostile });
  await call('odd.tool', { field: hostile });
  const [, , denied = ''] = details;
  await daemon.call('approvals.deny', { task_id: denied.split('/')[1] ?? '', note: hostile });
  details.push('audit/5', 'audit/9');
  browser = await ConsoleBrowser.open();
  visit = await browser.logIn(daemon, { viewport: { width: 1280, height: 800 } });
});
after(async () => {
  await browser.close();
  await daemon.remove();
});

interface Found {
  readonly hit: unknown;
  readonly elements: readonly string[];
  readonly hidden: readonly string[];
}

/** What of the hostile texts became more than text. */
async function findHarm(): Promise<Found> {
  return visit.page.evaluate<Found>(`(() => {
    const foreign = [...document.querySelectorAll('img, iframe, object, embed, base, form[action], body script, a[href^=http], [onerror], [srcdoc]')];
    const unseen = /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u200e\\u200f\\u0000-\\u0008\\u001b]/;
    const attributes = [...document.querySelectorAll('[title], [aria-label], [placeholder], option')].flatMap((each) =>
      ['title', 'aria-label', 'placeholder', 'value'].map((name) => each.getAttribute(name) ?? ''));
    const texts = [document.title, document.body.textContent, ...attributes];
    return {
      hit: window.hit ?? null,
      elements: foreign.map((each) => each.outerHTML.slice(0, 200)),
      hidden: texts.filter((text) => unseen.test(text)).map((text) => {
        const at = text.search(unseen);
        return text.slice(Math.max(0, at - 60), at + 20);
      }),
    };
  })()`);
}

const settle = async (): Promise<void> => {
  await visit.page.locator('main h1').waitFor({ state: 'attached' });
  const loading = visit.page.locator('.loading');
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
};

/** Whatever folds on the page is opened, so that everything on it is looked at. */
async function openAll(): Promise<void> {
  await visit.page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true; })`);
  await visit.page.waitForTimeout(300);
  await settle();
}

const harmless: Found = { hit: null, elements: [], hidden: [] };

test('what agents, tools, servers and rules are called is text on every page, and nothing of it hides', async () => {
  let seen = 0;
  for (const place of [...places, ...details]) {
    await visit.open(place);
    await settle();
    await openAll();
    assert.deepEqual(await findHarm(), harmless, place);
    const text = await visit.page.locator('main').innerText();
    seen += Number(text.includes('window.hit=1'));
  }
  // The texts were there to be found: as text.
  assert.ok(seen > 12, `${seen} pages show them`);
});

test('what a server wrote to its log, offers and answers is text as well', async () => {
  await visit.open('upstreams/odd');
  await settle();
  await openAll();
  await visit.page.getByLabel('Log of odd').getByText('window.hit=1').waitFor();
  await visit.page
    .getByRole('group', { name: 'What odd.tool says about itself' })
    .getByText('window.hit=1')
    .first()
    .waitFor();
  assert.deepEqual(await findHarm(), harmless);
});

test('an address that somebody made up leads to text, not to markup', async () => {
  for (const page of pages) {
    for (const address of [`${page}/${encodeURIComponent(hostile)}`, `${page}?q=${encodeURIComponent(elsewhere)}`]) {
      await visit.open(address);
      await settle();
      assert.deepEqual(await findHarm(), harmless, address);
    }
  }
  await visit.page.keyboard.press('Control+k');
  await visit.page.keyboard.type('<img src=x onerror="window.hit=3">');
  await visit.page.getByRole('option').first().waitFor();
  assert.deepEqual(await findHarm(), harmless);
  await visit.page.keyboard.press('Escape');
});

test('no request leaves the origin, and no page complains', () => {
  const own = visit.addresses.filter((address) => address.startsWith(`${daemon.address}/`));
  assert.equal(own.length, visit.addresses.length, visit.addresses.filter((each) => !own.includes(each)).join());
  assert.deepEqual(
    visit.complaints.filter((each) => !/status of 40[04]/.test(each)),
    [],
  );
});
