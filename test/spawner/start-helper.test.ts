import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgramLost } from '../../packages/sandbox/src/program.ts';
import { readProcess } from '../../packages/sandbox/src/limits/read-process.ts';
import type { SpawnerClient, SpawnerOptions } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, findProcesses, finish, program, shell, uniqueSeconds } from './programs.ts';
import { withClient } from './with-client.ts';

/** The process that forks for the spawner. */
const findHelper = (client: SpawnerClient): number | undefined =>
  findProcesses('PR_SET_PDEATHSIG').find((pid) => readProcess(pid)?.parentPid === client.spawnerPid);

const withHelper: SpawnerOptions = {};
const withoutHelper: SpawnerOptions = { perl: '/nonexistent/perl' };

for (const [name, options] of Object.entries({ withHelper, withoutHelper })) {
  for (const isolation of ['sandbox', 'none'] as const) {
    test(`${name}, ${isolation}: a program has its limits, and cannot raise them`, async () => {
      await withClient(options, async (client) => {
        assert.equal(findHelper(client) !== undefined, options === withHelper);
        const limits = { cpuMs: 5000, openFiles: 100, fileBytes: 4096 };
        const read = shell('ulimit -c; ulimit -Hn; ulimit -n; ulimit -Hf; ulimit -t; ulimit -Ht', {
          isolation,
          limits,
        });
        assert.equal((await finish(client, read)).stdout, '0\n100\n100\n8\n6\n7\n');
        const raise = shell('ulimit -n 200 || ulimit -Hf 100 || echo kept', { isolation, limits });
        // A program without a sandbox has the rights of the daemon, which may be those of root.
        if (isolation === 'sandbox') assert.equal((await finish(client, raise)).stdout, 'kept\n');
      });
    });

    test(`${name}, ${isolation}: what a program gets is what was meant for it`, async () => {
      await withClient(options, async (client) => {
        const strange = ['a b', '', 'line\nbreak', '$(x)', 'ü=\u{1f600}', "'"];
        const script = 'print join("|", @ARGV, $ENV{V}, scalar(<STDIN>)); print STDERR "err"; exit 7';
        const asked = program(['/usr/bin/perl', '-e', script, '--', ...strange], {
          ...{ isolation, environment: { V: 'x=y z\n' }, stdin: 'given' },
        });
        const { how, stdout, stderr } = await finish(client, asked);
        assert.deepEqual(how, { kind: 'exited', code: 7 });
        assert.equal(stdout, [...strange, 'x=y z\n', 'given'].join('|'));
        assert.equal(stderr, 'err');
      });
    });

    test(`${name}, ${isolation}: signals reach a program as they would anywhere`, async () => {
      await withClient(options, async (client) => {
        // Nothing is blocked or ignored, and no more descriptors are open than should be.
        const script = 'grep -E "^Sig(Blk|Ign)" /proc/self/status; ls /proc/self/fd';
        const { stdout } = await finish(client, shell(script, { isolation }));
        assert.match(stdout, /^SigBlk:\t0+\nSigIgn:\t0+\n0\n1\n2\n3\n$/);
        const { how } = await finish(client, shell('kill -TERM $$', { isolation }));
        assert.deepEqual(
          how,
          isolation === 'sandbox' ? { kind: 'exited', code: 143 } : { kind: 'killed', signal: 'SIGTERM' },
        );
      });
    });
  }
}

test('when the helper is killed, its programs are gone, their runs say so, and the next run works', async () => {
  await withClient({}, async (client) => {
    const seconds = uniqueSeconds();
    const running = finish(client, shell(`(setsid sleep ${seconds} &); sleep ${seconds}`));
    await eventually(() => findProcesses(`sleep\0${seconds}`).length === 2, 'two processes sleep');
    process.kill(findHelper(client) as number, 'SIGKILL');
    await assert.rejects(running, ProgramLost);
    assert.deepEqual(findProcesses(seconds), [], 'nothing is left when the run rejects');
    assert.equal((await finish(client, shell('echo works'))).stdout, 'works\n');
  });
});

test('a helper does not outlive its spawner, whether or not it is listening', async () => {
  await withClient({}, async (client) => {
    const helper = findHelper(client) as number;
    process.kill(helper, 'SIGSTOP');
    const lost = finish(client, shell('echo never'));
    process.kill(client.spawnerPid as number, 'SIGKILL');
    await assert.rejects(lost, ProgramLost);
    assert.notEqual(readProcess(helper)?.isZombie, false, 'it is gone with what it was to start');
  });
});
