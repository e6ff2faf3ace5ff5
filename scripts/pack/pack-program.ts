import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readRecord, recordFile } from '../../packages/cli/bin/built-program.mjs';
import { isBuildCurrent } from '../program-build.mjs';
import { root } from '../workspace.ts';
import { collectLicences } from './collect-licences.ts';
import { readManifest, stagePackage } from './stage-package.ts';
import type { Manifest } from './stage-package.ts';

const programFolder = join(root, 'packages/cli');
const consoleFolder = join(root, 'packages/console/dist');
/** Native code, and what is loaded only when it is needed, cannot be part of a build. */
const separate = ['@napi-rs/blake-hash', '@vscode/tree-sitter-wasm', 'ajv', 'playwright-core'];

/** Packs the daemon, the command line and the console, from the builds that are there, with the shipped rules. */
export function packProgram(target: string): Promise<string> {
  const record = readRecord();
  if (record === undefined || !isBuildCurrent() || !existsSync(consoleFolder)) {
    throw new Error('The program or the console is not built from the sources as they are now: use npm run pack.');
  }
  return stagePackage(target, (stage) => {
    for (const folder of ['bin', 'templates', 'README.md']) {
      cpSync(join(programFolder, folder), join(stage, folder), {
        recursive: true,
        filter: (path) => !path.endsWith('.d.mts'),
      });
    }
    const build = join(dirname(recordFile), record.folder);
    cpSync(build, join(stage, 'dist', record.folder), { recursive: true, filter: (path) => !path.endsWith('.map') });
    writeFileSync(join(stage, 'dist', basename(recordFile)), JSON.stringify({ folder: record.folder }));
    cpSync(consoleFolder, join(stage, 'console'), {
      recursive: true,
      filter: (path) => basename(path) !== 'stamp' && !path.endsWith('.map'),
    });
    dropMapReferences(stage);
    cpSync(join(root, 'config/governance'), join(stage, 'config/governance'), { recursive: true });
    cpSync(join(root, 'packages/contract/openapi/sallyport.yaml'), join(stage, 'openapi.yaml'));
    writeFileSync(join(stage, 'THIRD-PARTY-LICENSES'), collectLicences(record.packages ?? []));
    return publish(readManifest('packages/cli'));
  });
}

/** They lead nowhere in the package. */
function dropMapReferences(stage: string): void {
  for (const name of globSync('{dist,console}/**/*.js', { cwd: stage })) {
    const file = join(stage, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'));
  }
}

/** Everything else is part of the build. A Node comes along, for machines that have an older one. */
function publish(manifest: Manifest): Manifest {
  const all = readManifest('packages/gateway').dependencies ?? {};
  return {
    ...manifest,
    imports: { '#openapi.yaml': './openapi.yaml' },
    dependencies: Object.fromEntries(separate.map((name) => [name, all[name] ?? ''])),
    optionalDependencies: readManifest('.').optionalDependencies ?? {},
    files: ['*'],
  };
}
