import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { requirement } from '../requirement.ts';

test('64 calls in flight: none lost, one answer each, and the daemon stays responsive', async () => {
  requirement('PIPE-5');
  const daemon = await TestDaemon.start(liftLimits(newPlace()));
  try {
    const token = await daemon.newAgent('busy');
    for (let n = 0; n < 64; n++) writeFileSync(join(daemon.place.workspace, `${n}.txt`), `content ${n}`);
    const calls = Array.from({ length: 640 }, (_, n) => n);
    let responsive = 0;
    const load = new AbortController();
    const watching = (async () => {
      while (!load.signal.aborted) {
        assert.equal((await fetch(`${daemon.address}/healthz`)).status, 200);
        responsive++;
      }
    })();
    const lanes = Array.from({ length: 64 }, async (_, lane) => {
      for (const n of calls.filter((call) => call % 64 === lane)) {
        const answer = await daemon.call('files.read', { path: `${lane}.txt` }, { token, requestId: `call-${n}` });
        assert.equal(answer.requestId, `call-${n}`);
        assert.equal(
          (JSON.parse(answer.success?.outputJson ?? '{}') as { content: string }).content,
          `content ${lane}`,
        );
      }
    });
    await Promise.all(lanes);
    load.abort();
    await watching;
    assert.ok(responsive > 0);
    const records: { kind: string }[] = [];
    for (let from = 0; ; from = records.length) {
      const more = await daemon.records(from);
      if (more.length === 0) break;
      records.push(...more);
    }
    assert.equal(records.filter(({ kind }) => kind === 'intent').length, 640 + 1);
    assert.equal(records.filter(({ kind }) => kind === 'outcome').length, 640 + 1);
  } finally {
    await daemon.remove();
  }
});
