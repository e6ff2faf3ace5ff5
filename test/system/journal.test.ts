import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { systemLogs } from '../../packages/gateway/src/catalogue/system/system-logs.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { requirement } from '../requirement.ts';
import { SandboxedWorkspace } from '../shell/sandboxed-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

/** A journal of its own, written by the real service in a mount namespace and copied to `$1`. */
const writeJournal = `set -e
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mkdir -p /run/systemd/journal /run/log/journal
[ -s /etc/machine-id ] || { echo 0123456789abcdef0123456789abcdef >/run/id; touch /etc/machine-id; mount --bind /run/id /etc/machine-id; }
/usr/lib/systemd/systemd-journald 2>/dev/null & service=$!
until [ -S /run/systemd/journal/stdout ]; do sleep 0.05; done
echo 'the disk is nearly full' | systemd-cat -t storage -p warning
echo 'all is well' | systemd-cat -t storage -p info
echo 'somebody came in' | systemd-cat -t sshd -p notice
count() { journalctl -q -D /run/log/journal -o cat -t storage -t sshd | wc -l; }
until [ "$(count)" -ge 3 ]; do sleep 0.05; done
kill $service; wait $service || true
cp -r /run/log/journal "$1"`;

test(
  'the journal is read in the sandbox, by program and priority',
  { skip: process.getuid?.() !== 0 && 'a journal of its own needs mounts' },
  async () => {
    requirement('CAT-3');
    using workspace = new SandboxedWorkspace(programs);
    const command = [
      '--mount',
      '--propagation',
      'private',
      'bash',
      '-c',
      writeJournal,
      'bash',
      workspace.at('journal'),
    ];
    execFileSync('/usr/bin/unshare', command, { timeout: 60_000 });
    execFileSync('chmod', ['-R', 'a+rX', workspace.at('journal')]);
    workspace.giveAway();
    const tool = systemLogs({ journal: [workspace.at('journal')], syslog: [], macos: [] });
    const read = async (args: JsonObject) => {
      const { entries } = (await workspace.call(tool, args)) as { entries: JsonObject[] };
      return entries.map(({ message, priority, program }) => [program, priority, message]);
    };
    assert.deepEqual(await read({ program: 'storage' }), [
      ['storage', 'warning', 'the disk is nearly full'],
      ['storage', 'info', 'all is well'],
    ]);
    assert.deepEqual(await read({ program: 'storage', priority: 'warning' }), [
      ['storage', 'warning', 'the disk is nearly full'],
    ]);
    assert.deepEqual(await read({ contains: 'CAME IN' }), [['sshd', 'notice', 'somebody came in']]);
    for (const name of readdirSync(workspace.at('journal'), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.journal')) continue;
      chmodSync(workspace.at('journal', name), 0o600);
      chownSync(workspace.at('journal', name), 0, 0);
    }
    const closed = workspace.call(tool, { program: 'storage' });
    await assert.rejects(closed, endsWith('EXECUTION_ERROR', /could not be read/));
  },
);
