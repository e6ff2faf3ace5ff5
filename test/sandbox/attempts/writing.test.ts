import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate } from '../gate.ts';
import { describeAttempts } from '../gate.ts';
import { assertAllFail, tryCalls } from '../try-calls.ts';

/** Where bubblewrap keeps the machine's root while it builds a sandbox. */
const duringSetup = '/oldroot';

function assertNothingCreated(gate: Gate): void {
  assert.deepEqual(readdirSync(gate.outside), ['secret.txt']);
  assert.equal(readFileSync(gate.secretFile, 'utf8'), gate.secret);
}

describeAttempts((attempt) => {
  attempt('what a program writes to its workspace stays, so that the other attempts mean something', async (gate) => {
    const { how } = await gate.shell('mkdir -p made && echo kept > made/file && chmod 750 made');
    assert.deepEqual(how, { kind: 'exited', code: 0 });
    assert.equal(readFileSync(join(gate.workspace, 'made/file'), 'utf8'), 'kept\n');
    assert.equal(lstatSync(join(gate.workspace, 'made/file')).uid, gate.user.uid);
  });

  attempt(
    '10: a link where something is to be mounted makes bubblewrap create nothing on the machine',
    async (gate) => {
      const tries = [
        ['file', join(gate.outside, 'created')],
        ['folder', join(gate.outside, 'made/deeper')],
        ['existing', gate.outside],
      ] as const;
      for (const [name, target] of tries) {
        const link = join(gate.workspace, `link-to-${name}`);
        symlinkSync(duringSetup + target, link);
        for (const way of ['hidden', 'frozen'] as const) {
          for (const path of [link, join(link, 'inside')]) {
            const { how } = await gate.shell('true', { mounts: [{ ...gate.mount, [way]: [path] }] });
            assert.equal(how.kind, 'refused', `${way} ${path}`);
          }
        }
        const inside = [gate.mount, { source: gate.outside, target: join(link, 'x'), access: 'read' as const }];
        assert.equal((await gate.shell('true', { mounts: inside })).how.kind, 'refused');
      }
      assertNothingCreated(gate);
    },
  );

  attempt(
    '10: a program that exchanges a folder for a link runs alone while something is mounted there',
    async (gate) => {
      const folder = gate.makeFolder(join(gate.workspace, 'contested'));
      const file = gate.put(join(folder, '.env'), gate.secret);
      const started = join(gate.workspace, 'started');
      // It sees the folder without anything mounted in it, so it could exchange it at any moment, or take it away.
      const attacker = gate.run({
        program: {
          argv: [
            '/usr/bin/perl',
            '-e',
            `open(F, ">", "started"); close F; my $end = time + 2; sub pause { select(undef, undef, undef, 0.002) }
          while (time < $end) { rename("contested", "aside"); symlink("${duringSetup}${gate.outside}/made", "contested");
            unlink("contested"); pause(); rename("aside", "contested"); pause(); }`,
          ],
        },
      });
      while (lstatSync(started, { throwIfNoEntry: false }) === undefined)
        await new Promise((next) => setTimeout(next, 10));
      const victims = await Promise.all(
        Array.from({ length: 5 }, () =>
          gate.shell('cat contested/.env', { mounts: [{ ...gate.mount, hidden: [file] }] }),
        ),
      );
      assert.deepEqual((await attacker).how, { kind: 'exited', code: 0 });
      for (const { how, stdout } of victims) {
        assert.equal(stdout, '');
        // It ran after the other, or was refused because of what the other had just put there.
        assert.ok(how.kind === 'refused' || how.code === 1, JSON.stringify(how));
      }
      assertNothingCreated(gate);
    },
  );

  attempt('11: .git cannot be changed, moved away or replaced, nor can the folder it lies in', async (gate) => {
    const git = join(gate.workspace, 'project/.git');
    gate.put(join(git, 'config'), 'untouched');
    gate.makeFolder(join(git, 'hooks'));
    const { stderr, how } = await gate.shell(
      `cd project
      echo evil > .git/hooks/pre-commit; echo evil > .git/config; echo evil > .git/new; rm .git/config
      chmod 777 .git; touch .git/config; mv .git x; rm -rf .git; umount .git; cd ..
      mv project elsewhere; mkdir project/.git; rmdir project
      mkdir other; perl -e '@a = (316, -100, "project", -100, "other", 2); syscall($a[0], @a[1 .. 5])'; echo free > project/file; echo free > .gitignore`,
      { mounts: [{ ...gate.mount, frozen: [git] }] },
    );
    assert.deepEqual(how, { kind: 'exited', code: 0 }, 'around it the program writes as it likes');
    assert.match(stderr, /cannot move '\.git' to 'x': Device or resource busy/);
    assert.match(stderr, /cannot move 'project' to 'elsewhere': Device or resource busy/);
    assert.deepEqual(readdirSync(git).sort(), ['config', 'hooks']);
    assert.deepEqual(readdirSync(join(git, 'hooks')), []);
    assert.equal(readFileSync(join(git, 'config'), 'utf8'), 'untouched');
    assert.equal(readFileSync(join(gate.workspace, 'project/file'), 'utf8'), 'free\n');
  });

  attempt('12: the system, the root folder and read-only folders cannot be written', async (gate) => {
    const tools = gate.makeFolder(join(gate.folder, 'tools'));
    gate.put(join(tools, 'tool.sh'), 'untouched', 0o755);
    const mounts = [gate.mount, { source: tools, target: tools, access: 'read' as const }];
    const places = [
      '/usr/bin/x',
      '/x',
      '/etc/x',
      '/etc/passwd',
      '/bin/x',
      '/opt/x',
      '/dev/x',
      '/proc/x',
      '/opt/sallyport/x',
    ];
    const files = [
      ...places,
      join(tools, 'x'),
      join(tools, 'tool.sh'),
      '/opt/sallyport/bin/node',
      '/proc/1/exe',
      '/proc/self/exe',
    ];
    const script = `for file in ${files.join(' ')}; do (echo x > $file) 2>/dev/null && echo "wrote $file"; done
      mkdir /new /usr/new ${tools}/new; rm -f ${tools}/tool.sh; mv ${tools} /tmp/x; chmod 777 ${tools}/tool.sh
      exec 9< ${tools}/tool.sh; echo x > /proc/self/fd/9; touch /`;
    const { stdout, stderr } = await gate.shell(script, { mounts });
    assert.equal(stdout, '');
    assert.match(stderr, /Read-only file system/);
    assert.equal(readFileSync(join(tools, 'tool.sh'), 'utf8'), 'untouched');
    assert.deepEqual(readdirSync(tools), ['tool.sh']);
  });

  attempt('13: temporary folders are small, and nothing else can be filled', async (gate) => {
    const { stdout } = await gate.shell(
      `for place in /dev/shm /tmp / /dev /etc /opt; do
        head -c 200000000 /dev/zero > $place/fill 2>/dev/null; stat -c "%n %s" $place/fill 2>/dev/null; rm -f $place/fill
      done`,
    );
    const sizes = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    assert.deepEqual(
      sizes.map(([name]) => name),
      ['/dev/shm/fill', '/tmp/fill'],
    );
    assert.ok(Number(sizes[0]?.[1]) <= 16 * 1024 * 1024);
    assert.ok(Number(sizes[1]?.[1]) <= 64 * 1024 * 1024);
  });

  attempt('14: a file that gives its owner’s rights to others cannot be made', async (gate) => {
    gate.put(join(gate.workspace, 'tool'), 'x', 0o755);
    const [open, creating] = [process.arch === 'arm64' ? [] : [['open', '"new"', 0o101, 0o4755] as const], 0o101];
    await assertAllFail(
      gate,
      'EPERM',
      [
        ['chmod', '"tool"', 0o4755],
        ['chmod', '"tool"', 0o2755],
        ['fchmod', 'fileno(F)', 0o6755],
        ['fchmodat', -100, '"tool"', 0o4755],
        ['fchmodat2', -100, '"tool"', 0o4755, 0],
        ['creat', '"new"', 0o4755],
        ['openat', -100, '"new"', creating, 0o4755],
        ['openat', -100, '"."', 0o20200001, 0o4755],
        ['mkdir', '"new"', 0o4755],
        ['mkdirat', -100, '"new"', 0o2755],
        ['mknod', '"new"', 0o104755, 0],
        ['mknodat', -100, '"new"', 0o104755, 0],
        ...open,
      ],
      { prepare: 'open(F, "<", "tool");' },
    );
    assert.deepEqual(await tryCalls(gate, [['openat2', -100, '"new"', '"\\0" x 24', 24]]), ['ENOSYS']);
    assert.equal(lstatSync(join(gate.workspace, 'tool')).mode & 0o7777, 0o755);
    assert.equal(lstatSync(join(gate.workspace, 'new'), { throwIfNoEntry: false }), undefined);
  });

  attempt('14: programs of the system that give rights give none', async (gate) => {
    const { stdout } = await gate.shell(
      `find /usr/bin /usr/sbin -perm -4000 -type f 2>/dev/null | head -1
      grep -E "NoNewPrivs|CapBnd" /proc/self/status; su -c id 2>/dev/null; mount -t tmpfs x /tmp 2>/dev/null && echo mounted`,
    );
    assert.match(stdout, /NoNewPrivs:\s+1\n/);
    assert.match(stdout, /CapBnd:\s+0+\n/);
    assert.doesNotMatch(stdout, /uid=0|mounted/);
  });

  attempt('15: devices cannot be made, pipes can', async (gate) => {
    await assertAllFail(gate, 'EPERM', [
      ['mknodat', -100, '"memory"', 0o020666, 0x101],
      ['mknodat', -100, '"disk"', 0o060666, 0x800],
      ['mknod', '"memory"', 0o020666, 0x101],
      ['mknod', '"/tmp/disk"', 0o060666, 0x800],
    ]);
    assert.deepEqual(await tryCalls(gate, [['mknodat', -100, '"a-pipe"', 0o010666, 0]]), ['OK']);
  });

  attempt('devices of the machine keep their permissions', async (gate) => {
    const before = lstatSync('/dev/null').mode;
    const { stderr } = await gate.shell('chmod 000 /dev/null; chown 65534 /dev/null; rm -f /dev/null');
    assert.match(stderr, /Operation not permitted/);
    assert.equal(lstatSync('/dev/null').mode, before);
  });

  attempt('a mount where the sandbox has something of its own is refused', async (gate) => {
    for (const target of [
      '/',
      '/proc',
      '/proc/sys',
      '/dev/shm',
      '/sys',
      '/etc',
      '/etc/passwd',
      '/opt',
      '/bin/x',
      '/usr/x',
    ]) {
      for (const access of ['read', 'write'] as const) {
        const { how } = await gate.shell('true', { mounts: [{ source: gate.workspace, target, access }] });
        assert.match(how.message ?? '', /^SANDBOX_UNAVAILABLE: /, target);
      }
    }
  });

  attempt('a folder inside another one can be writable, and the rest of it cannot', async (gate) => {
    const outer = gate.makeFolder(join(gate.folder, 'outer'));
    const inner = gate.makeFolder(join(outer, 'inner'));
    const { stderr } = await gate.shell(`echo x > ${inner}/file; echo x > ${outer}/file; mv ${inner} ${outer}/moved`, {
      mounts: [
        { source: inner, target: inner, access: 'write' },
        { source: outer, target: outer, access: 'read' },
      ],
      workingDirectory: inner,
    });
    assert.equal(stderr.match(/Read-only file system|Device or resource busy/g)?.length, 2, stderr);
    assert.deepEqual(readdirSync(outer), ['inner']);
    assert.deepEqual(readdirSync(inner), ['file']);
  });

  attempt('places below /tmp and beside the workspace can be shown', async (gate) => {
    const extra = gate.put(join(gate.folder, 'extra/data.txt'), 'data');
    const { stdout, how } = await gate.shell('cat /tmp/a/b/data.txt /srv/data.txt /etc/extra/data.txt', {
      mounts: [
        { source: join(gate.folder, 'extra'), target: '/tmp/a/b', access: 'write' },
        { source: extra, target: '/srv/data.txt', access: 'read' },
        { source: join(gate.folder, 'extra'), target: '/etc/extra', access: 'read' },
      ],
      workingDirectory: '/tmp',
    });
    assert.equal(stdout, 'datadatadata', JSON.stringify(how));
  });

  if (process.getuid?.() === 0) {
    attempt(
      'a folder that the user of the sandbox cannot change is refused, with what to do',
      async (gate, context) => {
        const folder = join(gate.folder, 'of-root');
        mkdirSync(folder, { mode: 0o755 });
        const mounts = [{ source: folder, target: folder, access: 'write' as const }];
        const { how, remedy } = await gate.shell('true', { mounts, workingDirectory: folder });
        rmSync(folder, { recursive: true });
        if (gate.user.uid === 54_321) {
          context.diagnostic('the daemon is not root, so that the program simply may not write');
          assert.equal(how.kind, 'exited');
        } else {
          assert.match(how.message ?? '', /^SANDBOX_UNAVAILABLE: .* cannot write to /);
          assert.match(remedy ?? '', /chown -R 65530:65530 '/);
        }
      },
    );
  }

  attempt('a mount source that vanished or moved is refused', async (gate) => {
    const folder = gate.makeFolder(join(gate.folder, 'moving'));
    renameSync(folder, `${folder}-away`);
    symlinkSync(`${folder}-away`, folder);
    const asLink = await gate.shell('true', { mounts: [{ source: folder, target: folder, access: 'read' }] });
    assert.match(asLink.how.message ?? '', /symbolic link/);
    rmSync(folder);
    const gone = await gate.shell('true', { mounts: [{ source: folder, target: folder, access: 'read' }] });
    assert.match(gone.how.message ?? '', /does not exist/);
  });
});
