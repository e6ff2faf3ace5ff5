import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { onCopy, startRefusal, vandalise } from '../tampering/vandal.ts';

/** A person can act on it: it names the file, says what to do, and shows no line of the program. */
function assertClear(said: string, ...expected: readonly RegExp[]): void {
  for (const each of expected) assert.match(said, each, said);
  assert.doesNotMatch(said, /\.[tj]s:\d+|errcode|at Object|ERR_/, said);
}

function zeroPage(file: string, page: number): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(4096), 0, 4096, page * 4096);
  closeSync(descriptor);
}

describe('a damaged file is named, with what to do', () => {
  let place: Place;
  const at = (...parts: string[]): string => join(place.home, ...parts);

  before(async () => {
    const daemon = await TestDaemon.start();
    ({ place } = daemon);
    await daemon.newAgent('ada');
    await daemon.kill('SIGTERM');
    // Otherwise the journal beside the database would still hold its pages.
    vandalise(place, 'PRAGMA wal_checkpoint(TRUNCATE)');
  });
  after(() => rmSync(place.folder, { recursive: true }));

  test('an empty checkpoint file', async () => {
    await onCopy(place, async () => {
      writeFileSync(at('audit', 'checkpoint'), '');
      assertClear(await startRefusal(place), /audit\/checkpoint is empty/, /remove .*audit\/checkpoint/);
      rmSync(at('audit', 'checkpoint'));
      assert.equal(await startRefusal(place), 'it started');
      assert.ok(readFileSync(at('audit', 'checkpoint'), 'utf8').length > 0, 'it is written anew');
    });
  });

  test('a checkpoint file with other content', async () => {
    await onCopy(place, async () => {
      writeFileSync(at('audit', 'checkpoint'), 'a log\n5\nroot\n');
      assertClear(await startRefusal(place), /audit\/checkpoint cannot be used/, /audit verify/);
    });
  });

  for (const key of ['audit.key', 'state.key', 'secrets.key', 'confirm.key']) {
    test(`a ${key} that was cut, or emptied`, async () => {
      await onCopy(place, async () => {
        const whole = readFileSync(at('keys', key), 'utf8');
        writeFileSync(at('keys', key), whole.slice(0, 20), { mode: 0o600 });
        assertClear(await startRefusal(place), new RegExp(`keys/${key}`), /backup/);
        writeFileSync(at('keys', key), '', { mode: 0o600 });
        assertClear(await startRefusal(place), new RegExp(`keys/${key} is empty`), /backup/);
      });
    });
  }

  test('a page of the database that was zeroed, wherever it is, and a database that is not one', async () => {
    const pages = statSync(at('sallyport.db')).size / 4096;
    for (const page of [0, 2, Math.floor(pages / 2), pages - 1]) {
      await onCopy(place, async () => {
        zeroPage(at('sallyport.db'), page);
        const said = await startRefusal(place);
        // An unused page may be zeroed without anybody missing it.
        if (said !== 'it started') assertClear(said, /sallyport\.db/, /backup/);
        else assert.notEqual(page, 0);
      });
    }
    await onCopy(place, async () => {
      writeFileSync(at('sallyport.db'), 'this was a database once, and is a text now. '.repeat(200));
      assertClear(await startRefusal(place), /sallyport\.db is damaged/, /backup/);
      truncateSync(at('sallyport.db'), 0);
      assertClear(await startRefusal(place), /changed by something other than Sallyport/, /backup/);
    });
  });
});

test('a full disk at the start is named', () => {
  const place = newPlace();
  mkdirSync(place.home, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', place.home]);
  try {
    const filler = openSync(join(place.home, 'filler'), 'w');
    assert.throws(() => {
      for (;;) writeSync(filler, Buffer.alloc(4096));
    }, /ENOSPC/);
    closeSync(filler);
    const { status, stdout, stderr } = runSallyport(place, ['up']);
    assert.notEqual(status, 0);
    assertClear(stdout + stderr, /disk is full/i, /Free some space/);
    truncateSync(join(place.home, 'filler'), 700 * 1024);
    const later = runSallyport(place, ['up']);
    assert.notEqual(later.status, 0);
    assertClear(later.stdout + later.stderr, /disk is full/i, /Free some space/);
  } finally {
    execFileSync('umount', ['-l', place.home]);
    rmSync(place.folder, { recursive: true });
  }
});
