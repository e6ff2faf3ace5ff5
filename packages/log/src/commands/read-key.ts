import { existsSync, readFileSync } from 'node:fs';

/** A public key, as text or in a file. */
export function readKey(given: string): string {
  return (existsSync(given) ? readFileSync(given, 'utf8') : given).trim();
}
