import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { packPackage } from '../../scripts/pack.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { findMachineNode } from './installed-packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-auditor-'));
const exported = join(folder, 'log.jsonl');
let daemon: TestDaemon;
let program: string;
let key: string;
let callId: string;

before(async () => {
  daemon = await TestDaemon.start();
  for (let at = 0; at < 5; at++) ({ callId } = await daemon.call('files.list', { path: '.', limit: at + 1 }));
  runSallyport(daemon.place, ['stop']);
  key = join(daemon.place.home, 'keys', 'audit.pub');
  const tarball = await packPackage('log', folder);
  // As an auditor does it, who has nothing else of the project.
  const installed = spawnSync('npm', ['install', '--offline', '--no-save', '--prefix', folder, tarball], {
    encoding: 'utf8',
    cwd: folder,
  });
  assert.equal(installed.status, 0, installed.stderr);
  program = join(folder, 'node_modules', '.bin', 'sallyport-log');
});
after(async () => {
  await daemon.remove();
  rmSync(folder, { recursive: true });
});

function verify(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(findMachineNode(), [program, 'verify', ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  });
  return { status, stdout, stderr };
}

test('an export is verified by the packed package alone', () => {
  const made = runSallyport(daemon.place, ['audit', 'export', exported, '--json']);
  assert.equal(made.status, 0, made.stderr);
  const { records } = JSON.parse(made.stdout) as { records: string };
  const { status, stdout } = verify(exported, '--key', key);
  assert.equal(status, 0, stdout);
  assert.ok(stdout.startsWith(`Intact: ${records} of ${records} records are proved by a signed checkpoint.`), stdout);
  const asJson = JSON.parse(verify(exported, '--key', key, '--json').stdout) as Record<string, unknown>;
  assert.deepEqual([asJson['intact'], asJson['records'], asJson['findings']], [true, records, []]);
  assert.match(verify(exported).stdout, /from the export itself: pass --key/);
});

test('a changed payload, a removed record, a cut end and another key are found', () => {
  const lines = readFileSync(exported, 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((line) => line.includes('files.list'));
  const judge = (changed: readonly string[], ...more: string[]) => {
    const file = join(folder, 'changed.jsonl');
    writeFileSync(file, `${changed.join('\n')}\n`);
    return verify(file, '--key', key, ...more);
  };
  const swapped = judge(lines.with(at, (lines[at] as string).replace('files.list', 'files.read')));
  assert.deepEqual([swapped.status, /payload and leaf do not match/.test(swapped.stdout)], [1, true]);
  const removed = judge(lines.toSpliced(at, 1));
  assert.deepEqual([removed.status, /missing/.test(removed.stdout)], [1, true]);
  const withoutNotes = lines.filter((line) => !line.includes('"note"'));
  const checkpoint = join(daemon.place.home, 'audit', 'checkpoint');
  const cut = judge(withoutNotes.slice(0, -1), '--checkpoint', checkpoint);
  assert.deepEqual([cut.status, /gone from the end of the log/.test(cut.stdout)], [1, true]);
  const other = verify(exported, '--key', 'sallyport/other+00000000+AQ==');
  assert.notEqual(other.status, 0);
});

test('a receipt is verified by the packed package alone, which brings the page as well', () => {
  const receipt = join(folder, 'receipt.json');
  const made = runSallyport(daemon.place, ['audit', 'receipt', callId, receipt]);
  assert.equal(made.status, 0, made.stderr);
  assert.ok(made.stdout.includes(`npx @sallyport/log verify ${receipt} --key ${key}`), made.stdout);
  const { status, stdout } = verify(receipt, '--key', key);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^Intact: the records below are in the log/);
  assert.match(verify(receipt).stdout, /from the receipt itself: pass --key/);
  const asJson = JSON.parse(verify(receipt, '--key', key, '--json').stdout) as Record<string, unknown>;
  assert.deepEqual([asJson['intact'], asJson['call']], [true, callId]);
  writeFileSync(receipt, readFileSync(receipt, 'utf8').replace('files.list', 'files.read'));
  const changed = verify(receipt, '--key', key);
  assert.deepEqual([changed.status, /Not intact/.test(changed.stdout)], [1, true]);

  const page = join(folder, 'page.html');
  const written = spawnSync(process.execPath, [program, 'page', page], { encoding: 'utf8' });
  assert.equal(written.status, 0, written.stderr);
  assert.match(readFileSync(page, 'utf8'), /Check a receipt of Sallyport/);
});

test('what is not an export is said to be so, and help is there', () => {
  const junk = join(folder, 'junk');
  writeFileSync(junk, 'not json\n');
  for (const file of [junk, join(folder, 'absent')]) {
    const { status, stderr } = verify(file);
    assert.equal(status, 2);
    assert.doesNotMatch(stderr, /at file:|node:internal/, 'no stack');
  }
  assert.equal(verify().status, 2);
  assert.match(verify('--help').stdout, /Usage: sallyport-log verify FILE/);
});
