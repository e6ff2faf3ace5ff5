import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeAttempts, Gate, gateKinds } from '../gate.ts';

/** Processes of this machine, the dead excepted, that carry a word in their arguments. */
function findMarked(mark: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !isSo() && Date.now() < end;) await sleep(20);
}

const forkTwice = (mark: string): string =>
  `use POSIX; $SIG{$_} = 'IGNORE' for qw(HUP TERM INT); exit if fork; setsid(); exit if fork; setsid();
  $0 = '${mark}'; sleep 1 while 1;`;

describeAttempts((attempt) => {
  attempt('24: other processes are neither seen nor signalled', async (gate) => {
    const bystander = spawn('/bin/sleep', ['60'], process.getuid?.() === 0 ? gate.user : {});
    await once(bystander, 'spawn');
    const { stdout } = await gate.shell(
      `ls /proc | grep -c '^[0-9]'; kill -9 ${bystander.pid} ${gate.pid} 2>&1; kill -9 -1; echo survived`,
    );
    assert.match(stdout, /^[1-9]\n/, 'a handful of processes of its own');
    assert.match(stdout, /No such process/);
    assert.equal(bystander.exitCode ?? bystander.signalCode, null);
    bystander.kill();
    await once(bystander, 'exit');
    assert.deepEqual((await gate.shell('exit 3')).how, { kind: 'exited', code: 3 }, 'the gate lives');
  });

  attempt('34: a process that forked twice and left its session is gone when the program has ended', async (gate) => {
    const mark = `left-behind-${gate.pid}`;
    const { how } = await gate.perl(forkTwice(mark));
    assert.deepEqual(how, { kind: 'exited', code: 0 });
    assert.deepEqual(findMarked(mark), []);
  });

  attempt('34: so is one whose program was stopped by the clock', async (gate) => {
    const mark = `timed-out-${gate.pid}`;
    const { how } = await gate.run({
      program: { argv: ['/bin/sh', '-c', `perl -e "$1"; sleep 60`, 'sh', forkTwice(mark)] },
      timeoutMs: 800,
    });
    assert.equal(how.kind, 'aborted');
    assert.deepEqual(findMarked(mark), []);
  });

  attempt('36: a fork bomb ends the program and nothing else', async (gate) => {
    const { how } = await gate.run({
      program: {
        argv: ['/usr/bin/perl', '-e', 'while (1) { fork // select(undef, undef, undef, 0.01) }'],
        limits: { processes: 32 },
      },
    });
    // The kernel's own memory for the forks it refuses counts too, and may be used up first on a busy machine.
    assert.equal(how.kind, 'limit');
    assert.ok(['processes', 'memoryBytes'].includes((how as { limit: string }).limit));
    assert.deepEqual((await gate.shell('exit 3')).how, { kind: 'exited', code: 3 });
  });

  attempt('36: a memory bomb ends the program and nothing else', async (gate) => {
    const { how } = await gate.run({
      program: {
        argv: ['/usr/bin/perl', '-e', 'my @all; while (1) { push @all, "x" x 1_000_000 }'],
        limits: { memoryBytes: 64 * 1024 * 1024 },
      },
    });
    assert.deepEqual(how, { kind: 'limit', limit: 'memoryBytes' });
    assert.deepEqual((await gate.shell('exit 3')).how, { kind: 'exited', code: 3 });
  });

  attempt('37: endless output ends the program', async (gate) => {
    const { how, stdout } = await gate.run({
      program: { argv: ['/usr/bin/yes'], limits: { outputBytes: 1024 * 1024 } },
    });
    assert.deepEqual(how, { kind: 'limit', limit: 'outputBytes' });
    assert.ok(stdout.length <= 1024 * 1024);
  });

  attempt('37: output that another process holds open does not keep the call open', async (gate) => {
    const { how, stdout } = await gate.shell('echo said; (sleep 60; echo late) & exit 5');
    assert.deepEqual(how, { kind: 'exited', code: 5 });
    assert.equal(stdout, 'said\n');
  });
});

describe('35: when the daemon is killed', () => {
  for (const [name, daemon, user] of gateKinds) {
    test(`under ${name} nothing of its programs is left running`, async () => {
      const gate = await Gate.open(daemon, user);
      const mark = `orphan-${gate.pid}`;
      const started = join(gate.workspace, 'started');
      void gate.shell(
        `perl -e "${forkTwice(mark).replaceAll('$', '\\$')}"; touch started; exec perl -e '$0 = "${mark}"; sleep 60'`,
      );
      await waitUntil(() => existsSync(started) && findMarked(mark).length > 0);
      assert.notDeepEqual(findMarked(mark), []);
      await gate.kill();
      await waitUntil(() => findMarked(mark).length === 0);
      assert.deepEqual(findMarked(mark), []);
      await gate.close();
    });
  }
});
