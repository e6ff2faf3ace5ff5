import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const sources = join(root, 'packages/gateway/src');
const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const order = readFileSync(join(sources, 'gateway.ts'), 'utf8');

const walks = ['The walk of a read', 'The walk of an approval', 'The walk of an upstream call'];
/** More than this nobody opens to follow a call. */
const mostStations = 30;

for (const walk of walks) {
  test(`${walk} in ARCHITECTURE.md names files that exist, and stages of gateway.ts`, () => {
    const section = readSection(walk);
    const stations = [...section.matchAll(/^\|[^|]*\| `([\w/.-]+\.ts)`/gm)].map(([, file = '']) => file);
    const named = [...section.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file);
    assert.ok(stations.length > 5, 'the stations of the walk');
    assert.ok(new Set(stations).size <= mostStations, `${stations.length} stations`);
    assert.deepEqual(
      [...new Set(named)].filter((file) => !existsSync(join(sources, file))),
      [],
    );
    const stages = [...readProse(section).matchAll(/`([a-z]+[A-Z]\w+)`/g)].map(([, stage = '']) => stage);
    assert.deepEqual(
      stages.filter((stage) => !order.includes(`(${stage}`)),
      [],
    );
  });
}

function readSection(title: string): string {
  const [, after = ''] = architecture.split(`## ${title}\n`);
  const [section = ''] = after.split('\n## ');
  return section;
}

function readProse(section: string): string {
  return section.replaceAll(/^\|.*$/gm, '');
}
