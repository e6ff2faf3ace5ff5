import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFailure, installCommand, upgradeCommand } from './explain-sandbox.ts';
import { findWeakness } from './probe-sandbox.ts';

test('the command that installs bubblewrap is that of the machine', () => {
  assert.equal(installCommand('PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n'), 'apt-get install bubblewrap');
  assert.equal(installCommand('ID=linuxmint\nID_LIKE="ubuntu debian"\n'), 'apt-get install bubblewrap');
  assert.equal(installCommand('ID="rocky"\nID_LIKE="rhel centos fedora"\n'), 'dnf install bubblewrap');
  assert.equal(installCommand('ID=alpine\n'), 'apk add bubblewrap');
  assert.match(installCommand(''), /^Install bubblewrap/);
  assert.equal(upgradeCommand('ID=debian'), 'apt-get install --only-upgrade bubblewrap');
});

test('a kernel that forbids namespaces is explained by the setting that does', () => {
  const said = 'bwrap: No permissions to create new namespace, likely because the kernel does not allow …';
  const withSetting = (name: string, value: string) =>
    explainFailure(said, (file) => (file === name ? `${value}\n` : ''));
  assert.equal(
    withSetting('kernel/unprivileged_userns_clone', '0').remedy,
    'sysctl -w kernel.unprivileged_userns_clone=1',
  );
  assert.equal(withSetting('user/max_user_namespaces', '0').remedy, 'sysctl -w user.max_user_namespaces=15000');
  assert.equal(
    withSetting('kernel/apparmor_restrict_unprivileged_userns', '1').remedy,
    'AppArmor restricts namespaces here. Give bubblewrap a profile: sudo sallyport service apparmor',
  );
  assert.match(withSetting('none', '').remedy, /docker run --security-opt seccomp=unconfined/);
});

test('other failures are told in the words of bubblewrap, shortened', () => {
  assert.match(
    explainFailure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted").remedy,
    /systempaths/,
  );
  assert.match(explainFailure('bwrap: Unknown option --ro-bind-fd').remedy, /bubblewrap/);
  assert.match(explainFailure('').reason, /nothing was said/);
  assert.ok(explainFailure('x'.repeat(10_000)).reason.length < 400);
});

const sound = `Name:	cat
CapEff:	0000000000000000
CapBnd:	0000000000000000
NoNewPrivs:	1
Seccomp:	2
65 42 0:40 /newroot / ro,nosuid,nodev,relatime - tmpfs tmpfs rw
72 71 0:21 /sys /proc/sys ro,nosuid,nodev,relatime - proc proc rw
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo:       0       0    0    0
`;

test('a sandbox that is as it must be has no weakness', () => {
  assert.equal(findWeakness(sound), undefined);
});

test('whatever is missing from the sandbox is noticed', () => {
  const weaker: readonly (readonly [from: string, to: string, weakness: RegExp])[] = [
    ['Seccomp:\t2', 'Seccomp:\t0', /not filtered/],
    ['NoNewPrivs:\t1', 'NoNewPrivs:\t0', /gain privileges/],
    ['CapEff:\t0000000000000000', 'CapEff:\t000001ffffffffff', /have capabilities/],
    ['CapBnd:\t0000000000000000', 'CapBnd:\t0000000000000001', /gain capabilities/],
    ['/proc/sys ro,', '/proc/sys rw,', /settings of the kernel/],
    ['/newroot / ro,', '/newroot / rw,', /root folder/],
    ['    lo:', '    no:', /no loopback/],
    ['    lo: ', '  eth0:    1 0 0\n    lo: ', /network of the machine/],
  ];
  for (const [from, to, weakness] of weaker) {
    assert.ok(sound.includes(from), from);
    assert.match(findWeakness(sound.replace(from, to)) ?? 'none', weakness);
  }
  assert.equal(findWeakness(''), 'system calls are not filtered');
});
