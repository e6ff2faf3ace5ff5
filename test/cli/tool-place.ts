import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPlace } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';

const shipped = join(import.meta.dirname, '../../config/governance');

/** A place with the shipped rules, except that no tool is accepted without asking, and with more rules if wanted. */
export function newToolPlace(moreRules = ''): Place {
  const place = newPlace();
  // Programs that root starts run as another user, who has to come near them.
  chmodSync(place.folder, 0o755);
  const rules = join(place.home, 'governance');
  mkdirSync(place.home, { mode: 0o700 });
  cpSync(shipped, rules, { recursive: true });
  const text = readFileSync(join(rules, 'tools.yaml'), 'utf8').replaceAll('    accept_new: true\n', '');
  writeFileSync(join(rules, 'tools.yaml'), `${text}${moreRules}`);
  return place;
}

/** Writes a program: into the tools folder, or elsewhere when a folder is named. Returns its path. */
export function writeProgram(
  place: Place,
  file: string,
  text: string,
  folder = join(place.home, 'tools', 'bin'),
): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, file);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** What `--schema` of a program in shell prints, and what it does otherwise. */
export function shellProgram(name: string, body: string, more: object = {}): string {
  const schema = {
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input_schema: { type: 'object', additionalProperties: true },
    ...more,
  };
  return `#!/bin/sh\nif [ "$1" = --schema ]; then\ncat <<'END'\n${JSON.stringify(schema)}\nEND\nexit 0\nfi\n${body}\n`;
}
