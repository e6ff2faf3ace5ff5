import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { judgeLeavings } from '../governance/leavings.ts';
import { finishSweeps } from './finish-sweeps.ts';
import { Sweeps } from './sweeps.ts';

const caller = { principal: 'agent', agent: 'a', mode: 'NORMAL', consented: false } as const;
const leavings = judgeLeavings({ write: { judge: () => undefined }, caller });

function openFolders(t: TestContext): { readonly work: string; readonly notes: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-sweeps-')));
  t.after(() => rmSync(base, { recursive: true }));
  mkdirSync(join(base, 'work'));
  return { work: join(base, 'work'), notes: join(base, 'notes') };
}

async function finish(notes: string, reports: object[] = []): Promise<void> {
  await finishSweeps(new Sweeps(notes), {
    judge: () => leavings,
    ready: () => Promise.resolve(),
    report: async (what) => void reports.push(what),
    onError: (error) => assert.fail(String(error)),
  });
}

test('a sweep that was entered and never finished is finished by the next one who opens the book', async (t) => {
  const { work, notes } = openFolders(t);
  writeFileSync(join(work, '.envrc'), 'old');
  const sweeps = new Sweeps(notes);
  const note = { roots: [work], known: [join(work, '.envrc')], links: {}, caller, isForeseen: false };
  await sweeps.enter(note, sweeps.position());
  for (const name of ['.mcp', '.husky', 'plain']) mkdirSync(join(work, name));
  const reports: object[] = [];
  await finish(notes, reports);
  assert.deepEqual(readdirSync(work).toSorted(), ['.envrc', '.husky.withheld-restart', '.mcp', 'plain']);
  assert.equal(reports.length, 1);
  assert.deepEqual(readdirSync(notes), ['alive']);
  mkdirSync(join(work, '.husky'));
  await finish(notes);
  assert.ok(existsSync(join(work, '.husky')), 'what is finished is finished');
});

test('what a person made after the daemon had ended is theirs', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = new Sweeps(notes);
  await sweeps.enter({ roots: [work], known: [], links: {}, caller, isForeseen: false }, sweeps.position());
  const [unfinished] = await new Sweeps(notes).listUnfinished();
  const { endedByMs = 0 } = unfinished ?? {};
  assert.ok(endedByMs > Date.now() && endedByMs < Date.now() + 10_000);
  mkdirSync(join(work, '.vscode'));
  const { setAsideForbidden } = await import('./set-aside-forbidden.ts');
  const options = {
    isForbidden: (path: string, root: string) => leavings.judge(path, root) !== undefined,
    entry: { knows: () => false, tellMoved: () => Promise.resolve() },
    mark: 'mark',
  };
  const early = { roots: [work], links: {}, endedByMs: Date.now() - 60_000 };
  assert.equal((await setAsideForbidden(early, 0, options)).count, 0);
  assert.equal((await setAsideForbidden({ ...early, endedByMs }, 0, options)).count, 1);
});

test('what a person made after an unfinished sweep is theirs, however long the daemon lived on', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = new Sweeps(notes);
  const note = { roots: [work], known: [], links: {}, caller, isForeseen: false };
  const entry = await sweeps.enter(note, sweeps.position());
  mkdirSync(join(work, '.husky'));
  await entry.leave('unfinished');
  const endedMs = Date.now();
  const probe = join(work, 'probe');
  do {
    rmSync(probe, { force: true });
    writeFileSync(probe, '');
  } while (statSync(probe).birthtimeMs <= endedMs);
  mkdirSync(join(work, '.vscode'));
  const later = (Date.now() + 60_000) / 1000;
  utimesSync(join(notes, 'alive'), later, later);
  await finish(notes);
  assert.ok(existsSync(join(work, '.vscode')), 'it is the person’s');
  assert.ok(!existsSync(join(work, '.husky')));
});

test('notes that cannot be written do not end a sweep of others', async (t) => {
  const { work, notes } = openFolders(t);
  const path = join(work, '.envrc');
  const sweeps = new Sweeps(notes);
  const note = { roots: [work], known: [path], links: {}, caller, isForeseen: false };
  const first = await sweeps.enter({ ...note, known: [] }, sweeps.position());
  const second = await sweeps.enter(note, sweeps.position());
  rmSync(notes, { recursive: true });
  await first.tellMoved(path);
  assert.ok(!second.knows(path));
});

test('what one sweep moves away, no other takes for old any more, also after a crash', async (t) => {
  const { work, notes } = openFolders(t);
  const path = join(work, '.envrc');
  const sweeps = new Sweeps(notes);
  const note = { roots: [work], known: [path], links: {}, caller, isForeseen: false };
  const position = sweeps.position();
  const first = await sweeps.enter({ ...note, known: [] }, position);
  const second = await sweeps.enter(note, position);
  assert.ok(second.knows(path));
  await first.tellMoved(path);
  assert.ok(!second.knows(path));
  const late = await sweeps.enter(note, position);
  assert.ok(!late.knows(path), 'it was looked at before, and entered after');
  await first.leave('finished');
  await late.leave('finished');
  writeFileSync(path, 'new');
  await finish(notes);
  assert.ok(!existsSync(path));
});

test('who looks at folders waits for what is being set aside in them', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = new Sweeps(notes);
  const note = { roots: [work], known: [], links: {}, caller, isForeseen: false };
  const entry = await sweeps.enter(note, sweeps.position());
  const { promise, resolve } = Promise.withResolvers<void>();
  entry.during(promise);
  let isSettled = false;
  const waiting = sweeps.settle([join(work, 'sub')]).then(() => (isSettled = true));
  await sweeps.settle(['/elsewhere']);
  assert.equal(isSettled, false);
  resolve();
  await waiting;
});
