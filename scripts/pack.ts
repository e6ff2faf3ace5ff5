// Packs the packages that people install, as they are published: built code, without tests, maps and sources.
// Usage: npm run pack [-- NAME... ] [--to FOLDER]. Prints the path of each tarball.
import { parseArgs } from 'node:util';
import { packLibrary } from './pack/pack-library.ts';
import { packProgram } from './pack/pack-program.ts';

const packable: Readonly<Record<string, (target: string) => Promise<string>>> = {
  sallyport: packProgram,
  sdk: (target) => packLibrary('sdk', target),
  log: (target) => packLibrary('log', target),
  sandbox: (target) => packLibrary('sandbox', target),
};

/** Returns the path of the tarball. */
export function packPackage(name: string, target: string): Promise<string> {
  const pack = Object.hasOwn(packable, name) ? packable[name] : undefined;
  if (pack === undefined) {
    throw new Error(`There is no package ${name} to pack. There are ${Object.keys(packable).join(', ')}.`);
  }
  return pack(target);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { to: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) {
    process.stdout.write(`npm run pack -- [NAME...] [--to FOLDER]

Packs what people install, as it is published, and prints the path of each tarball.

  NAME         one of ${Object.keys(packable).join(', ')} (default: all of them)
  --to FOLDER  where the tarballs go (default: this folder)
`);
    process.exit(0);
  }
  const names = positionals.length === 0 ? Object.keys(packable) : positionals;
  for (const name of names) console.log(await packPackage(name, values.to ?? '.'));
}
