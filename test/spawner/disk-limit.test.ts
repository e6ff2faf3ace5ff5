import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { Program } from '../../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import type { Changes } from './programs.ts';
import { finish, perl } from './programs.ts';

const client = new SpawnerClient();
after(() => client.close());

const mebibyte = 1024 * 1024;
const limit = 32 * mebibyte;
/** What each of these programs writes, if nobody ends it before. */
const most = 512;
const skip = process.getuid?.() === 0 ? false : 'only root can mount';
const reached = { kind: 'limit', limit: 'diskBytes' } as const;
const fine = { kind: 'exited', code: 0 } as const;

const tmpfsType = 0x0102_1994;

let folder: string;
const afterwards: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-disk-'));
  chmodSync(folder, 0o777);
});
afterEach(() => {
  for (const undo of afterwards.splice(0)) undo();
  rmSync(folder, { recursive: true, force: true });
});

const numbers = process.arch === 'x64' ? { mmap: 9, read: 0, fallocate: 285 } : { mmap: 222, read: 63, fallocate: 47 };

/** A program with a folder that it may change, and `put`, which writes a megabyte. */
function writer(script: string, changes: Changes = {}): Program {
  const helpers = `
    use Fcntl; my ($folder, $mb) = ("${folder}", "x" x ${mebibyte});
    my ($mmap, $read, $fallocate) = (${numbers.mmap}, ${numbers.read}, ${numbers.fallocate});
    sub put { my ($name, $text) = @_; open my $f, ">", "$folder/$name" or return; syswrite $f, $text // $mb; $f }`;
  const mounts = [{ source: folder, target: folder, access: 'write' }] as const;
  return perl(`${helpers} ${script}`, { mounts, limits: { diskBytes: limit }, ...changes });
}

/** A disk of its own, on which nobody else writes. */
function mountMemory(options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=0777,${options}`, 'tmpfs', folder]);
  afterwards.push(() => execFileSync('umount', ['-l', folder]));
}

/** Too much for any limit here. It waits at the end, so that a busy machine has time to look at it. */
const onDisk: readonly [string, string][] = [
  ['many files', `for (1..${most}) { put("f$_") }`],
  ['files that are deleted and still open', `my @f; for (1..100) { push @f, put("f"); unlink "$folder/f" }`],
  ['one file under many names', `for (1..${most}) { put("f$_"); link "$folder/f$_", "$folder/g$_" }`],
  ['children that end at once', `for (1..${most}) { if (!fork) { put("f$_"); exit } wait }`],
  [
    'children that nobody waits for',
    `$SIG{CHLD} = "IGNORE"; for (1..${most}) { my $pid = fork; if (!$pid) { put("f$_"); exit } waitpid $pid, 0 }`,
  ],
  [
    'grandchildren in sessions of their own',
    `use POSIX; for my $n (1..${most}) { if (!fork) { POSIX::setsid(); if (!fork) { put("f$n") } exit } wait }`,
  ],
  ['folders', `for (1..60_000) { mkdir "$folder/$_" }`],
  [
    'several processes together',
    `for my $p (1..4) { if (!fork) { put("f$p-$_") for 1..${most / 4}; exit } } wait for 1..4;`,
  ],
  [
    'a file in memory',
    `sysopen my $f, "$folder/f", O_RDWR | O_CREAT; truncate $f, 128 << 20; open my $zero, "<", "/dev/zero";
     my $at = syscall($mmap, 0, 128 << 20, 3, 1, fileno $f, 0); syscall($read, fileno $zero, $at, 128 << 20) > 0 or die $!`,
  ],
];

for (const [name, script] of onDisk) {
  test(`a program that writes too much in all is ended: ${name}`, async () => {
    const { how, stderr } = await finish(client, writer(`${script}; sleep 60`));
    assert.deepEqual(how, reached, stderr);
  });
}

test('on a disk, what is written over or deleted counts as well', async (context) => {
  if (statfsSync(folder).type === tmpfsType) return context.skip('the temporary folder is in memory');
  const script = `for (1..${most}) { my $f = put("f"); truncate $f, 0 } sleep 60`;
  assert.deepEqual((await finish(client, writer(script))).how, reached);
});

test('the limit holds without isolation too', async () => {
  const script = `for (1..${most}) { put("f$_") } sleep 60`;
  const program = writer(script, { isolation: 'none', workingDirectory: folder });
  assert.deepEqual((await finish(client, program)).how, reached);
});

test('space that is named and not written does not count, and cannot be reserved', { skip }, async () => {
  mountMemory('size=128m');
  const script = `
    my $f = put("sparse"); truncate $f, 512 << 20 or die $!;
    syscall($fallocate, fileno $f, 0, 0, 64 << 20) == -1 or die "fallocate"; print $! + 0, " ";
    my $space = pack "ssqqiil4", 0, 0, 0, 64 << 20, 0, 0, 0, 0, 0, 0;
    for my $request (0x40305828, 0x4030582a, 0x40305839) { ioctl($f, $request, $space) and die "ioctl"; print $! + 0, " " }`;
  const { how, stdout, stderr } = await finish(client, writer(script));
  assert.deepEqual([how, stdout], [fine, '95 95 95 95 '], stderr);
  assert.ok(statSync(join(folder, 'sparse')).blocks * 512 < 2 * mebibyte);
});

test(
  'a program within its limit notices nothing, and neither what it reads nor its own /tmp counts',
  { skip },
  async () => {
    mountMemory('size=256m');
    writeFileSync(join(folder, 'large'), Buffer.alloc(2 * limit));
    const script = `
    put("f$_") for 1..16; open my $in, "<", "$folder/large"; 1 while sysread $in, my $read, ${mebibyte};
    open my $out, ">", "/tmp/f"; syswrite $out, $mb for 1..40; print "done"`;
    const { how, stdout, stderr } = await finish(client, writer(script));
    assert.deepEqual([how, stdout], [fine, 'done'], stderr);
  },
);

test('in a folder that is in memory, the space that is gone counts', { skip }, async () => {
  mountMemory('size=128m');
  const script = `$SIG{CHLD} = "IGNORE"; for (1..64) { my $p = fork; if (!$p) { put("f$_"); exit } waitpid $p, 0 } sleep 60`;
  assert.deepEqual((await finish(client, writer(script))).how, reached);
  rmSync(join(folder, 'f1'));
  const again = `for (1..256) { put("again"); unlink "$folder/again" }`;
  assert.deepEqual((await finish(client, writer(again))).how, fine, 'what is deleted takes no space');
});

test('a program that leaves hardly any space or entries is ended, whatever it may write', { skip }, async () => {
  mountMemory('size=64m,nr_inodes=4000');
  const limits = { diskBytes: Number.MAX_SAFE_INTEGER };
  const full = { kind: 'disk-nearly-full' } as const;
  const files = `for (1..64) { put("f$_") } sleep 60`;
  assert.deepEqual((await finish(client, writer(files, { limits }))).how, full);
  const small = writer('put("small", "x"); sleep 1', { limits });
  assert.deepEqual((await finish(client, small)).how, fine, 'one that writes next to nothing is not to blame');
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  const entries = `for (1..3999) { open my $f, ">", "$folder/e$_" } sleep 60`;
  assert.deepEqual((await finish(client, writer(entries, { limits }))).how, full);
});
