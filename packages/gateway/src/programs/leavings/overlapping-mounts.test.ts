import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasOverlappingMounts } from './overlapping-mounts.ts';

const base = ['22 1 8:1 / / rw - ext4 /dev/sda1 rw', '23 22 0:5 / /proc rw - proc proc rw'];
const isSeen = (folders: readonly string[], ...more: readonly string[]): boolean =>
  hasOverlappingMounts(folders, [...base, ...more, ''].join('\n'));

test('folders without mounts, and with mounts of something else, show nothing twice', () => {
  assert.equal(isSeen(['/w']), false);
  assert.equal(isSeen(['/w', '/w/sub', '/x']), false);
  assert.equal(isSeen(['/w'], '24 22 8:1 /var/volumes/modules /w/node_modules rw - ext4 /dev/sda1 rw'), false);
  assert.equal(isSeen(['/w'], '24 22 8:2 / /w/data rw - ext4 /dev/sdb1 rw'), false);
});

test('a part of a folder that is mounted once more is seen twice', () => {
  assert.equal(isSeen(['/w'], '24 22 8:1 /w/secrets /w/open rw - ext4 /dev/sda1 rw'), true);
  assert.equal(isSeen(['/w'], '24 22 8:1 /w/.env /w/a\\040b.txt rw - ext4 /dev/sda1 rw'), true);
  assert.equal(isSeen(['/w'], '24 22 8:1 / /w/all rw - ext4 /dev/sda1 rw'), true);
  assert.equal(isSeen(['/w', '/x'], '24 22 8:1 /w/sub /x rw - ext4 /dev/sda1 rw'), true);
});

test('two mounts of the same thing in one folder, and one in a folder that is itself mounted, are seen twice', () => {
  const data = ['24 22 8:2 / /w/a rw - ext4 /dev/sdb1 rw', '25 22 8:2 /part /w/b rw - ext4 /dev/sdb1 rw'];
  assert.equal(isSeen(['/w'], ...data), true);
  const project = '24 22 8:3 /home/me/project /w rw - ext4 /dev/sdc1 rw';
  assert.equal(isSeen(['/w'], project), false);
  assert.equal(isSeen(['/w'], project, '25 24 8:3 /home/me/project/secrets /w/open rw - ext4 /dev/sdc1 rw'), true);
  assert.equal(
    isSeen(['/w/sub'], project, '25 24 8:3 /home/me/project/secrets /w/sub/x rw - ext4 /dev/sdc1 rw'),
    false,
  );
});
