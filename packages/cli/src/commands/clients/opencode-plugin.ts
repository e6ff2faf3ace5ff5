import { readFileSync } from 'node:fs';
import { packageFile } from '../package-files.ts';
import type { OwnProgram } from './known-clients.ts';

/** The text of the plugin that asks the gate in opencode. */
export function writePlugin({ words, environment }: OwnProgram): string {
  return readFileSync(packageFile('templates/opencode-plugin.js.template'), 'utf8')
    .replace('{{command}}', () => JSON.stringify([...words, 'hook', 'opencode']))
    .replace('{{environment}}', () => JSON.stringify(environment));
}
