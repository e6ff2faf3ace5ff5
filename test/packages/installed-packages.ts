import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packPackage } from '../../scripts/pack.ts';
import { openLoopbackRegistry } from './loopback-registry.ts';

const run = promisify(execFile);

/** Tarballs installed as people do it, on a machine that has nothing of the project. */
export class InstalledPackages {
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-installed-'));
  readonly tarballs = new Map<string, string>();
  /** The Node of the machine, which may be older than the project's own. */
  readonly node = findMachineNode();

  /** With npm's global folder in `prefix`, or as dependencies of a project there. */
  async install(names: readonly string[], kind: 'global' | 'project', prefix = kind as string): Promise<string> {
    for (const name of names) this.tarballs.set(name, await packPackage(name, join(this.folder, 'tarballs')));
    const registry = await openLoopbackRegistry();
    const target = join(this.folder, prefix);
    mkdirSync(target, { recursive: true });
    const place = ['--prefix', target, '--cache', join(this.folder, 'cache'), '--registry', registry.url];
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--no-update-notifier'];
    const files = names.map((name) => this.tarballs.get(name) ?? '');
    try {
      const how = kind === 'global' ? ['-g'] : ['--no-save'];
      await run('npm', ['install', ...how, ...place, ...quiet, ...files], { cwd: target, env: this.environment() });
      return target;
    } finally {
      registry.close();
    }
  }

  /** Nothing of the checkout, and an empty home. */
  environment(more: Record<string, string> = {}): Record<string, string> {
    const home = join(this.folder, 'home');
    mkdirSync(home, { recursive: true });
    const path = [join(this.folder, 'global/bin'), dirname(this.node), '/usr/bin', '/bin'];
    return { PATH: path.join(delimiter), HOME: home, ...more };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The Node that is on the path of people, not the one of the project. */
export function findMachineNode(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const found = spawnSync('sh', ['-c', 'command -v node'], {
    env: { PATH: folders.join(delimiter) },
    encoding: 'utf8',
  });
  return found.status === 0 ? realpathSync(found.stdout.trim()) : process.execPath;
}
