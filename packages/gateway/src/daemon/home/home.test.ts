import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ConfigError } from '../../call/fault.ts';
import { describeHome, prepareHome } from './home.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-home-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function failureOf(prepare: () => void): ConfigError {
  try {
    prepare();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  return assert.fail('the home was accepted');
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('everything lies under the home, and the two sockets in folders of their own', () => {
  const { folder, ...places } = describeHome('/home/someone/.sallyport');
  for (const place of Object.values(places)) assert.ok(place.startsWith(`${folder}/`), place);
  assert.equal(new Set(Object.values(places)).size, Object.keys(places).length);
  assert.equal(places.operatorSocket, `${folder}/run/operator/sallyport.sock`);
  assert.equal(places.agentSocket, `${folder}/run/agent/sallyport.sock`);
});

test('the folders are made for their owner only, also where the home stood open to readers', (t) => {
  const folder = newFolder(t);
  const existing = join(folder, 'existing');
  mkdirSync(existing);
  chmodSync(existing, 0o755);
  for (const path of [join(folder, 'a', 'new'), existing]) {
    prepareHome(describeHome(path));
    prepareHome(describeHome(path));
    // Programs that root starts run as somebody else, who must come through.
    assert.equal(modeOf(path), process.getuid?.() === 0 ? 0o711 : 0o700);
    for (const name of ['keys', 'credentials', 'run', 'run/operator', 'run/agent', 'log', 'audit', 'trash']) {
      assert.equal(modeOf(join(path, name)), 0o700, name);
    }
  }
});

test('a folder that everyone can write to is no home: anyone could have put rules there', (t) => {
  const folder = newFolder(t);
  for (const mode of [0o777, 0o1777, 0o702]) {
    chmodSync(folder, mode);
    const { message, remedy } = failureOf(() => prepareHome(describeHome(folder)));
    assert.equal(message, `Every user of this machine can write to ${folder}.`);
    assert.equal(remedy, 'Choose a folder of your own with SALLYPORT_HOME.');
    assert.deepEqual(readdirSync(folder), [], 'nothing is made there');
    assert.equal(modeOf(folder), mode & 0o777, 'and its mode is left alone');
  }
});

test('a folder of another user is refused', (t) => {
  // Root can give a folder away; anyone else finds one that is root's.
  const isRoot = process.getuid?.() === 0;
  const folder = isRoot ? newFolder(t) : '/usr';
  if (isRoot) chownSync(folder, 12_345, 12_345);
  const { message, remedy } = failureOf(() => prepareHome(describeHome(folder)));
  assert.equal(message, `${folder} belongs to another user (uid ${isRoot ? 12_345 : 0}).`);
  assert.equal(remedy, 'Start as that user, or choose another folder with SALLYPORT_HOME.');
});

test('a home that is a file, or lies below one, cannot be written', (t) => {
  const file = join(newFolder(t), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')]) {
    const { message, remedy } = failureOf(() => prepareHome(describeHome(path)));
    assert.match(message, /^SALLYPORT_HOME cannot be written: /);
    assert.equal(remedy, `Make ${path} writable, or choose another folder with SALLYPORT_HOME.`);
  }
});

test('a path that does not fit into a socket address is refused before anything is made', (t) => {
  const folder = newFolder(t);
  const longest = process.platform === 'linux' ? 107 : 103;
  const room = longest - Buffer.byteLength(describeHome(folder).operatorSocket) - 1;
  prepareHome(describeHome(join(folder, 'x'.repeat(room))));
  // Two bytes a letter: it is the bytes that count.
  for (const name of ['x'.repeat(room + 1), 'é'.repeat(Math.ceil((room + 1) / 2))]) {
    const { message } = failureOf(() => prepareHome(describeHome(join(folder, name))));
    assert.match(message, /too long for a socket/);
  }
  assert.deepEqual(readdirSync(folder), ['x'.repeat(room)]);
});
