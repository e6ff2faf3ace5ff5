import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newToolPlace, writeProgram } from '../cli/tool-place.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const secret = 'Zq7-vTx93kLmPw2RbNd8';

test('what a program complains about when it is asked for its schema is shown without secrets', async (t) => {
  const place = newToolPlace();
  writeProgram(place, 'complain', `#!/bin/sh\necho "trouble ${secret}" >&2; exit 3\n`);
  writeProgram(place, 'twice', `#!/bin/sh\necho '{"${secret}":1,"${secret}":2}'\n`);
  const daemon = await TestDaemon.start(place, { DEPLOY_PASSWORD: secret });
  t.after(() => daemon.remove());
  for (const [name, shown] of [
    ['complain', /trouble \[redacted\]/],
    ['twice', /stands twice/],
  ] as const) {
    const { stdout, stderr } = runSallyport(place, ['tool', 'status', name, '--json']);
    assert.match(stdout, shown, stderr);
    assert.doesNotMatch(stdout, /vTx93kLm/);
  }
});
