import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './daemon.ts';

const shipped = join(import.meta.dirname, '../../config/governance');

/** Gives a place the shipped rules with some of the files replaced. */
export function ownRules(place: Place, files: Readonly<Record<string, string>>): Place {
  const rules = join(place.home, 'governance');
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  cpSync(shipped, rules, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(rules, name), text);
  return place;
}
