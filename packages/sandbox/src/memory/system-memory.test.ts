import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findProgramPages, openSystemMemory } from './system-memory.ts';

const isGlibc = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

const residentFileKb = (): number =>
  Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

test('with glibc, memory can be given back, and nobody is warned', { skip: !isGlibc }, (t) => {
  const warned = t.mock.method(process, 'emitWarning');
  const memory = openSystemMemory();
  assert.ok(memory !== undefined);
  memory.trim();
  const before = residentFileKb();
  memory.dropProgramPages();
  const after = residentFileKb();
  assert.ok(after < before, `${before} kB of files were resident, then ${after}`);
  assert.equal(warned.mock.callCount(), 0);
});

test('without such functions everything goes on as before', (t) => {
  t.mock.method(process, 'getBuiltinModule', () => undefined);
  assert.equal(openSystemMemory(), undefined);
});

test('only what the kernel mapped of the program, and nobody wrote to, is let go', () => {
  const mapping = (head: string, { anonymous = 0, dirty = 0 } = {}): string =>
    `${head}\nSize: 8 kB\nRss: 8 kB\nPrivate_Dirty:         ${dirty} kB\nAnonymous:             ${anonymous} kB\nVmFlags: rd ex\n`;
  const program = '08:01 4711                        /usr/bin/node';
  const smaps = [
    mapping('00200000-00202000 r--p 00000000 00:00 0 '),
    mapping(`00400000-00402000 r-xp 00000000 ${program}`),
    mapping(`00402000-00404000 r--p 00002000 ${program}`),
    mapping(`00404000-00406000 r--p 00004000 ${program}`, { anonymous: 4 }),
    mapping(`00406000-00408000 r-xp 00006000 ${program}`, { dirty: 4 }),
    mapping(`00408000-0040a000 rw-p 00008000 ${program}`),
    mapping(`0040a000-0040c000 r--p 0000a000 ${program}`),
    mapping('0040c000-0040e000 rw-p 00000000 00:00 0                          [heap]'),
    // V8 maps this for a thread, and takes it away with the thread.
    mapping(`7f0000000000-7f0000002000 r-xp 00002000 ${program}`),
    mapping('7f0000002000-7f0000004000 r-xp 00000000 08:01 4712                       /usr/lib/libc.so.6'),
  ].join('');
  assert.deepEqual(findProgramPages({ smaps, program: '/usr/bin/node' }), [
    { from: 0x40_0000n, to: 0x40_2000n },
    { from: 0x40_2000n, to: 0x40_4000n },
    { from: 0x40_a000n, to: 0x40_c000n },
  ]);
  assert.deepEqual(findProgramPages({ smaps, program: '/usr/bin/other' }), []);
  assert.deepEqual(findProgramPages({ smaps: '', program: '' }), []);
});
