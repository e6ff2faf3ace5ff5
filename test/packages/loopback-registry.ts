import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from '../../scripts/workspace.ts';

/**
 * A registry on this machine that has what node_modules holds, each in the one version that is installed. Packages for
 * other machines are not there, as npm has not installed them.
 */
export async function openLoopbackRegistry(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const tarballOf = path.endsWith('.tgz') ? path.slice(0, -'.tgz'.length) : undefined;
    const name = tarballOf ?? path;
    const folder = join(root, 'node_modules', name);
    if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name) || !existsSync(join(folder, 'package.json'))) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    } else if (tarballOf === undefined) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describe(name, folder, `http://${request.headers.host}/${name}.tgz`)));
    } else {
      // Headers and manuals of Node are most of its package, and nobody uses them here.
      const tar = ['-c', '--exclude=./include', '--exclude=./share', '--transform=s,^\\.,package,', '-C', folder, '.'];
      spawn('tar', tar, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

function describe(name: string, folder: string, tarball: string): object {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  const { version } = manifest;
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist: { tarball } } } };
}
