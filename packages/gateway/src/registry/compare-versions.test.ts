import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { compareVersions } from './compare-versions.ts';

test('versions are ordered as Semantic Versioning says, and what is not one comes first', () => {
  requirement('DEF-7');
  const ordered = [
    'latest',
    'v1',
    'v2',
    'v10',
    '0.9.0',
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.0+build.1',
    '1.2.0',
    '1.10.0',
    '2.0.0',
    '10.0.0',
  ];
  assert.deepEqual(ordered.toSorted(compareVersions), ordered);
  assert.deepEqual(ordered.toReversed().sort(compareVersions), ordered);
});

test('the order is total, whatever the versions look like', () => {
  const version = fc.oneof(fc.stringMatching(/^\d\.\d{1,2}\.\d(-[a-c0-9.]{1,4})?$/), fc.string({ maxLength: 6 }));
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      assert.equal(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a)), 0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) assert.ok(compareVersions(a, c) <= 0);
      if (compareVersions(a, b) === 0) assert.equal(a, b);
    }),
  );
});
