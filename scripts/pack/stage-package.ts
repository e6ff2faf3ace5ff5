import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../workspace.ts';

const run = promisify(execFile);

export interface Manifest {
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
  /** Beside what is built. */
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/**
 * Packs what `fill` puts into an empty folder, with the manifest that it returns and the licence. Returns the path of
 * the tarball.
 */
export async function stagePackage(
  target: string,
  fill: (stage: string) => Manifest | Promise<Manifest>,
): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'sallyport-pack-'));
  try {
    const manifest = await fill(stage);
    // Only the sources are private: Node does not run them below node_modules, so nobody may publish them by mistake.
    writeFileSync(
      join(stage, 'package.json'),
      `${JSON.stringify({ ...manifest, private: undefined }, undefined, 2)}\n`,
    );
    copyFileSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    mkdirSync(target, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', resolve(target)], { cwd: stage });
    return join(resolve(target), stdout.trim());
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The manifest in a folder of the workspace. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}
