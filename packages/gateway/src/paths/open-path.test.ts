import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { refuse } from '../call/refusal.ts';
import type { Access } from '@sallyport/sandbox';
import { openFile, openFolder } from './open-path.ts';
import type { Reach } from './open-path.ts';
import { openFolderToChange, openTarget } from './open-to-change.ts';
import { parsePath } from './parse-path.ts';

interface Place extends Reach {
  readonly judged: (readonly [name: string, access: Access])[];
}

/** Everything is allowed and noted, except what has `forbidden` in its name. */
function inPlace(run: (place: Place) => void): void {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-open-')));
  const judged: (readonly [string, Access])[] = [];
  const judge: Reach['paths']['judge'] = (path, access) => {
    judged.push([path.slice(base.length + 1), access]);
    return path.includes('forbidden') ? refuse('RULE_DENIES', 'test', 'The test forbids it.') : undefined;
  };
  try {
    run({ workingDirectory: base, paths: { judge }, judged });
  } finally {
    rmSync(base, { recursive: true });
  }
}

const at = (place: Place, name: string) => join(place.workingDirectory, name);
const named = (place: Place, name: string) => parsePath(name, place.workingDirectory);

test('what is judged for reading is what was opened, not what was named', () => {
  requirement('EXEC-7');
  inPlace((place) => {
    mkdirSync(at(place, 'real'));
    writeFileSync(at(place, 'real/file'), 'content');
    symlinkSync('real', at(place, 'link'));
    using file = openFile(named(place, 'link/file'), place);
    assert.equal(readFileSync(file.fd, 'utf8'), 'content');
    using folder = openFolder(named(place, 'link'), place);
    assert.equal(folder.realPath, at(place, 'real'));
    assert.deepEqual(place.judged, [
      ['real/file', 'read'],
      ['real', 'read'],
    ]);
  });
});

test('a refusal for the path that was named is shown as it is; one for a hidden target is not', () => {
  inPlace((place) => {
    writeFileSync(at(place, 'forbidden'), '');
    symlinkSync('forbidden', at(place, 'link'));
    assert.throws(() => openFile(named(place, 'forbidden'), place), /The test forbids it/);
    assert.throws(() => openFile(named(place, 'link'), place), /leads through a link/);
  });
});

test('what is judged for a change is the entry, and its folder is opened without links', () => {
  requirement('EXEC-7');
  inPlace((place) => {
    mkdirSync(at(place, 'real'));
    symlinkSync('real', at(place, 'link'));
    using target = openTarget(named(place, 'real/new'), place);
    assert.deepEqual([target.realPath, target.name], [at(place, 'real/new'), 'new']);
    assert.deepEqual(place.judged, [['real/new', 'write']]);
    assert.throws(() => openTarget(named(place, 'link/new'), place), /leads through a link/);
    assert.throws(() => openTarget(named(place, '/'), place), /root folder/);
  });
});

test('a working directory that is reached through a link can be used, and the rules see the real one', () => {
  inPlace((place) => {
    mkdirSync(at(place, 'real/sub'), { recursive: true });
    symlinkSync('real', at(place, 'link'));
    const linked = { ...place, workingDirectory: at(place, 'link') };
    using target = openTarget(parsePath('sub/new', linked.workingDirectory), linked);
    assert.equal(target.realPath, at(place, 'real/sub/new'));
    assert.deepEqual(place.judged, [['real/sub/new', 'write']]);
  });
});

test('missing folders are judged before they are made, and the first refusal ends it', () => {
  inPlace((place) => {
    const made: string[] = [];
    const make = (path: string) => void made.push(path);
    openFolderToChange(named(place, 'a/b'), place, make)[Symbol.dispose]();
    assert.deepEqual(made, [at(place, 'a'), at(place, 'a/b')]);
    assert.throws(() => openFolderToChange(named(place, 'a/forbidden/c'), place, make), /The test forbids it/);
    assert.throws(() => openFolderToChange(named(place, 'a/forbidden'), place), { code: 'ENOENT' });
    assert.equal(made.length, 2);
  });
});

test('a second name does not open a forbidden file, though everyone may read it; shared packages stay readable', () => {
  requirement('EXEC-7');
  inPlace((place) => {
    writeFileSync(at(place, 'forbidden'), 'secret', { mode: 0o644 });
    linkSync(at(place, 'forbidden'), at(place, 'notes.txt'));
    assert.throws(() => openFile(named(place, 'notes.txt'), place), /has a second name/);
    mkdirSync(at(place, 'node_modules/a'), { recursive: true });
    writeFileSync(at(place, 'store'), 'package', { mode: 0o644 });
    linkSync(at(place, 'store'), at(place, 'node_modules/a/index.js'));
    using file = openFile(named(place, 'node_modules/a/index.js'), place);
    assert.equal(readFileSync(file.fd, 'utf8'), 'package');
  });
});
