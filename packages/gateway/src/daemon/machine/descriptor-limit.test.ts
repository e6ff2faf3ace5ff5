import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectionsWithin } from './descriptor-limit.ts';

const file = fileURLToPath(new URL('descriptor-limit.ts', import.meta.url));

test('the limit is that of the process, whatever was set when it started', () => {
  const print = `import(${JSON.stringify(file)}).then((m) => console.log(m.readDescriptorLimit()))`;
  const command = `ulimit -n 300 && exec "$0" -e '${print}'`;
  assert.equal(execFileSync('sh', ['-c', command, process.execPath], { encoding: 'utf8' }).trim(), '300');
});

test('connections leave half of the descriptors to the daemon', () => {
  assert.equal(connectionsWithin(1024), 512);
  assert.equal(connectionsWithin(1_000_000), 4000);
  assert.equal(connectionsWithin(undefined), 4000);
});
