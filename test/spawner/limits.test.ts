import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ProgramNotStarted } from '../../packages/sandbox/src/program.ts';
import type { ProgramLimits } from '../../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { findProcesses, finish, perl, program, shell, uniqueSeconds } from './programs.ts';
import { requirement } from '../requirement.ts';

const client = new SpawnerClient();
after(() => client.close());

const mebibyte = 1024 * 1024;
/** Allocates and touches. */
const useMemory = (bytes: number): string => `my $s = ""; vec($s, ${bytes} - 1, 8) = 1;`;
const burn = (seconds: number): string => `1 while ((times)[0] + (times)[1] < ${seconds});`;

const reached: readonly [string, keyof ProgramLimits, string, Partial<ProgramLimits>][] = [
  ['CPU time of one process', 'cpuMs', burn(60), { cpuMs: 300 }],
  ['CPU time of several processes together', 'cpuMs', `fork; fork; ${burn(60)}`, { cpuMs: 600 }],
  [
    'CPU time of processes that come and go',
    'cpuMs',
    `$SIG{CHLD} = "IGNORE"; for (;;) { my $pid = fork; if (!$pid) { ${burn(0.05)} exit } waitpid $pid, 0 }`,
    { cpuMs: 500 },
  ],
  ['memory of one process', 'memoryBytes', useMemory(200 * mebibyte), { memoryBytes: 64 * mebibyte }],
  [
    'memory of several processes together',
    'memoryBytes',
    `fork; fork; ${useMemory(40 * mebibyte)} sleep 60`,
    { memoryBytes: 100 * mebibyte },
  ],
  [
    'memory of a child whose parent goes on',
    'memoryBytes',
    `if (!fork) { ${useMemory(200 * mebibyte)} exit } sleep 60`,
    { memoryBytes: 64 * mebibyte },
  ],
  ['a fork bomb', 'processes', 'fork while 1', { processes: 20 }],
  ['output', 'outputBytes', 'print "x" x 65536 while 1', { outputBytes: mebibyte }],
  ['output on stderr', 'outputBytes', 'print STDERR "x" x 65536 while 1', { outputBytes: mebibyte }],
  [
    'the size of a file',
    'fileBytes',
    'open my $f, ">", "/tmp/large"; print $f "x" x 65536 while 1',
    { fileBytes: mebibyte },
  ],
];

for (const [name, limit, script, limits] of reached) {
  test(`reaching a limit ends the program with the name of the limit: ${name}`, async () => {
    const mark = uniqueSeconds();
    const { how, stdout, stderr } = await finish(client, program(['/usr/bin/perl', '-e', script, mark], { limits }));
    assert.deepEqual(how, { kind: 'limit', limit });
    assert.deepEqual(findProcesses(mark), [], 'nothing is left');
    assert.ok(stdout.length + stderr.length <= mebibyte);
  });
}

test('output up to the limit is passed on before the program is ended', async () => {
  requirement('EXEC-1');
  const { stdout } = await finish(client, perl('print "x" x 65536 while 1', { limits: { outputBytes: 100_000 } }));
  assert.equal(stdout.length, 100_000);
});

test('a program that asks for one file too many is told so by the kernel', async () => {
  const script = 'my @f; while (open my $f, "<", "/dev/null") { push @f, $f } print scalar @f';
  const few = await finish(client, perl(script, { limits: { openFiles: 40 } }));
  assert.ok(Number(few.stdout) > 20 && Number(few.stdout) < 40, few.stdout);
});

test('limits hold without isolation too', async () => {
  const isolation = 'none';
  const memory = perl(useMemory(200 * mebibyte), { isolation, limits: { memoryBytes: 64 * mebibyte } });
  assert.deepEqual((await finish(client, memory)).how, { kind: 'limit', limit: 'memoryBytes' });
  const bomb = perl('fork while 1', { isolation, limits: { processes: 20 } });
  assert.deepEqual((await finish(client, bomb)).how, { kind: 'limit', limit: 'processes' });
});

test('a program within its limits notices nothing of them', async () => {
  const limits = { cpuMs: 5000, memoryBytes: 100 * mebibyte, processes: 4, fileBytes: 3 * mebibyte };
  const script = `head -c ${2 * mebibyte} /dev/zero > /tmp/f && cat /tmp/f | wc -c`;
  const { stdout, how } = await finish(client, shell(script, { limits }));
  assert.deepEqual([how, stdout.trim()], [{ kind: 'exited', code: 0 }, String(2 * mebibyte)]);
});

test('a limit that cannot be enforced refuses the program and says what to do', async () => {
  await assert.rejects(
    finish(client, shell('true', { limits: { openFiles: 4 } })),
    (error) => error instanceof ProgramNotStarted && error.code === 'LIMIT_UNENFORCEABLE' && error.remedy !== undefined,
  );
});
