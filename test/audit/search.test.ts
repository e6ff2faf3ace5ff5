import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { environmentOf, newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

let daemon: TestDaemon;
let scout: string;
const reads = 30;

interface Found {
  readonly kind: string;
  readonly records: readonly { readonly index: string; readonly result: string; readonly payloadJson: string }[];
}
interface Page {
  readonly entries?: readonly Found[];
  readonly next?: string;
  readonly indexedSize: string;
  readonly logSize: string;
}

before(async () => {
  daemon = await TestDaemon.start(liftLimits(newPlace()));
  scout = await daemon.newAgent('scout');
  const other = await daemon.newAgent('other');
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'hello');
  for (let n = 0; n < reads; n += 1)
    await daemon.call('files.list', { path: '.', max_entries: n + 1 }, { token: scout });
  await daemon.call('files.read', { path: 'a.txt' }, { token: other });
  await daemon.call('files.read', { path: '.env' }, { token: scout });
  await daemon.call('files.read', { path: 'deep/er/none.txt' }, { token: other });
  await daemon.call('sessions.list', {});
});
after(() => daemon.remove());

async function ask(filter: string, more: Record<string, unknown> = {}): Promise<Page> {
  const { status, json } = await daemon.post('sallyport.v1.OperatorService/SearchAudit', { filter, ...more });
  assert.equal(status, 200, JSON.stringify(json));
  return json as Page;
}

async function askAll(filter: string, limit: number): Promise<Found[]> {
  const found: Found[] = [];
  let page = await ask(filter, { limit });
  for (; ; page = await ask(filter, { limit, before: page.next })) {
    found.push(...(page.entries ?? []));
    if (page.next === undefined) return found;
  }
}

const toolsOf = (entries: readonly Found[] = []) =>
  entries.map(({ records }) => (JSON.parse(records.at(-1)?.payloadJson ?? '{}') as { tool?: string }).tool);
const placeOf = ({ records }: Found): number => Number(records.at(-1)?.index);

test('calls are found by agent, tool, status, rule, path, trace, session, time and words', async () => {
  const denied = await askAll('agent:scout status:denied', 200);
  assert.deepEqual(toolsOf(denied), ['files.read']);
  const refusal = JSON.parse(denied[0]?.records.at(-1)?.payloadJson ?? '{}') as Record<string, Record<string, string>>;
  for (const filter of [
    `rule:${refusal['refusal']?.['rule_id']} agent:scout`,
    `code:${refusal['refusal']?.['code']} path:.env`,
    `trace:${String(refusal['trace_id'])}`,
    'path:.env since:1h',
    'env agent:scout tool:files.read',
  ]) {
    assert.deepEqual((await askAll(filter, 200)).map(placeOf), denied.map(placeOf), filter);
  }
  assert.equal((await askAll('agent:scout tool:files.*', 200)).length, reads + 1);
  assert.equal((await askAll('agent:scout -status:ok', 200)).length, 1);
  assert.deepEqual(toolsOf(await askAll('path:deep/er', 200)), ['files.read']);
  assert.deepEqual(toolsOf(await askAll(`path:${daemon.place.workspace}/deep`, 200)), ['files.read']);
  assert.equal((await askAll('none.txt until:1h', 200)).length, 0, 'nothing is that old');
  assert.equal((await askAll('agent:SCOUT status:error,denied', 200)).length, 1, 'or, and capitals');
});

test('a call is one entry with both of its records, and pages neither overlap nor miss one', async () => {
  const whole = await askAll('agent:scout', 200);
  assert.equal(whole[0]?.records.length, 1, 'the refusal');
  assert.equal(whole[1]?.records.length, 2);
  const inPages = await askAll('agent:scout', 7);
  assert.deepEqual(inPages.map(placeOf), whole.map(placeOf));
  assert.deepEqual(
    whole.map(placeOf),
    whole.map(placeOf).toSorted((a, b) => b - a),
    'newest first',
  );
  const { next } = await ask('agent:scout', { limit: 7 });
  await daemon.call('files.list', { path: '.' }, { token: await daemon.newAgent('late') });
  const later = ((await ask('agent:scout', { limit: 7, before: next })).entries ?? []).map(placeOf);
  const expected = whole.map(placeOf).filter((place) => place < Number(next));
  // A page may be short on a busy machine.
  assert.ok(later.length > 0);
  assert.deepEqual(later, expected.slice(0, later.length), 'what comes meanwhile moves no page');
});

test('a word that very many calls have is found in all of them', async () => {
  const token = await daemon.newAgent('busy');
  const list = (nth: number) => daemon.call('files.list', { path: '.', max_entries: nth + 1 }, { token });
  for (let n = 0; n < 11; n += 1) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => list(100 * n + at)));
  }
  // Of so many the index adds a part for each question.
  for (let known = await ask(''); known.indexedSize !== known.logSize;) known = await ask('');
  assert.equal((await askAll('agent:busy false', 200)).length, 1100, 'more than is looked at in one go');
  assert.equal((await askAll('agent:busy kind:call', 200)).length, 1100);
  let page = await ask('agent:busy false', { after: '0' });
  while (page.entries === undefined && page.next !== undefined)
    page = await ask('agent:busy false', { after: page.next });
  const [first] = page.entries ?? [];
  const all = await askAll('agent:busy false', 200);
  assert.equal(first && placeOf(first), Math.min(...all.map(placeOf)), 'oldest first for those who follow');
});

test('housekeeping is hidden until it is asked for', async () => {
  const shown = await askAll('', 200);
  assert.ok(shown.every(({ kind }) => kind !== 'housekeeping'));
  const hidden = await askAll('kind:housekeeping', 200);
  assert.ok(hidden.length > 0 && hidden.every(({ kind }) => kind === 'housekeeping'));
  assert.ok(toolsOf(hidden).includes('sessions.list'));
  assert.ok(hidden.some(({ records }) => records[0]?.payloadJson.includes('daemon_started')));
});

test('a caller cannot make a call look like that of somebody else', async () => {
  const forged = 'agent:victim';
  await daemon.call('files.list', { path: forged }, { token: scout });
  assert.equal((await askAll('victim', 200)).length, 1, 'its words are found');
  assert.equal((await askAll('agent:victim', 200)).length, 0);
});

test('a secret that is known by now is hidden in what is found, and an agent may not search', async () => {
  const secret = `later-${hash('sha256', 'searched').slice(0, 24)}`;
  await daemon.call('files.list', { path: `x-${secret}` }, { token: scout });
  await daemon.call('secrets.set', { name: 'searched', value: secret });
  const found = JSON.stringify(await askAll('agent:scout', 200));
  assert.ok(!found.includes(secret));
  assert.match(found, /x-/);
  const { status } = await daemon.post('sallyport.v1.OperatorService/SearchAudit', { filter: '' }, scout);
  assert.equal(status, 403);
});

test('a filter that cannot be read says why', async () => {
  for (const [filter, problem] of [
    ['colour:red', /no field colour/],
    ['since:yesterday', /not a time/],
    ['kind:x', /no kind x/],
    ['-word', /Only fields/],
    ['...', /no word/],
  ] as const) {
    const { status, json } = await daemon.post('sallyport.v1.OperatorService/SearchAudit', { filter });
    assert.equal(status, 400, filter);
    assert.match(JSON.stringify(json), problem);
  }
});

test('new entries are followed as they come', async () => {
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs'),
      'audit',
      'search',
      'agent:followed',
      '-f',
      '--json',
    ],
    { env: environmentOf(daemon.place), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  const token = await daemon.newAgent('followed');
  const untilMs = Date.now() + 30_000;
  while (!said.includes('\n') && Date.now() < untilMs) {
    await daemon.call('files.list', { path: '.' }, { token });
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  assert.equal((JSON.parse(said.split('\n')[0] ?? '') as Found).kind, 'call');
});

test('JSON lines and CSV hold everything that matches, also while the gate is stopped and after the index is gone', async () => {
  const expected = await askAll('agent:scout', 200);
  await daemon.kill('SIGTERM');
  const index = join(daemon.place.home, 'audit', 'index.db');
  assert.equal(statSync(index).mode & 0o077, 0, 'for its owner only');
  const lines = (): string[] => {
    const { status, stdout, stderr } = runSallyport(daemon.place, ['audit', 'search', 'agent:scout', '--as', 'jsonl']);
    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n');
  };
  const whole = lines().map((line) => JSON.parse(line) as Found);
  assert.deepEqual(whole.map(placeOf), expected.map(placeOf));
  writeFileSync(index, 'not a database');
  assert.equal(lines().length, expected.length, 'a damaged index is built anew');
  for (const end of ['', '-wal', '-shm']) rmSync(`${index}${end}`, { force: true });
  assert.equal(lines().length, expected.length, 'and so is a missing one');
  assert.ok(existsSync(index));
  const { stdout } = runSallyport(daemon.place, ['audit', 'search', 'agent:scout', '--as', 'csv']);
  const [heading, ...rows] = stdout.trim().split('\n');
  assert.match(heading ?? '', /^index,time,kind,result,agent,tool/);
  assert.equal(rows.length, expected.length);
  const inOne = runSallyport(daemon.place, ['audit', 'search', 'agent:scout status:denied', '--as', 'jsonl']).stdout;
  assert.equal(
    inOne,
    runSallyport(daemon.place, ['audit', 'search', 'agent:scout', 'status:denied', '--as', 'jsonl']).stdout,
  );
  assert.notEqual(inOne, '');
  const withWord = (...filter: string[]) => runSallyport(daemon.place, ['audit', 'search', ...filter, '--as', 'jsonl']);
  assert.notEqual(withWord('agent:scout env').stdout, '', 'a word behind a field, in one argument');
  assert.equal(withWord('agent:scout env').stdout, withWord('agent:scout', 'env').stdout);
  const page = runSallyport(daemon.place, ['audit', 'search', 'agent:scout', '-n', '5']);
  assert.equal(page.stdout.trim().split('\n').length, 5);
  assert.match(page.stderr, /There is more: add --before \d+/);
  daemon = await TestDaemon.start(daemon.place);
});
