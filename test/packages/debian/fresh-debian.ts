// Tries the packed program on a machine that has nothing else of ours: npm run fresh-debian. As an ordinary user, from the
// tarball to the first approved call; then under a real systemd, as a service of that user and as a separated one.
// It needs root, and takes some minutes. npm downloads what the package depends on.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackage } from '../../../scripts/pack.ts';
import { bootAndRun } from './boot.ts';
import { openFreshDebian, runInside } from './root.ts';
import { firstCall, separatedService, userService } from './scripts.ts';

const longestMs = 60_000;
const debian = openFreshDebian();
const folder = mkdtempSync(join(tmpdir(), 'sallyport-debian-'));
const copy = { debian, folder };
const wanted = process.argv.slice(2);
const isWanted = (part: string): boolean => wanted.length === 0 || wanted.includes(part);

try {
  const tarball = await packPackage('sallyport', folder);
  const home = join(folder, 'upper/home/ada');
  runInside(copy, 'ada', 'touch ~/.hushlogin', { HOME: '/home/ada' });
  for (const [file, name] of [[tarball, 'sallyport.tgz'], ...certificates()] as const) {
    copyFileSync(file, join(home, name));
    chmodSync(join(home, name), 0o644);
  }
  const npm = { ...readNpmSettings(), HOME: '/home/ada', USER: 'ada', SALLYPORT_PORT: '0' };
  if (isWanted('install')) {
    const said = runInside(copy, 'ada', firstCall, npm);
    process.stdout.write(said);
    const [, ms = 'Infinity'] = /approved call after (\d+) ms/.exec(said) ?? [];
    assert.ok(Number(ms) < longestMs, `${ms} ms from the tarball to the first approved call`);
  }
  if (isWanted('service')) {
    if (!isWanted('install'))
      runInside(copy, 'ada', 'mkdir ~/work; npm install -g --prefix ~/.local ~/sallyport.tgz', npm);
    runInside(copy, 'root', 'npm install -g /home/ada/sallyport.tgz; useradd -r probe; userdel probe', {
      ...npm,
      HOME: '/root',
    });
    process.stdout.write('Starting it as a machine, for a service of a user…\n');
    process.stdout.write(await bootAndRun(copy, userService));
    process.stdout.write('Starting it as a machine, for a separated service…\n');
    process.stdout.write(await bootAndRun(copy, separatedService));
  }
  process.stdout.write('All of it works.\n');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Certificates that this machine's Node trusts beside its own, such as those of a proxy. */
function certificates(): readonly (readonly [file: string, name: string])[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  return file !== undefined && existsSync(file) ? [[file, 'certificates.pem']] : [];
}

/** How npm reaches its registry from here. Credentials stay where they are. */
function readNpmSettings(): Record<string, string> {
  const settings = Object.fromEntries(
    ['registry', 'proxy', 'https-proxy', 'noproxy'].flatMap((name) => {
      const value = execFileSync('npm', ['config', 'get', name], {
        encoding: 'utf8',
        cwd: '/',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
      return value === '' || value === 'null' || value === 'undefined'
        ? []
        : [[`npm_config_${name.replace('-', '_')}`, value]];
    }),
  );
  const proxies = Object.entries(process.env).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name));
  return {
    ...settings,
    ...Object.fromEntries(proxies.map(([name, value]) => [name, value ?? ''])),
    ...(certificates().length === 0 ? {} : { NODE_EXTRA_CA_CERTS: '/home/ada/certificates.pem' }),
  };
}
