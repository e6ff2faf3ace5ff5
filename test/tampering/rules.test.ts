import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { startRefusal } from './vandal.ts';

const rules = (path: string): string => `version: 1
rules:
  - { id: read, effect: allow, tools: [files.read], paths: ['$WORKSPACE/${path}'] }
`;

test('rules in force that somebody changed or put back do not start; removed ones are applied anew, on record', async () => {
  const place = ownRules(newPlace(), { 'tools.yaml': rules('**') });
  const copy = join(place.home, 'audit', 'applied-rules.json');
  try {
    const first = await TestDaemon.start(place);
    const loose = readFileSync(copy, 'utf8');
    writeFileSync(join(place.home, 'governance', 'tools.yaml'), rules('docs/**'));
    assert.equal(runSallyport(place, ['policy', 'apply', '--yes']).status, 0);
    await first.kill('SIGTERM');
    const strict = readFileSync(copy, 'utf8');

    writeFileSync(copy, loose);
    assert.match(await startRefusal(place), /older than the rules that were applied last/);
    const { files } = JSON.parse(loose) as { files: object };
    writeFileSync(copy, JSON.stringify({ ...(JSON.parse(strict) as object), files }));
    assert.match(await startRefusal(place), /changed by something other than Sallyport/);
    writeFileSync(copy, JSON.stringify(files));
    assert.match(await startRefusal(place), /is damaged/);
    rmSync(copy);
    const again = await TestDaemon.start(place);
    const events = (await again.records()).map(({ payload }) => payload['event']);
    assert.ok(events.includes('rules_taken_over'));
    await again.kill('SIGKILL');
    assert.equal(await startRefusal(place), 'it started');
  } finally {
    rmSync(place.folder, { recursive: true });
  }
});
