import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { apparmorProfile, systemUnit, userUnit } from '../../packages/cli/src/commands/service/service-files.ts';
import { newPlace } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const analyze = '/usr/bin/systemd-analyze';
const skip = existsSync(analyze) ? false : 'systemd-analyze is not installed';

for (const [kind, write] of [
  ['user', userUnit],
  ['system', systemUnit],
] as const) {
  test(`systemd finds nothing wrong with the ${kind} unit, also with signs in its paths`, { skip }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'sallyport.service');
    const service = { node: process.execPath, program: '/opt/a b/100%/"x"$y/sallyport.mjs', port: 4780 };
    const text = write({ ...service, home: '/var/lib/sallyport/gate', workspace: '/srv/a%b' });
    // The user and the group come with the install.
    writeFileSync(file, text.replaceAll(/^(?:User|Group|SupplementaryGroups)=.*\n/gm, ''));
    const { status, stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', `--${kind}`, file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('sallyport.service'));
    assert.deepEqual([status, about], [0, []]);
    assert.ok(text.includes('/opt/a b/100%%/\\"x\\"$$y/sallyport.mjs'));
    assert.match(text, /^Delegate=yes$/m);
    for (const key of ['RestrictNamespaces', 'ProtectKernelTunables', 'MemoryDenyWriteExecute']) {
      assert.doesNotMatch(text, new RegExp(`^${key}=`, 'm'), 'the sandbox would not work');
    }
  });
}

test('a service of a user is written and removed by one command each', (t) => {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true, force: true }));
  const unit = join(place.folder, '.config/systemd/user/sallyport.service');
  const run = (...args: string[]) => runSallyport(place, ['service', ...args]);
  assert.equal(run('status').status, 4);
  assert.match(run('install', '--dry-run').stdout, /write .*sallyport\.service/);
  assert.ok(!existsSync(unit));
  assert.equal(run('install').status, 1, 'nobody to ask');
  const { status, stdout, stderr } = run('install', '--yes');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Written|Installed/);
  assert.ok(existsSync(unit));
  assert.match(run('status').stdout, /A user service is installed/);
  assert.equal(run('uninstall', '--yes').status, 0);
  assert.ok(!existsSync(unit));
  assert.equal(run('uninstall', '--yes').status, 1);
});

test('a separated service is planned step by step, for root alone', () => {
  const place = newPlace();
  const planned = runSallyport(place, ['service', 'install', '--separated', '--agents', 'ada', '--dry-run']);
  rmSync(place.folder, { recursive: true, force: true });
  if (process.getuid?.() !== 0) return assert.equal(planned.status, 1);
  // A checkout in a home folder is out of reach for the user of the service.
  if (planned.status === 1) return assert.match(planned.stderr, /cannot reach/);
  for (const step of [
    /useradd --system/,
    /usermod --append --groups sallyport-agents ada/,
    /write \/etc\/systemd\/system/,
  ]) {
    assert.match(planned.stdout, step);
  }
});

test('the AppArmor profile opens namespaces for bubblewrap and nothing else, and AppArmor can read it', (t) => {
  assert.match(apparmorProfile, /^profile sallyport-bwrap \/usr\/bin\/bwrap flags=\(unconfined\) \{\n {2}userns,\n/m);
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-profile-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const parse = (text: string) => {
    const file = join(folder, 'profile');
    writeFileSync(file, text);
    return spawnSync('/usr/sbin/apparmor_parser', ['--skip-kernel-load', '--skip-cache', file], { encoding: 'utf8' });
  };
  // Namespaces are known to it from version 4 on; before, the rest can be read.
  const knowsNamespaces = existsSync('/etc/apparmor.d/abi/4.0');
  const text = knowsNamespaces ? apparmorProfile : apparmorProfile.replace(/^abi .*\n/m, '').replace('  userns,\n', '');
  const { status, stderr } = parse(text);
  assert.equal(status, 0, stderr);
  assert.equal(parse(text.replace('flags=', 'flag=')).status, 1);
});

test('the profile is shown before anything is done, and only root can install it', () => {
  const place = newPlace();
  const shown = runSallyport(place, ['service', 'apparmor', '--dry-run']);
  rmSync(place.folder, { recursive: true, force: true });
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /write \/etc\/apparmor\.d\/sallyport-bwrap\n {2}apparmor_parser --replace/);
});
