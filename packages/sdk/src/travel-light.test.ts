import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findStartPages } from './travel-light.ts';

const mapping = (range: string, rights: string, file: string, dirtyKb = 0): string =>
  `${range} ${rights} 00000000 00:00 1 ${file}\nRss: 4 kB\nPrivate_Dirty: ${dirtyKb} kB\nAnonymous: ${dirtyKb} kB\nVmFlags: rd\n`;

test('only clean pages of the program as it was mapped, and of its libraries, are let go', () => {
  const smaps = [
    mapping('1000-2000', 'r--p', '/opt/node'),
    mapping('2000-4000', 'r-xp', '/opt/node'),
    // What the loader wrote there and then protected.
    mapping('4000-5000', 'r--p', '/opt/node', 4),
    mapping('5000-6000', 'rw-p', '/opt/node'),
    mapping('6000-7000', 'r--p', '/opt/node (deleted)'),
    // V8 maps its own code once more.
    mapping('9000-a000', 'r-xp', '/opt/node'),
    mapping('b000-c000', 'r-xp', '/usr/lib/x86_64-linux-gnu/libc.so.6'),
    mapping('c000-d000', 'r--p', '/usr/lib/x86_64-linux-gnu/libc.so.6', 4),
    mapping('d000-e000', 'r--s', '/usr/lib/x86_64-linux-gnu/libm.so.6'),
    mapping('e000-f000', 'r-xp', '/tmp/lib/own.so'),
    'f000-10000 r--p 00000000 00:00 0 \nAnonymous: 0 kB\nPrivate_Dirty: 0 kB\nVmFlags: rd\n',
  ].join('');
  assert.deepEqual(findStartPages(smaps, '/opt/node'), [
    { from: 0x1000n, length: 0x1000n },
    { from: 0x2000n, length: 0x2000n },
    { from: 0xb000n, length: 0x1000n },
  ]);
  assert.deepEqual(findStartPages('', '/opt/node'), []);
});
