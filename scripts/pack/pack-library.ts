import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { binFolder, root } from '../workspace.ts';
import { readManifest, stagePackage } from './stage-package.ts';
import type { Manifest } from './stage-package.ts';

const run = promisify(execFile);
const localImport = /(?:from|import)\s*\(?\s*(['"])(\.[^'"]+)\1/g;
const contractImport = /(['"])@sallyport\/contract(\/[a-z-]+)?\1/g;
const contractName = '@sallyport/contract';
/** For the daemon, which comes with a copy of its own. */
const notPublished = './build';
/** What is published beside the code that was built. */
const besides = ['*.html', 'example.mjs'];

/**
 * Packs a package that others import, as plain JavaScript with types: Node does not strip types below node_modules. The
 * contract is published nowhere, so what is used of it is part of the package.
 */
export function packLibrary(name: string, target: string): Promise<string> {
  return stagePackage(target, async (stage) => {
    const manifest = readManifest(`packages/${name}`);
    const dist = join(stage, 'dist');
    await compile(name, manifest, join(stage, 'out'));
    renameSync(join(stage, 'out', name, 'src'), dist);
    const contract = join(stage, 'out/contract/src');
    if (existsSync(contract)) includeContract(contract, dist);
    rmSync(join(stage, 'out'), { recursive: true });
    cpSync(join(root, 'packages', name, 'README.md'), join(stage, 'README.md'));
    // A page that a person opens by itself, without Node, and the example that the README names.
    for (const file of globSync(besides, { cwd: join(root, 'packages', name) })) {
      cpSync(join(root, 'packages', name, file), join(stage, file));
    }
    const published = publish(manifest);
    removeUnused(stage, dist, published);
    return published;
  });
}

/** The package, and the contract where it uses that. */
async function compile(name: string, { dependencies = {} }: Manifest, outDir: string): Promise<void> {
  const source = join(root, 'packages', name);
  const emit = { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, target: 'es2022' };
  const compilerOptions = { ...emit, outDir, rootDir: join(root, 'packages') };
  const config = join(source, `tsconfig.pack-${process.pid}.json`);
  const folders = ['src', ...(Object.hasOwn(dependencies, contractName) ? ['../contract/src'] : [])];
  const include = folders.map((folder) => `${folder}/**/*.ts`);
  const exclude = [...folders.map((folder) => `${folder}/**/*.test.ts`), 'src/build-sdk.ts'];
  const options = { extends: join(root, 'tsconfig.json'), compilerOptions, include, exclude };
  writeFileSync(config, JSON.stringify(options));
  try {
    await run(join(binFolder, 'tsc'), ['-p', config]);
  } finally {
    rmSync(config);
  }
}

/** Puts the compiled contract below `dist` and leads the imports there. The package has all its files in one folder. */
function includeContract(compiled: string, dist: string): void {
  renameSync(compiled, join(dist, 'contract'));
  const exports = readManifest('packages/contract').exports ?? {};
  for (const name of globSync('*.{js,d.ts}', { cwd: dist })) {
    const text = readFileSync(join(dist, name), 'utf8').replace(contractImport, (_, quote: string, entry = '') => {
      const file = built(exports[`.${String(entry)}`] ?? '').replace(/^\.\/dist\//, './contract/');
      return `${quote}${file}${quote}`;
    });
    writeFileSync(join(dist, name), text);
  }
}

/** Removes modules that no entry, and no process that an entry starts, ever loads; and types that none names. */
function removeUnused(stage: string, dist: string, { exports = {}, bin = {} }: Manifest): void {
  const started = globSync('**/*-process.js', { cwd: dist }).map((name) => join(dist, name));
  const used = new Set<string>();
  const use = (file: string): void => {
    if (used.has(file) || !existsSync(file)) return;
    used.add(file);
    for (const [, , imported = ''] of readFileSync(file, 'utf8').matchAll(localImport)) {
      const path = join(dirname(file), imported);
      use(file.endsWith('.d.ts') ? path.replace(/(?:\.d)?\.[jt]s$/, '.d.ts') : path);
    }
  };
  const entries = [...Object.values(exports), ...Object.values(bin)].map((path) => join(stage, path));
  for (const file of [...entries, ...started]) {
    use(file);
    use(file.replace(/\.js$/, '.d.ts'));
  }
  for (const name of globSync('**/*.{js,d.ts}', { cwd: dist })) {
    if (!used.has(join(dist, name))) rmSync(join(dist, name));
  }
}

function built(path: string): string {
  return path.replace(/^(\.\/)?src\//, '$1dist/').replace(/\.ts$/, '.js');
}

/** The same package, with its files where they are after the build. */
function publish(manifest: Manifest): Manifest {
  const map = (paths: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(paths)
        .filter(([name]) => name !== notPublished)
        .map(([name, path]) => [name, built(path)]),
    );
  const { exports = {}, bin, dependencies, ...rest } = manifest;
  const used = { ...dependencies };
  if (Object.hasOwn(used, contractName)) {
    delete used[contractName];
    // Its types appear in those of the contract.
    Object.assign(used, readManifest('packages/contract').dependencies);
  }
  return {
    ...rest,
    exports: map(exports),
    ...(bin === undefined ? {} : { bin: map(bin) }),
    ...(Object.keys(used).length === 0 ? {} : { dependencies: used }),
    files: ['dist', ...besides],
  };
}
