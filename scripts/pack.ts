// Packs a package as it is published: plain JavaScript, because Node does not strip types below node_modules.
// Usage: npm run pack -- log [FOLDER]. Prints the path of the tarball.
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { binFolder, root } from './workspace.ts';

const run = promisify(execFile);
const packable = ['log', 'sandbox'];

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export async function packPackage(name: string, target: string): Promise<string> {
  if (!packable.includes(name)) throw new Error(`There is no package ${name} to pack: ${packable.join(', ')}`);
  const source = join(root, 'packages', name);
  const stage = mkdtempSync(join(tmpdir(), 'sallyport-pack-'));
  try {
    await compile(source, join(stage, 'dist'));
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publish(readManifest(source)), undefined, 2)}\n`);
    cpSync(join(source, 'README.md'), join(stage, 'README.md'));
    copyFileSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    mkdirSync(target, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', resolve(target)], { cwd: stage });
    return join(resolve(target), stdout.trim());
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

async function compile(source: string, dist: string): Promise<void> {
  const options = { extends: join(root, 'tsconfig.json'), compilerOptions: compilerOptions(source, dist) };
  const config = join(source, `tsconfig.pack-${process.pid}.json`);
  writeFileSync(config, JSON.stringify({ ...options, include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] }));
  try {
    await run(join(binFolder, 'tsc'), ['-p', config]);
  } finally {
    rmSync(config);
  }
}

function compilerOptions(source: string, dist: string): object {
  const emit = { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true };
  return { ...emit, outDir: dist, rootDir: join(source, 'src') };
}

function readManifest(source: string): Manifest {
  return JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
}

/** The same package, with its files where they are after the build. */
function publish(manifest: Manifest): Manifest {
  const built = (path: string): string => path.replace(/^(\.\/)?src\//, '$1dist/').replace(/\.ts$/, '.js');
  const map = (paths: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, built(path)]));
  return {
    ...manifest,
    exports: map(manifest.exports),
    ...(manifest.bin === undefined ? {} : { bin: map(manifest.bin) }),
    files: ['dist'],
  };
}

if (import.meta.main) {
  const [name = '', target = '.'] = process.argv.slice(2);
  console.log(await packPackage(name, target));
}
