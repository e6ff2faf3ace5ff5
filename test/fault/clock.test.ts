import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

/** A clock that is an hour behind as soon as a file is there. */
const clock = (file: string): string => `
  import { existsSync } from 'node:fs';
  const now = Date.now;
  Date.now = () => now() - (existsSync(${JSON.stringify(file)}) ? 3_600_000 : 0);
`;

test('a clock that is set back neither stops the signing of the log nor the status', async (t) => {
  const place = newPlace();
  const [behind, script] = [join(place.folder, 'behind'), join(place.folder, 'clock.mjs')];
  writeFileSync(script, clock(behind));
  const daemon = await TestDaemon.start(place, { NODE_OPTIONS: `--import=${script}` });
  t.after(() => daemon.remove());
  const call = () => daemon.call('files.list', { path: '.' });
  assert.ok((await call()).success);
  writeFileSync(behind, '');
  assert.ok((await call()).success);
  assert.ok(Number((await daemon.status())['uptimeMs']) >= 0);
  for (;;) {
    const { stdout } = runSallyport(place, ['audit', 'verify']);
    assert.match(stdout, /The log is intact/);
    if (/signed +all of them/.test(stdout)) break;
    await sleep(50);
  }
  rmSync(behind);
  assert.ok((await call()).success);
});
