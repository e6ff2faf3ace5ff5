import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadRules } from '../../packages/gateway/src/policy/language/load-rules.ts';
import { exampleKeys, ruleKeys } from '../../packages/gateway/src/policy/language/read-rules.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/rules.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'sallyport-docs-'));
after(() => rmSync(folder, { recursive: true }));

test('every example in the page about rules loads', () => {
  // Files of rules say their version; a file of cases has no version.
  const blocks = [...page.matchAll(/```yaml\n(version:.*?)```/gs)].map(([, text]) => text ?? '');
  assert.equal(blocks.length, 6);
  for (const text of blocks) {
    const isRoles = /^roles:/m.test(text);
    rmSync(join(folder, 'tools.yaml'), { force: true });
    writeFileSync(join(folder, isRoles ? 'roles.yaml' : 'tools.yaml'), text);
    const { count } = loadRules({
      folder,
      home: '/gate',
      workspace: '/work',
      userHome: '/home/ada',
      programFolder: '/opt/sallyport',
      environment: {},
    });
    assert.equal(count > 0, !isRoles, text);
  }
});

test('the page about rules names every key of rules and examples', () => {
  const named = (key: string): boolean => page.includes(`\`${key}\``) || page.includes(`${key}:`);
  assert.deepEqual(
    [...ruleKeys, ...exampleKeys].filter((key) => !named(key)),
    [],
  );
});
