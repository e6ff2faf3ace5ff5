import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { howMuch } from '../harness/how-much.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const rounds = howMuch({ usually: 2, long: 30 });
const names = Array.from({ length: 40 }, (_, at) => `file-${String(at).padStart(2, '0')}`);

function readAll(place: Place): string[] {
  return names.map((name) => readFileSync(join(place.workspace, name), 'utf8'));
}

test('killed in the middle of an undo, each file is in one of its two states, and the undo is reported and finished', async () => {
  const place = liftLimits(newPlace());
  let daemon = await TestDaemon.start(place);
  after(() => daemon.remove());
  for (const name of names) writeFileSync(join(place.workspace, name), `before ${name}`);
  const [before, changed] = [names.map((name) => `before ${name}`), names.map((name) => `after ${name}`)];
  let cutOff = 0;
  for (let round = 0; round < rounds || (cutOff === 0 && round < 20); round++) {
    const token = await daemon.newAgent(`worker-${round}`);
    const traceId = String(round + 1).padStart(32, '0');
    for (const name of names) {
      const answer = await callIn(daemon, traceId, token, name);
      assert.equal(answer, 200);
    }
    assert.deepEqual(readAll(place), changed);

    const asked = await daemon.call('undo.run', { trace_id: traceId });
    const confirmBinding = asked.denied?.approval?.binding;
    assert.ok(confirmBinding, JSON.stringify(asked));
    const undoing = daemon.call('undo.run', { trace_id: traceId }, { confirmBinding }).catch(() => undefined);
    // Some files later each time; the newest goes back first.
    const watched = names.length - 1 - ((round * 7) % 30);
    while (readFileSync(join(place.workspace, names[watched] ?? ''), 'utf8') !== before[watched]) await setImmediate();
    await daemon.kill('SIGKILL');
    const answer = await undoing;

    const found = readAll(place);
    for (const [at, content] of found.entries()) assert.ok([before[at], changed[at]].includes(content), content);
    daemon = await TestDaemon.start(place);
    const isCutOff = answer === undefined;
    if (isCutOff) {
      cutOff++;
      const status = runSallyport(place, ['status', '--json']);
      assert.match(status.stdout, /An undo of 40 changes was cut off by a crash/);
      assert.ok((await daemon.records(0)).length > 0);
    }
    const finished = runSallyport(place, ['undo', '--trace', traceId, '--yes']);
    assert.equal(finished.status, 0, finished.stderr);
    assert.deepEqual(readAll(place), before);
  }
  assert.ok(cutOff > 0, 'no undo was cut off');
});

async function callIn(daemon: TestDaemon, traceId: string, token: string, name: string): Promise<number> {
  const response = await fetch(`${daemon.address}/v1/calls`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      traceparent: `00-${traceId}-0000000000000001-01`,
    },
    body: JSON.stringify({ tool_name: 'files.write', arguments: { path: name, content: `after ${name}` } }),
  });
  await response.arrayBuffer();
  return response.status;
}

test('a call that a kill cut off can be undone with the others of its session', async () => {
  const place = liftLimits(newPlace());
  let daemon = await TestDaemon.start(place);
  after(() => daemon.remove());
  for (const name of names) writeFileSync(join(place.workspace, name), `before ${name}`);
  const token = await daemon.newAgent('worker');
  const writing = names.map((path) => daemon.call('files.write', { path, content: `after ${path}` }, { token }));
  await Promise.race(writing);
  await daemon.kill('SIGKILL');
  await Promise.allSettled(writing);
  daemon = await TestDaemon.start(place);
  const listed = await daemon.call('sessions.list', {});
  const { sessions } = JSON.parse(listed.success?.outputJson ?? '{}') as {
    sessions: { agent: string; sessionId: string }[];
  };
  const session = sessions.find(({ agent }) => agent === 'worker')?.sessionId ?? '';
  const undone = runSallyport(place, ['undo', '--session', session, '--yes']);
  assert.equal(undone.status, 0, undone.stderr);
  assert.deepEqual(
    readAll(place),
    names.map((name) => `before ${name}`),
  );
});
