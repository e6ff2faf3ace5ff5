import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root as checkout } from '../../../scripts/workspace.ts';

const kept = join(checkout, 'node_modules/.cache/debian-12');
/** What `docs/install.md` tells people to install, and what a service needs. Nothing else is there. */
const packages = [
  ...['nodejs', 'npm', 'bubblewrap', 'libatomic1', 'git', 'ca-certificates'],
  ...['sudo', 'systemd', 'systemd-sysv', 'dbus', 'dbus-user-session', 'libpam-systemd', 'procps', 'iproute2'],
];

/** The files of a fresh Debian 12 with two ordinary users, ada and bob. Made once, which takes minutes, and kept. */
export function openFreshDebian(): string {
  if (existsSync(kept)) return kept;
  process.stdout.write('Making a fresh Debian with debootstrap (once, some minutes)…\n');
  const made = `${kept}.new`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const options = ['--variant=minbase', `--include=${packages.join(',')}`, '--merged-usr'];
  execFileSync('debootstrap', [...options, 'bookworm', made, 'http://deb.debian.org/debian'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of ['ada', 'bob']) {
    execFileSync('chroot', [made, 'useradd', '--create-home', '--shell', '/bin/bash', name]);
  }
  renameSync(made, kept);
  return kept;
}

export interface DebianCopy {
  /** Holds the changes; a temporary folder. */
  readonly folder: string;
  readonly debian: string;
}

/** What mounts the copy at "$M", for a shell in a mount namespace of its own. */
function mountCopy({ folder, debian }: DebianCopy): string {
  const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => join(folder, name));
  for (const path of [upper, work, merged]) mkdirSync(path ?? '', { recursive: true });
  return `set -e; mount --make-rprivate /; M='${merged}'
    mount -t overlay overlay -o 'lowerdir=${debian},upperdir=${upper},workdir=${work}' "$M"`;
}

/**
 * Runs a script inside, as a user of it, with nothing else of this machine but its network. It is the only process that
 * is left running: what it started ends with it.
 */
export function runInside(
  copy: DebianCopy,
  user: 'ada' | 'root',
  script: string,
  env: Readonly<Record<string, string>>,
): string {
  const enter = `${mountCopy(copy)}
    mount -t proc proc "$M/proc"; mount --rbind /dev "$M/dev"; mount -t tmpfs tmpfs "$M/run"; mount -t tmpfs tmpfs "$M/tmp"
    cp /etc/resolv.conf "$M/etc/resolv.conf"; cp /etc/hosts "$M/etc/hosts"
    cd "$M"; mkdir -p .machine; pivot_root . .machine; cd /; umount -l /.machine; rmdir /.machine
    exec "$@"`;
  // A chroot would not do: the kernel lets nobody make user namespaces in one.
  const become = user === 'root' ? [] : ['setpriv', '--reuid', user, '--regid', user, '--init-groups'];
  const command = [...become, '/bin/sh', '-e', '-c', script];
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-c', enter, 'sh', ...command],
    { env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env }, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`It ended with ${status}.\n${stdout}\n${stderr}`);
  return stdout;
}

/** Writes the copy into a file that a machine can start from. */
export function writeDisk(copy: DebianCopy, file: string): void {
  execFileSync('truncate', ['--size=4G', file]);
  const fill = `${mountCopy(copy)}; exec mkfs.ext4 -q -d "$M" '${file}'`;
  execFileSync('unshare', ['--mount', '/bin/sh', '-c', fill], { stdio: ['ignore', 'ignore', 'inherit'] });
}
