import { wholeText } from '../whole-text.ts';
import { readFileSync } from 'node:fs';

interface Explanation {
  readonly usable: false;
  readonly reason: string;
  readonly remedy: string;
}

/** By the `ID` and `ID_LIKE` of os-release. */
const packageManagers: readonly (readonly [pattern: RegExp, install: string, upgrade: string])[] = [
  [/debian|ubuntu/, 'apt-get install bubblewrap', 'apt-get install --only-upgrade bubblewrap'],
  [/fedora|rhel|centos/, 'dnf install bubblewrap', 'dnf upgrade bubblewrap'],
  [/alpine/, 'apk add bubblewrap', 'apk upgrade bubblewrap'],
  [/arch/, 'pacman -S bubblewrap', 'pacman -Syu bubblewrap'],
  [/suse/, 'zypper install bubblewrap', 'zypper update bubblewrap'],
];

/** Settings of the kernel that keep ordinary users from making namespaces: where, the bad value, the cure. */
const obstacles: readonly (readonly [file: string, value: string, remedy: string])[] = [
  ['kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  [
    'kernel/apparmor_restrict_unprivileged_userns',
    '1',
    'AppArmor restricts namespaces here. Give bubblewrap a profile: sudo sallyport service apparmor',
  ],
  ['user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
];

export function installCommand(osRelease = readText('/etc/os-release')): string {
  return findManager(osRelease)?.[1] ?? 'Install bubblewrap with the package manager of this machine.';
}

export function upgradeCommand(osRelease = readText('/etc/os-release')): string {
  return findManager(osRelease)?.[2] ?? 'Upgrade bubblewrap with the package manager of this machine.';
}

/** Explains the message of a sandbox that did not start. `readSetting` takes a path below /proc/sys. */
export function explainFailure(
  said: string,
  readSetting: (file: string) => string = (file) => readText(`/proc/sys/${file}`),
): Explanation {
  const line = wholeText(said.trim().split('\n')[0] ?? '', 4096) || 'nothing was said';
  const reason = `the sandbox does not start: ${line}.`;
  if (/Unknown option/i.test(said)) return { usable: false, reason, remedy: upgradeCommand() };
  if (/mount proc|proc on/i.test(said)) {
    const remedy = 'In a container, show it a /proc of its own: docker run --security-opt systempaths=unconfined …';
    return { usable: false, reason, remedy };
  }
  if (/namespace|uid map|userns|loopback/i.test(said)) {
    const obstacle = obstacles.find(([file, value]) => readSetting(file).trim() === value);
    const remedy =
      obstacle === undefined
        ? 'In a container, allow namespaces: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …'
        : obstacle[2];
    return { usable: false, reason, remedy };
  }
  return { usable: false, reason, remedy: upgradeCommand() };
}

function findManager(osRelease: string): (typeof packageManagers)[number] | undefined {
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)/gm)].map((match) => match[1]).join(' ');
  return packageManagers.find(([pattern]) => pattern.test(names));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
