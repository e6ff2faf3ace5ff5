import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../workspace.ts';

/** What the pages of the console are made with. */
const consolePackages = ['react', 'react-dom', 'scheduler'];

/** The licences of what is part of the build. Throws when one has none, because then it must not be published. */
export function collectLicences(packages: readonly string[]): string {
  const parts = [...new Set([...packages, ...consolePackages])].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    const file = globSync(['LICEN[CS]E*', 'license*'], { cwd: folder }).sort()[0];
    if (license === undefined) throw new Error(`${name} says no licence.`);
    const text = file === undefined ? `${license}\n` : readFileSync(join(folder, file), 'utf8');
    return `${name} ${version ?? ''} (${license})\n\n${text.trim()}\n`;
  });
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}
