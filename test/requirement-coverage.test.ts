import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { collectCitations, findCitedIds, renderCoverage, root } from './requirement-citations.ts';
import { requirement } from './requirement.ts';
import { requirementAreas, requirements } from './requirements.ts';

test('every requirement that a test cites exists', (t) => {
  const citations = collectCitations();
  const unknown = [...citations].filter(([id]) => !requirements.has(id));
  assert.deepEqual(
    unknown.map(([id, files]) => `${id} is cited by ${[...files].join(', ')}`),
    [],
  );
  assert.ok(citations.size > 0, 'no test cites anything, so the scan must be broken');
  t.diagnostic(renderCoverage(citations));
});

test('ids are numbered without gaps inside their area', () => {
  for (const { area, requirements: listed } of requirementAreas) {
    assert.deepEqual(
      Object.keys(listed),
      Object.keys(listed).map((_, at) => `${area}-${at + 1}`),
    );
  }
});

test('citations are found however they are written', () => {
  const name = 'requirement';
  assert.deepEqual(findCitedIds(`${name}('DEF-1'); ${name}("DEF-2", 'DEF-3');`), ['DEF-1', 'DEF-2', 'DEF-3']);
  assert.deepEqual(findCitedIds(`${name}(\n  'DEF-1',\n  'DEF-2',\n)`), ['DEF-1', 'DEF-2']);
  assert.deepEqual(findCitedIds(`my${name}('DEF-1'); the ${name} 'DEF-2'`), []);
});

test('the report lists what is proved with its files, and what is open', () => {
  const report = renderCoverage(new Map([['DEF-1', new Set(['test/a.test.ts'])]]));
  assert.match(report, /✔ DEF-1 .*\n\s+test\/a\.test\.ts/);
  assert.match(report, /· DEF-2 /);
  assert.match(report, new RegExp(`1 of ${requirements.size} requirements are cited by a test`));
});

test('citing an id that does not exist fails the test', () => {
  const unknown = ['DEF', 99].join('-');
  assert.throws(() => requirement(unknown), /DEF-99 is no requirement/);
});

test('a citation is written to the file that the runner names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-citation-'));
  try {
    const out = join(folder, 'out');
    const code = `import { test } from 'node:test';
      import { requirement as cite } from ${JSON.stringify(join(import.meta.dirname, 'requirement.ts'))};
      test('a name', () => cite('DEF-1', 'DEF-2'));`;
    const environment = { ...process.env, SALLYPORT_REQUIREMENTS_OUT: out };
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      env: environment,
      cwd: root,
    });
    assert.equal(status, 0);
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => [line.split('\t')[0], line.split('\t')[2]]),
      [
        ['DEF-1', 'a name'],
        ['DEF-2', 'a name'],
      ],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
