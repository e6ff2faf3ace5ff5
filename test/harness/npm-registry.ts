import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A package as a registry serves it. */
export interface PublishedPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json says. */
  readonly manifest: object;
  readonly tarball: Buffer;
  /** Absent: that of the tarball. */
  readonly integrity?: string;
}

export interface NpmRegistry {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  readonly publish: (published: PublishedPackage) => void;
  readonly close: () => void;
}

/** Two thirds of all files, which no program reads. */
const unneeded = ['*.map', '*.md', '*.d.ts', '*.d.mts', '*.d.cts', 'src', 'test', 'tests'];
const root = join(import.meta.dirname, '../..');

/** A registry on loopback. It has the packages that are installed in this project, and those that a test publishes. */
export async function startRegistry(): Promise<NpmRegistry> {
  const published = new Map<string, PublishedPackage[]>();
  const asked: string[] = [];
  const versionsOf = (name: string): PublishedPackage[] =>
    published.getOrInsertComputed(name, () => {
      // The same version may be installed in several places, and is packed a little differently there.
      const packed = findInstalled(name).map(packInstalled);
      return [...new Map(packed.toReversed().map((each) => [each.version, each])).values()];
    });
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(url).slice(1);
    asked.push(path);
    const [name = '', file] = path.split('/-/');
    const versions = versionsOf(name);
    const tarball = versions.find(({ version }) => file === `${version}.tgz`)?.tarball;
    if (versions.length === 0 || (file !== undefined && tarball === undefined)) response.writeHead(404).end('{}');
    else response.end(tarball ?? JSON.stringify(describe(name, versions, address())));
  });
  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: address(),
    asked,
    publish: (one) => void versionsOf(one.name).push(one),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function describe(name: string, versions: readonly PublishedPackage[], url: string): object {
  const entries = versions.map(({ version, manifest, tarball, integrity = hashOf(tarball) }) => {
    const dist = { tarball: `${url}${name}/-/${version}.tgz`, integrity };
    return [version, { ...manifest, name, version, dist }] as const;
  });
  return { name, 'dist-tags': { latest: versions.at(-1)?.version }, versions: Object.fromEntries(entries) };
}

/** Folders of this package in node_modules: several, where others need several versions of it. */
function findInstalled(name: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: object };
  const folders = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
  return folders.map((path) => join(root, path)).filter((folder) => existsSync(join(folder, 'package.json')));
}

function packInstalled(folder: string): PublishedPackage {
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly devDependencies?: object;
  };
  const excluded = ['./node_modules', ...unneeded].map((pattern) => `--exclude=${pattern}`);
  const tarball = execFileSync('tar', ['-cz', ...excluded, '--transform=s,^\\.,package,', '-C', folder, '.'], {
    maxBuffer: 1 << 28,
  });
  return { name: manifest.name, version: manifest.version, manifest, tarball };
}

function hashOf(tarball: Buffer): string {
  return `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
}
