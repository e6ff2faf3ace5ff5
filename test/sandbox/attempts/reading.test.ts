import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { requirement } from '../../requirement.ts';
import type { Gate } from '../gate.ts';
import { describeAttempts } from '../gate.ts';

/** Tries each command and returns what was printed; none of it may hold the secret. */
async function tryEach(gate: Gate, commands: readonly string[]): Promise<string> {
  const { stdout, stderr, how } = await gate.shell(commands.map((command) => `{ ${command}; }`).join('\n'));
  assert.notEqual(how.kind, 'refused', JSON.stringify(how));
  assert.ok(!stdout.includes(gate.secret), stdout);
  return stdout + stderr;
}

function assertUntouched(gate: Gate): void {
  assert.deepEqual(readdirSync(gate.outside), ['secret.txt']);
  assert.equal(readFileSync(gate.secretFile, 'utf8'), gate.secret);
}

/** Two names change places every few milliseconds: what was a folder is a link, and a folder again. */
const exchangeForEver = `my ($a, $b) = @ARGV; my $exchange = 2; while (1) {
  syscall(${process.arch === 'arm64' ? 276 : 316}, -100, $a, -100, $b, $exchange); select(undef, undef, undef, rand 0.004) }`;

describeAttempts((attempt) => {
  attempt('a program that may see a file sees it, so that the other attempts mean something', async (gate) => {
    requirement('EXEC-1');
    const mounts = [{ source: gate.outside, target: gate.outside, access: 'read' as const }];
    const { stdout } = await gate.shell(`cat ${gate.secretFile}`, { mounts, workingDirectory: '/tmp' });
    assert.equal(stdout, gate.secret);
  });

  attempt('1: passwords, keys and the files of the daemon are not there', async (gate) => {
    requirement('EXEC-1');
    const printed = await tryEach(gate, [
      'cat /etc/shadow',
      'cat /root/.ssh/id_ed25519',
      'ls -A /root',
      'ls -A /home',
      'ls -A /var',
      'ls -A /run',
      `cat ${gate.secretFile}`,
      `ls -A ${gate.folder}`,
      'find / -xdev -name secret.txt -print 2>/dev/null',
    ]);
    assert.equal(printed.match(/No such file or directory/g)?.length, 7);
    assert.match(printed, /^work$/m, 'of the folder around the workspace only the way to the workspace is there');
  });

  attempt('2: climbing with ".." ends in the root of the sandbox', async (gate) => {
    const printed = await tryEach(gate, [
      'cat ../outside/secret.txt',
      `cat ${gate.workspace}/../outside/secret.txt`,
      'cat ../../../../../../../../etc/shadow',
      'mkdir -p gone/inner && cd gone/inner && rm -r ../../gone && cat ../../outside/secret.txt',
    ]);
    assert.equal(printed.match(/No such file or directory/g)?.length, 4);
  });

  attempt('3: links that lead out lead nowhere, absolute and relative, old and new', async (gate) => {
    symlinkSync(gate.secretFile, join(gate.workspace, 'old-absolute'));
    symlinkSync('../outside', join(gate.workspace, 'old-relative'));
    const printed = await tryEach(gate, [
      'cat old-absolute',
      'cat old-relative/secret.txt',
      `ln -s ${gate.outside} new-absolute && cat new-absolute/secret.txt`,
      'ln -s ../../../../../../etc/shadow new-relative && cat new-relative',
    ]);
    assert.equal(printed.match(/No such file or directory/g)?.length, 4);
  });

  attempt('4: /proc leads to no other root', async (gate) => {
    const printed = await tryEach(gate, [
      `cat /proc/self/root${gate.secretFile}`,
      `cat /proc/1/root${gate.secretFile}`,
      `cat /proc/1/cwd/${gate.secretFile}`,
      `cat /proc/self/task/1/root${gate.secretFile}`,
      'for fd in /proc/*/fd/*; do cat "$fd/../../outside/secret.txt"; done 2>&1 </dev/null | sort -u | head -3',
      'cat /proc/1/root/etc/shadow',
    ]);
    assert.doesNotMatch(printed, /root:/);
  });

  attempt(
    '5: a folder exchanged with a link while it is being mounted never shows what the link leads to',
    async (gate) => {
      const folder = gate.makeFolder(join(gate.workspace, 'exchanged'));
      gate.put(join(folder, 'file.txt'), 'harmless');
      const link = join(gate.workspace, 'link');
      symlinkSync(gate.outside, link);
      const exchanging = spawn('/usr/bin/perl', ['-e', exchangeForEver, folder, link], { stdio: 'ignore' });
      const mounts = [{ source: folder, target: '/tmp/shown', access: 'write' as const }];
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => gate.shell('cat *; ls -A', { mounts, workingDirectory: '/tmp/shown' })),
      ).finally(() => exchanging.kill('SIGKILL'));
      await once(exchanging, 'exit');
      for (const { stdout } of answers) assert.ok('harmlessfile.txt\n'.startsWith(stdout), stdout);
      assertUntouched(gate);
    },
  );

  attempt('6: truncation through a link touches nothing outside', async (gate) => {
    await tryEach(gate, [
      `ln -sf ${gate.secretFile} to-truncate`,
      ': > to-truncate',
      'truncate -s 0 to-truncate',
      `perl -e 'open(F, ">", "to-truncate")'`,
    ]);
    assertUntouched(gate);
  });

  attempt('7: a hard link to something outside of the workspace cannot be made', async (gate) => {
    gate.put(join(gate.workspace, '.git/config'), 'untouched');
    const frozen = [join(gate.workspace, '.git')];
    const { stdout, stderr } = await gate.shell(
      'ln /usr/bin/env env; ln /etc/passwd passwd; ln .git/config config; ln /proc/self/exe exe; ls -A',
      { mounts: [{ ...gate.mount, frozen }] },
    );
    for (const name of ['env', 'passwd', 'config', 'exe']) assert.doesNotMatch(stdout, new RegExp(`^${name}$`, 'm'));
    assert.equal(stderr.match(/failed to create hard link/g)?.length, 4, stderr);
    assert.equal(lstatSync(join(gate.workspace, '.git/config')).nlink, 1);
  });

  attempt('8: a pipe is shown to no program, and as a forbidden path it does not hang the launch', async (gate) => {
    await gate.shell('mkfifo pipe');
    const pipe = join(gate.workspace, 'pipe');
    const asMount = await gate.shell('true', { mounts: [{ source: pipe, target: '/tmp/pipe', access: 'read' }] });
    assert.match(asMount.how.message ?? '', /is a device, pipe or socket/);
    for (const way of ['hidden', 'frozen'] as const) {
      const { how } = await gate.shell('true', { mounts: [{ ...gate.mount, [way]: [pipe] }] });
      assert.deepEqual(how, { kind: 'exited', code: 0 }, way);
    }
    const { how } = await gate.run({ program: { argv: ['/bin/cat', pipe] }, timeoutMs: 300 });
    assert.equal(how.kind, 'aborted', 'a program that waits for a pipe is ended like any other');
  });

  attempt('9: a NUL cannot smuggle an argument into the sandbox', async (gate) => {
    const smuggled = `x\0--bind\0${gate.outside}\0${gate.outside}`;
    const tries = [
      gate.shell('true', { environment: { A: smuggled } }),
      gate.shell('true', { environment: { [smuggled]: 'x' } }),
      gate.shell('true', { environment: { 'A=B': 'x' } }),
      gate.shell(smuggled),
      gate.shell('true', { workingDirectory: `/tmp\0--dev-bind\0/\0/` }),
      gate.shell('true', { mounts: [{ source: `${gate.workspace}\0x`, target: '/tmp/x', access: 'read' }] }),
      gate.shell('true', { mounts: [{ source: gate.workspace, target: '/tmp/x\0--bind\0/\0/', access: 'read' }] }),
    ];
    for (const { how } of await Promise.all(tries)) assert.equal(how.kind, 'refused');
  });

  attempt('forbidden files and folders are empty, and stay so whatever the program does', async (gate) => {
    const file = gate.put(join(gate.workspace, 'deep/er/.env'), gate.secret, 0o600);
    const folder = join(gate.workspace, 'keys');
    gate.put(join(folder, 'id'), gate.secret, 0o600);
    const { stdout, stderr } = await gate.shell(
      `cat deep/er/.env; ls -A keys; cat keys/id; mv deep moved; mv deep/er moved; mv deep/er/.env moved; rm -f deep/er/.env
      umount keys; umount deep/er/.env; mv keys moved; rm -rf keys; echo x > keys/new; cp deep/er/.env copy; chmod 777 keys
      ln deep/er/.env link; grep -rs secret- . ; cat copy`,
      { mounts: [{ ...gate.mount, hidden: [file, folder] }] },
    );
    assert.equal(stdout, '');
    assert.match(stderr, /mv: cannot move 'deep' to 'moved': Device or resource busy/);
    assert.match(stderr, /mv: cannot move 'keys' to 'moved.keys': Device or resource busy/);
    assert.equal(readFileSync(file, 'utf8'), gate.secret);
    assert.deepEqual(readdirSync(folder), ['id']);
    assert.ok(lstatSync(join(gate.workspace, 'deep/er')).isDirectory());
  });

  attempt('a forbidden path that is a link, or lies behind one, refuses the program', async (gate) => {
    requirement('EXEC-7');
    symlinkSync('elsewhere', join(gate.workspace, 'linked'));
    for (const path of ['linked', 'linked/deeper']) {
      const { how } = await gate.shell('true', { mounts: [{ ...gate.mount, hidden: [join(gate.workspace, path)] }] });
      assert.match(how.message ?? '', /^SANDBOX_UNAVAILABLE: .*symbolic link/);
    }
  });

  attempt('a forbidden path stays forbidden when the same folder is shown a second time elsewhere', async (gate) => {
    const file = gate.put(join(gate.workspace, 'twice.env'), gate.secret);
    const { stdout } = await gate.shell('cat /tmp/again/twice.env twice.env', {
      mounts: [
        { ...gate.mount, hidden: [file] },
        { source: gate.workspace, target: '/tmp/again', access: 'read' },
      ],
    });
    assert.equal(stdout, '');
  });

  attempt('a hard link that was made outside of the sandbox is an ordinary file of the workspace', async (gate) => {
    // Nothing tells it from other files: its author could have copied the content as well.
    const original = gate.put(join(gate.folder, 'shared.txt'), 'shared');
    linkSync(original, join(gate.workspace, 'shared.txt'));
    const { stdout } = await gate.shell('cat shared.txt');
    assert.equal(stdout, 'shared');
  });
});
