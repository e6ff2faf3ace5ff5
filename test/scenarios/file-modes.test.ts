import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const tools = join(import.meta.dirname, '../../packages/gateway/src/catalogue/files');

test('the file tools obey file modes also where the tests run as root', () => {
  // Root that gave up the right to override modes is bound by them like anyone else.
  const asRoot = process.getuid?.() === 0;
  const withoutOverride = [
    '--bounding-set=-dac_override,-dac_read_search',
    '--inh-caps=-dac_override,-dac_read_search',
  ];
  const command = asRoot ? ['setpriv', ...withoutOverride, process.execPath] : [process.execPath];
  const [program = '', ...args] = [
    ...command,
    ...[
      '--test',
      '--test-isolation=none',
      '--test-reporter=spec',
      '--test-name-pattern=closed to the gate|by its mode',
    ],
    ...['files-read.test.ts', 'files-write.test.ts'].map((file) => join(tools, file)),
  ];
  const environment = { ...process.env };
  delete environment['NODE_TEST_CONTEXT'];
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: environment });
  assert.match(stdout, /pass 2\n/, stdout + stderr);
  assert.match(stdout, /fail 0\n/, stdout + stderr);
});
