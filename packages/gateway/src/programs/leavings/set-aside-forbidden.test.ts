import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Vouched } from '../../call/sweep.ts';
import { judgeLeavings } from '../../policy/judge/leavings.ts';
import { finishSweeps } from './finish-sweeps.ts';
import { identifyMade } from './made-file.ts';
import { setAsideForbidden } from './set-aside-forbidden.ts';
import { Sweeps } from './sweeps.ts';

const caller = { principal: 'agent', agent: 'a', mode: 'NORMAL', consented: false } as const;
const leavings = judgeLeavings({ write: { judge: () => undefined }, caller });

function openFolders(t: TestContext): { readonly work: string; readonly notes: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-sweeps-')));
  t.after(() => rmSync(base, { recursive: true }));
  mkdirSync(join(base, 'work'));
  return { work: join(base, 'work'), notes: join(base, 'notes') };
}

const key = 'a key that lies elsewhere';
const open = (folder: string): Sweeps => new Sweeps({ folder, key });

async function finish(notes: string, reports: object[] = []): Promise<void> {
  const errors: unknown[] = [];
  await finishSweeps(open(notes), {
    judge: () => leavings,
    ready: () => Promise.resolve(),
    report: async (event, facts) => void reports.push({ event, ...facts }),
    onError: (error) => errors.push(error),
  });
  assert.deepEqual(errors, []);
}

test('a sweep that was entered and never finished is finished by the next one who opens the book', async (t) => {
  const { work, notes } = openFolders(t);
  writeFileSync(join(work, '.envrc'), 'old');
  const sweeps = open(notes);
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
  const sweeps = open(notes);
  await sweeps.enter({ roots: [work], known: [], links: {}, caller, isForeseen: false }, sweeps.position());
  const [unfinished] = (await open(notes).listUnfinished()).unfinished;
  const { endedByMs = 0 } = unfinished ?? {};
  assert.ok(endedByMs > Date.now() && endedByMs < Date.now() + 10_000);
  mkdirSync(join(work, '.vscode'));
  const options = {
    isForbidden: (path: string, root: string) => leavings.judge(path, root) !== undefined,
    entry: { knows: () => false, vouched: new Map(), tellMoved: () => Promise.resolve() },
    mark: 'mark',
  };
  const early = { roots: [work], links: {}, endedByMs: Date.now() - 60_000 };
  assert.equal((await setAsideForbidden(early, 0, options)).count, 0);
  assert.equal((await setAsideForbidden({ ...early, endedByMs }, 0, options)).count, 1);
});

test('what a person made after an unfinished sweep is theirs, however long the daemon lived on', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = open(notes);
  const note = { roots: [work], known: [], links: {}, caller, isForeseen: false };
  const entry = await sweeps.enter(note, sweeps.position());
  mkdirSync(join(work, '.husky'));
  await entry.leave('unfinished');
  const endedMs = Date.now();
  const probe = join(work, 'probe');
  do {
    rmSync(probe, { force: true });
    writeFileSync(probe, '');
  } while (statSync(probe).birthtimeMs <= endedMs + 1);
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
  const sweeps = open(notes);
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
  const sweeps = open(notes);
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

const made = (path: string): Vouched => {
  const stats = statSync(path, { bigint: true });
  return { kind: 'file', identity: identifyMade(stats), sha256: hash('sha256', readFileSync(path)) };
};
const isForbidden = (path: string, root: string): boolean => leavings.judge(path, root) !== undefined;

test('what the gate wrote is not set aside as long as nobody changed it, and what it took away is not known', async (t) => {
  const { work, notes } = openFolders(t);
  const at = (name: string): string => join(work, name);
  const known = [at('.envrc'), at('sub/.envrc'), at('.idea')];
  const sweeps = open(notes);
  let outdated = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const watch = { isForbidden, onOutdated: () => void outdated++ };
  const position = sweeps.position();
  const note = { roots: [work], known, links: {}, caller, isForeseen: false };
  const entry = await sweeps.enter(note, position, watch);
  writeFileSync(at('.envrc'), 'new');
  await sweeps.noteWritten(at('.envrc'), made(at('.envrc')));
  await sweeps.noteWritten(at('sub'), undefined);
  t.mock.timers.tick(60_000);
  assert.equal(outdated, 1);
  await sweeps.noteWritten(at('plain'), { kind: 'folder' });
  await sweeps.noteWritten(at('.idea/in'), { kind: 'folder' });
  t.mock.timers.tick(60_000);
  assert.equal(outdated, 1, 'nothing of that is closed to programs, or not already');
  const late = await sweeps.enter(note, position, watch);
  for (const each of [entry, late]) {
    assert.deepEqual(
      known.map((path) => each.knows(path)),
      [false, false, true],
    );
    assert.deepEqual([...each.vouched.keys()], [at('.envrc')]);
  }
  const sweep = () => setAsideForbidden({ roots: [work], links: {} }, 0, { isForbidden, entry, mark: 'mark' });
  assert.equal((await sweep()).count, 0);
  writeFileSync(at('.envrc'), 'bad');
  assert.deepEqual((await sweep()).paths, [at('.envrc.withheld-mark')]);
  writeFileSync(at('.envrc'), 'new');
  await sweeps.noteWritten(at('.envrc'), made(at('.envrc')));
  await finish(notes);
  assert.ok(existsSync(at('.envrc')), 'also after a crash');
});

test('one that runs on is told of programs that cannot run beside it', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = open(notes);
  const heard: string[] = [];
  const path = join(work, '.envrc');
  for (const known of [[], [path]]) {
    const note = { roots: [work], known, links: {}, caller, isForeseen: false };
    await sweeps.enter(note, sweeps.position(), { onOutdated: () => heard.push(known.join()) });
  }
  sweeps.noteStart({ writes: ['/elsewhere'], closed: ['/elsewhere/.envrc'] });
  sweeps.noteStart({ writes: [], closed: [work] });
  assert.deepEqual(heard, []);
  sweeps.noteStart({ writes: [work], closed: [path] });
  assert.deepEqual(heard, [''], 'it could exchange what is closed to the other');
  sweeps.noteStart({ writes: [work], closed: [] });
  assert.deepEqual(heard, ['', path], 'the other could exchange what is closed to it');
});

test('a file that the gate writes while it is being looked at is not taken for the one before', async (t) => {
  const { work, notes } = openFolders(t);
  const path = join(work, '.envrc');
  const sweeps = open(notes);
  const note = { roots: [work], known: [], links: {}, caller, isForeseen: false };
  const entry = await sweeps.enter(note, sweeps.position(), { isForbidden });
  const write = (content: string): void => {
    writeFileSync(join(work, 'draft'), content);
    renameSync(join(work, 'draft'), path);
    void sweeps.noteWritten(path, made(path));
  };
  write('x'.repeat(1_000_000));
  const sweeping = setAsideForbidden({ roots: [work], links: {} }, 0, { isForbidden, entry, mark: 'mark' });
  for (let n = 0; n < 20; n++) {
    await nextTurn();
    write(`${n}`.repeat(1_000_000));
  }
  assert.equal((await sweeping).count, 0);
  assert.ok(existsSync(path));
});

test('who looks at folders waits for what is being set aside in them', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = open(notes);
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

test('a note that the gate did not write moves nothing and is set aside with a warning', async (t) => {
  const { work, notes } = openFolders(t);
  const sweeps = open(notes);
  const note = { roots: [work], known: [], links: {}, caller, isForeseen: false };
  await sweeps.enter(note, sweeps.position());
  const [own = ''] = readdirSync(notes).filter((name) => name.endsWith('.json'));
  const text = readFileSync(join(notes, own), 'utf8');
  rmSync(join(notes, own));
  writeFileSync(join(notes, 'plain.json'), JSON.stringify(note));
  writeFileSync(join(notes, 'renamed.json'), text);
  writeFileSync(join(notes, 'changed.json'), text.replace(work, tmpdir()));
  writeFileSync(join(notes, 'cut.json'), text.slice(0, -3));
  writeFileSync(join(notes, 'null.json'), 'null');
  mkdirSync(join(notes, 'folder.json'));
  execFileSync('mkfifo', [join(notes, 'pipe.json')]);
  symlinkSync('/dev/zero', join(notes, 'link.json'));
  mkdirSync(join(work, '.husky'));
  const reports: object[] = [];
  await finish(notes, reports);
  assert.ok(existsSync(join(work, '.husky')), 'it is where it was');
  const rejected = reports as { event: string; note: string; kept_as: string }[];
  assert.deepEqual(
    rejected.map(({ event, note: name }) => `${event} ${name}`),
    ['changed', 'cut', 'folder', 'link', 'null', 'pipe', 'plain', 'renamed'].map(
      (name) => `sweep_note_rejected ${name}.json`,
    ),
  );
  for (const { kept_as: kept } of rejected) assert.ok(lstatSync(join(notes, kept), { throwIfNoEntry: false }), kept);
  const again: object[] = [];
  await finish(notes, again);
  assert.deepEqual(again, [], 'it is told once');
});
