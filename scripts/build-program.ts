// Puts the program together, so that it starts from a few files instead of hundreds. Each build has a folder of its own
// below dist, because a daemon may be running from the one before.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { buildSdk, hashSdk } from '@sallyport/sdk/build';
import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';
import { recordFile } from '../packages/cli/bin/built-program.mjs';
import { groupModules } from './group-modules.ts';
import { describeFile } from './program-build.mjs';
import { root } from './workspace.ts';

/** Each runs by itself, in a process or a thread, and is found beside the file that starts it. */
const entries = [
  'packages/cli/src/main.ts',
  'packages/gateway/src/storage/sqlite/writer-thread.ts',
  'packages/gateway/src/storage/sqlite/verify-thread.ts',
  'packages/gateway/src/catalogue/code/symbols-thread.ts',
  'packages/gateway/src/catalogue/data/postgres-thread.ts',
  'packages/gateway/src/catalogue/data/sqlite-program.ts',
  'packages/gateway/src/storage/sqlite/index-thread.ts',
  'packages/gateway/src/text/large-json-thread.ts',
  'packages/sandbox/src/spawner/spawner-process.ts',
];
const buildsFolder = dirname(recordFile);
/** npm's record of what it installed: another version of a dependency makes another build. */
const dependencies = 'node_modules/.package-lock.json';
const keptBuilds = 3;
const sdkFolder = 'packages/sdk';
const sdkBuilder = `${sdkFolder}/src/build-sdk.ts`;

/**
 * `import … from 'node:http'` reads every export, and some of those load Node's whole fetch: a tenth of a start, which
 * hardly any command needs. Taken from the module itself, the others cost nothing.
 */
const httpWithoutFetch: Plugin = {
  name: 'http-without-fetch',
  resolveId: (id) => (id === 'node:http' || id === 'http' ? '\0http' : undefined),
  load: (id) => {
    if (id !== '\0http') return undefined;
    const module = process.getBuiltinModule('node:http');
    const isPlain = (name: string): boolean => Object.getOwnPropertyDescriptor(module, name)?.get === undefined;
    const names = Object.keys(module).filter(isPlain).join(', ');
    return `const http = process.getBuiltinModule('node:http');\nexport const { ${names} } = http;\nexport default http;`;
  },
};

const startedAtMs = Date.now();
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((file) => [basename(file, '.ts'), join(root, file)])),
  platform: 'node',
  // Native code, and what is copied for tools from where it lies.
  external: [/^@napi-rs\//, '@sallyport/sdk/build'],
  // Its other form asks for its parts by names that no bundler sees.
  resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
  // Node has getters for these, which compiled code asks each time; what is imported, it knows.
  transform: { inject: { performance: ['node:perf_hooks', 'performance'], Buffer: ['node:buffer', 'Buffer'] } },
  plugins: [httpWithoutFetch],
  preserveEntrySignatures: 'allow-extension',
  logLevel: 'warn',
});
const ungrouped = await bundle.generate({ format: 'esm' });
const { output } = await bundle.generate({
  format: 'esm',
  // Only as deep as the folder will be, so that the maps find the sources.
  dir: join(buildsFolder, 'build'),
  sourcemap: true,
  chunkFileNames: '[name]-[hash].js',
  codeSplitting: groupModules(ungrouped.output.filter((part) => part.type === 'chunk')),
  // Licences stay. All else only costs memory: the source is kept as long as the program runs.
  comments: { legal: true, annotation: false, jsdoc: false },
  paths: { '@sallyport/sdk/build': './sdk/src/build-sdk.js' },
});
await bundle.close();
const chunks = output
  .filter((part) => part.type === 'chunk')
  .map(({ fileName, moduleIds, code }) => ({ fileName, moduleIds, code: escapeWide(code) }));
/** Lead from a place in the build to the line in the sources. */
const maps = output.filter((part) => part.type === 'asset');

const files = chunks
  .flatMap(({ moduleIds }) => moduleIds)
  .filter((id) => id.startsWith('/') && !id.includes('/node_modules/'))
  .map((id) => relative(root, id));
const sdkFiles = [
  `${sdkFolder}/package.json`,
  ...readdirSync(join(root, sdkFolder, 'src'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${sdkFolder}/src/${name}`),
];
const sources = Object.fromEntries(
  [...files, ...sdkFiles, 'scripts/build-program.ts', dependencies].map((file) => [file, describeFile(file)]),
);
const edited = [...files, ...sdkFiles].find((file) => statSync(join(root, file)).mtimeMs >= startedAtMs);
if (edited !== undefined) throw new Error(`${edited} was changed while the program was built`);

const hash = createHash('sha256');
for (const { fileName, code } of chunks) hash.update(`${fileName}\0${code}\0`);
hash.update(hashSdk()).update(readFileSync(join(root, sdkBuilder)));
const folder = hash.digest('hex').slice(0, 16);
writeBuild(join(buildsFolder, folder));
const draft = `${recordFile}.${process.pid}`;
writeFileSync(draft, JSON.stringify({ folder, sources, packages: listPackages() }));
renameSync(draft, recordFile);
removeOldBuilds();

/**
 * The runtime keeps a source with two bytes a character if a single one of them needs two. An escape means the same
 * everywhere but in the raw text of a template and after a backslash.
 */
function escapeWide(code: string): string {
  const found = /\braw`[^`]*[^\0-\xff]|\\[^\0-\xff]/.exec(code)?.[0];
  if (found !== undefined) throw new Error(`this has a character that cannot be escaped: ${found}`);
  return code.replaceAll(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The dependencies that are part of the build. */
function listPackages(): readonly string[] {
  const ids = chunks.flatMap(({ moduleIds }) => moduleIds);
  return [...new Set(ids.flatMap((id) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))].sort();
}

/** Whole or not at all. The same build that is there already stays: a daemon may be running from it. */
function writeBuild(target: string): void {
  if (existsSync(target)) return;
  const fresh = `${target}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const { fileName, code } of chunks) writeFileSync(join(fresh, fileName), code);
  for (const { fileName, source } of maps) writeFileSync(join(fresh, fileName), source);
  writeSdk(join(fresh, 'sdk'));
  try {
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    // Somebody else has built the same meanwhile.
    if (!existsSync(target)) throw error;
  }
}

/** As JavaScript, because a start that strips types takes a fifth more of the processor. */
function writeSdk(target: string): void {
  mkdirSync(target);
  buildSdk(join(target, 'src'));
  copyFileSync(join(root, sdkFolder, 'package.json'), join(target, 'package.json'));
  const builder = stripTypeScriptTypes(readFileSync(join(root, sdkBuilder), 'utf8'));
  writeFileSync(join(target, 'src/build-sdk.js'), builder);
}

function removeOldBuilds(): void {
  const ageOf = (name: string): number => statSync(join(buildsFolder, name)).mtimeMs;
  const others = readdirSync(buildsFolder).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== folder);
  for (const name of others.sort((a, b) => ageOf(b) - ageOf(a)).slice(keptBuilds - 1)) {
    rmSync(join(buildsFolder, name), { recursive: true, force: true });
  }
}
