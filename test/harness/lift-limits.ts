import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './daemon.ts';

const root = join(import.meta.dirname, '../..');

const unlimited = `version: 1
rates: []
repeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }
`;

/** Gives a place the rules that a checkout ships, without the limits on how often: for loads that exist to exceed them. */
export function liftLimits(place: Place, checkout = root): Place {
  const rules = join(place.home, 'governance');
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  cpSync(join(checkout, 'config/governance'), rules, { recursive: true });
  writeFileSync(join(rules, 'limits.yaml'), unlimited);
  // Nor does such a load change the mode.
  writeFileSync(join(rules, 'modes.yaml'), 'version: 1\n');
  return place;
}
