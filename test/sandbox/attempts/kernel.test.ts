import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAttempts } from '../gate.ts';
import { makeExecutable } from '../make-executable.ts';
import { assertAllFail, tryCalls } from '../try-calls.ts';
import { requirement } from '../../requirement.ts';

const newUser = 0x1000_0000;
const allNamespaces = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, newUser, 0x2000_0000, 0x4000_0000];

describeAttempts((attempt) => {
  attempt('16: settings of the kernel cannot be written', async (gate) => {
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    const { stdout, stderr } = await gate.shell(
      `for file in kernel/core_pattern kernel/modprobe kernel/hostname vm/overcommit_memory user/max_user_namespaces \
        net/ipv4/ip_forward fs/protected_symlinks; do (echo "|/tmp/x" > /proc/sys/$file) && echo "wrote $file"; done
      (echo 1 > /proc/self/loginuid) && echo wrote loginuid; mount -o remount,rw /proc/sys && echo remounted`,
    );
    assert.equal(stdout, '');
    assert.match(stderr, /core_pattern: Read-only file system/, 'not only because of whom the file belongs to');
    assert.equal(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'), before);
  });

  attempt('17: the keys, the memory and the log of the kernel are closed', async (gate) => {
    const { stdout } = await gate.shell(
      `(echo h > /proc/sysrq-trigger) 2>/dev/null && echo sysrq
      head -c 16 /proc/kcore 2>/dev/null && echo kcore; head -c 1 /dev/kmsg 2>/dev/null && echo kmsg
      head -c 1 /proc/kmsg 2>/dev/null && echo log; dmesg 2>/dev/null && echo dmesg; head -c 1 /dev/mem 2>/dev/null && echo mem
      ls -A /sys 2>/dev/null && echo sys; head -c 1 /proc/kpagecount 2>/dev/null && echo pages; ls /dev`,
    );
    assert.deepEqual(
      stdout.trim().split('\n'),
      'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero'.split(' '),
    );
    await assertAllFail(gate, 'EPERM', [['syslog', 10, 0, 0]]);
  });

  attempt('18: nothing can be mounted, moved, unmounted or made the root', async (gate) => {
    await assertAllFail(gate, 'EPERM', [
      ['mount', '"none"', '"/tmp"', '"tmpfs"', 0, 0],
      ['mount', '"/usr"', '"/tmp"', '""', 4096, 0],
      ['mount', '""', '"/usr"', '""', 32 | 4096, 0],
      ['mount', '""', '"/"', '""', 32, 0],
      ['umount2', '"/proc/sys"', 2],
      ['umount2', '"/tmp"', 0],
      ['pivot_root', '"."', '"."'],
      ['chroot', '"."'],
      ['open_tree', -100, '"/usr"', 1],
      ['move_mount', 3, '""', -100, '"/tmp"', 4],
      ['fsopen', '"tmpfs"', 0],
      ['fsconfig', 3, 6, 0, 0, 0],
      ['fsmount', 3, 0, 0],
      ['fspick', -100, '"/usr"', 0],
      ['mount_setattr', -100, '"/usr"', 0, '"\\0" x 32', 32],
    ]);
  });

  attempt('19: no new namespaces, in any of the three ways', async (gate) => {
    requirement('EXEC-1');
    await assertAllFail(
      gate,
      'EPERM',
      allNamespaces.flatMap((flag) => [
        ['unshare', flag],
        ['clone', flag | 17, 0, 0, 0, 0],
      ]),
    );
    const { stdout } = await gate.shell('cat /proc/sys/user/max_user_namespaces; unshare -Ur id');
    assert.doesNotMatch(stdout, /uid=0/);
    const results = await tryCalls(gate, [['clone3', `pack('Q11', ${newUser}, 0, 0, 0, 17)`, 88]]);
    assert.deepEqual(results, ['ENOSYS']);
  });

  attempt('20: no namespace of another process can be entered', async (gate) => {
    await assertAllFail(
      gate,
      'EPERM',
      ['user', 'mnt', 'net', 'pid', 'ipc', 'uts'].map((name) => ['setns', `fileno($open{${name}})`, 0] as const),
      {
        prepare:
          'for (qw(user mnt net pid ipc uts)) { open($open{$_}, "<", "/proc/1/ns/$_") or open($open{$_}, "<", "/proc/self/ns/$_") }',
      },
    );
  });

  attempt('21: no file is opened by its handle', async (gate) => {
    const handle = `pack('LlLLL', 8, 1, 2, 0, 0)`;
    await assertAllFail(
      gate,
      'EPERM',
      [
        ['open_by_handle_at', 'fileno(F)', handle, 0],
        ['name_to_handle_at', -100, '"/usr"', handle, '"\\0" x 8', 0],
      ],
      { prepare: 'open(F, "<", "/usr");' },
    );
  });

  attempt(
    '22: process 1 cannot be traced, written or killed, and the exit of the program still counts',
    async (gate) => {
      const [attach, seize] = [16, 0x4206];
      await assertAllFail(gate, 'EPERM', [
        ['ptrace', attach, 1, 0, 0],
        ['ptrace', seize, 1, 0, 0],
        ['process_vm_writev', 1, 0, 0, 0, 0, 0],
        ['process_vm_readv', 1, 0, 0, 0, 0, 0],
        ['pidfd_getfd', 3, 0, 0],
        ['kcmp', 1, 2, 0, 0, 0],
      ]);
      const { how, stdout } = await gate.shell(
        `(echo x > /proc/1/mem) 2>/dev/null && echo wrote; for signal in KILL STOP TERM SEGV INT; do kill -$signal 1; done
      (: > /proc/1/oom_score_adj) 2>/dev/null; exit 7`,
      );
      assert.deepEqual(how, { kind: 'exited', code: 7 });
      assert.equal(stdout, '');
    },
  );

  attempt('23: neither the environment nor the arguments of the sandbox tell a secret', async (gate) => {
    const environment = { OWN_TOKEN: 'of-this-program' };
    const { stdout } = await gate.shell(
      `cat /proc/1/environ; for file in /proc/1/cmdline /proc/1/comm /proc/1/stat; do cat $file; done | tr '\\0' ' '; env`,
      { environment },
    );
    assert.ok(!stdout.includes(gate.secret));
    const [beforeOwn, own] = stdout.split('HOME=/tmp');
    assert.doesNotMatch(beforeOwn ?? '', /of-this-program|SECRET|setenv/);
    assert.match(stdout, /^\S*(?:prlimit|bwrap) /);
    assert.match(own ?? '', /OWN_TOKEN=of-this-program/);
  });

  attempt('the environment is exactly what the program was given', async (gate) => {
    requirement('EXEC-1');
    const { stdout } = await gate.run({ program: { argv: ['/usr/bin/env'], environment: { LANG: 'C', A: 'b c\n' } } });
    assert.deepEqual(stdout.split('\n').sort(), [
      '',
      '',
      'A=b c',
      'HOME=/tmp',
      'LANG=C',
      'PATH=/opt/sallyport/bin:/usr/bin:/bin',
      `PWD=${gate.workspace}`,
    ]);
  });

  attempt('25: io_uring does not exist', async (gate) => {
    await assertAllFail(gate, 'ENOSYS', [
      ['io_uring_setup', 8, '"\\0" x 120'],
      ['io_uring_enter', 3, 0, 0, 0, 0, 0],
      ['io_uring_register', 3, 0, 0, 0],
    ]);
  });

  attempt('26: bpf, perf and userfaultfd are refused', async (gate) => {
    requirement('EXEC-1');
    await assertAllFail(gate, 'EPERM', [
      ['bpf', 0, '"\\0" x 72', 72],
      ['perf_event_open', '"\\0" x 120', 0, -1, -1, 0],
      ['userfaultfd', 1],
      ['fanotify_init', 0, 0],
    ]);
  });

  attempt('27: the keys of the user are out of reach', async (gate) => {
    await assertAllFail(gate, 'EPERM', [
      ['keyctl', 0, -4, 0, 0, 0],
      ['add_key', '"user"', '"name"', '"value"', 5, -4],
      ['request_key', '"user"', '"name"', 0, 0],
    ]);
  });

  attempt('28: system calls of another architecture end the program or do not exist', async (gate) => {
    const getpid = 39;
    assert.deepEqual(await tryCalls(gate, [[0x4000_0000 + getpid], [0x4000_0000 + 521, 0]]), ['ENOSYS', 'ENOSYS']);
    assert.deepEqual(await tryCalls(gate, [[463], [1000], [0x7fff_ffff]]), ['ENOSYS', 'ENOSYS', 'ENOSYS']);
    if (process.arch !== 'x64') return;
    const program = gate.put(join(gate.workspace, 'int80'), makeExecutable({ interrupt: true }), 0o755);
    const plain = gate.put(join(gate.workspace, 'plain'), makeExecutable({ interrupt: false }), 0o755);
    assert.deepEqual((await gate.run({ program: { argv: [plain] } })).how, { kind: 'exited', code: 42 });
    const { how } = await gate.run({ program: { argv: [program] } });
    const badSystemCall = 31;
    assert.deepEqual(how, { kind: 'exited', code: 128 + badSystemCall });
  });

  attempt('32: no characters are typed into a terminal', async (gate) => {
    const [typeIn, paste, setDiscipline] = [0x5412, 0x541c, 0x5423];
    await assertAllFail(
      gate,
      'EPERM',
      [typeIn, paste, setDiscipline].flatMap((request) => [
        ['ioctl', 'fileno(T)', request, '"x"'],
        // The kernel looks at the lower half only, and so must the filter.
        ['ioctl', 'fileno(T)', `${request} | (1 << 32)`, '"x"'],
      ]),
      { prepare: 'open(T, "+<", "/dev/ptmx") or die;' },
    );
    const { stderr } = await gate.shell('echo x > /dev/tty');
    assert.match(stderr, /No such device or address/, 'there is no controlling terminal');
  });

  attempt('nobody becomes root, and no group is gained or dropped', async (gate) => {
    const { stdout } = await gate.shell(
      `perl -e '$< = $> = 0; $( = $) = 0; print "$< $> $( $)\\n"'
      (echo "0 0 1" > /proc/self/uid_map) 2>/dev/null && echo mapped; (echo allow > /proc/self/setgroups) 2>/dev/null && echo allowed
      grep -E '^(Cap|Groups|Uid|Gid)' /proc/self/status`,
    );
    assert.match(stdout, /^65534 65534 65534 65534\n/);
    assert.doesNotMatch(stdout, /mapped|allowed/);
    assert.match(stdout, /CapEff:\s+0{16}\n/);
  });

  attempt('clock, name and protection of addresses stay as they are', async (gate) => {
    await assertAllFail(gate, 'EPERM', [
      ['clock_settime', 0, `pack('qq', 0, 0)`],
      ['settimeofday', `pack('qq', 0, 0)`, 0],
      ['sethostname', '"other"', 5],
      ['personality', 0x004_0000],
      ['reboot', 0, 0, 0, 0],
      ['init_module', '""', 0, '""'],
      ['kexec_load', 0, 0, 0, 0],
      ['swapon', '"/tmp"', 0],
      ['acct', 0],
      ['quotactl', 0, 0, 0, 0],
      ['modify_ldt', 1, '"\\0" x 16', 16],
      ['iopl', 3],
    ]);
    assert.deepEqual(await tryCalls(gate, [['personality', 0xffff_ffff]]), ['OK']);
  });

  attempt('no control group can be seen or left', async (gate) => {
    const { stdout } = await gate.shell('ls /sys/fs/cgroup 2>/dev/null; grep -i cgroup /proc/self/mountinfo');
    assert.equal(stdout, '');
  });

  attempt('shared memory and queues of the machine are others', async (gate) => {
    const key = 0x5a11_0000 + (process.pid & 0xffff);
    const id = Number(execFileSync('/usr/bin/perl', ['-e', `print shmget(${key}, 4096, 01666)`], { encoding: 'utf8' }));
    try {
      const { stdout } = await gate.perl(
        `print defined(shmget(${key}, 4096, 0)) ? "found" : "none", shmread(${id}, $x, 0, 4) ? "read" : "none"`,
      );
      assert.equal(stdout, 'nonenone');
    } finally {
      execFileSync('/usr/bin/perl', ['-e', `shmctl(${id}, 0, 0)`]);
    }
  });

  attempt('a program gets its three standard descriptors and no other', async (gate) => {
    const { stdout } = await gate.perl('opendir(D, "/proc/self/fd"); print join " ", sort grep { /\\d/ } readdir D');
    assert.equal(stdout, '0 1 2 3', 'the fourth is the folder that is being read');
  });

  attempt('the gate’s own Node runs inside, with threads, children and timers', async (gate) => {
    const script = `
      const { execFileSync } = require('node:child_process');
      const { Worker } = require('node:worker_threads');
      const os = require('node:os');
      new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true }).on('message', async () => {
        await require('node:fs/promises').writeFile('written', 'by node');
        require('node:dns').lookup('localhost', (error, address) =>
          console.log(execFileSync('/bin/echo', ['child']).toString().trim(), os.userInfo().username, error ?? address));
      });`;
    const { stdout, stderr } = await gate.run({ program: { argv: ['/opt/sallyport/bin/node', '-e', script] } });
    assert.equal(stdout, 'child sandbox 127.0.0.1\n', stderr);
    assert.equal(readFileSync(join(gate.workspace, 'written'), 'utf8'), 'by node');
  });
});
