import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDisk } from './root.ts';
import type { DebianCopy } from './root.ts';

const kernel = '/usr/bin/linux.uml';
const patienceMs = 15 * 60_000;

/**
 * Starts the copy as a machine of its own, with Debian's kernel that runs as a program (the package user-mode-linux),
 * and with its real systemd. It has no network but loopback. Runs the script there as root and returns what it printed;
 * throws when the script failed.
 */
export async function bootAndRun(copy: DebianCopy, script: string): Promise<string> {
  if (!existsSync(kernel)) throw new Error(`${kernel} is missing: apt-get install user-mode-linux`);
  const shared = join(copy.folder, 'shared');
  mkdirSync(shared, { recursive: true, mode: 0o755 });
  writeFileSync(join(shared, 'script'), script);
  const log = join(shared, 'log');
  rmSync(log, { force: true });
  const units = join(copy.folder, 'upper/etc/systemd/system');
  mkdirSync(join(units, 'multi-user.target.wants'), { recursive: true });
  const run = `mkdir -p /shared && mount -t hostfs none /shared -o ${shared} && ip link set lo up
    /bin/sh -e /shared/script > /shared/log 2>&1 < /dev/null; echo "ended: $?" >> /shared/log; systemctl poweroff`;
  writeFileSync(join(copy.folder, 'upper/etc/run-script'), run);
  writeFileSync(
    join(units, 'run-script.service'),
    '[Unit]\nAfter=dbus.service systemd-logind.service\n[Service]\nExecStart=/bin/sh /etc/run-script\n',
  );
  const wanted = join(units, 'multi-user.target.wants/run-script.service');
  if (!existsSync(wanted)) symlinkSync('../run-script.service', wanted);
  const disk = join(copy.folder, 'disk');
  writeDisk(copy, disk);
  const machine = [
    'mem=1536M',
    `ubd0=${disk}`,
    'root=/dev/ubda',
    'rw',
    'con=null',
    'con0=null',
    'console=null',
    'quiet',
  ];
  const child = spawn(kernel, machine, { stdio: 'ignore', timeout: patienceMs, killSignal: 'SIGKILL' });
  await new Promise((resolve) => child.once('close', resolve));
  rmSync(disk, { force: true });
  const printed = existsSync(log) ? readFileSync(log, 'utf8') : 'The machine did not start.';
  if (!printed.endsWith('ended: 0\n')) throw new Error(printed);
  return printed;
}
