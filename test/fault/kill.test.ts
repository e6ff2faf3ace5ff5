import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { howMuch } from '../harness/how-much.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const rounds = howMuch({ usually: 8, long: 100 });
const inFlight = 8;

interface Acknowledged {
  readonly callId: string;
  readonly file: string;
  readonly content: string;
}

/** Writes files as fast as it can until the daemon is gone; returns what was answered with success. */
async function load(daemon: TestDaemon, token: string, round: number, onFirst: () => void): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  const worker = async (lane: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const file = `r${round}-${lane}-${n}.txt`;
      const content = `${round} ${lane} ${n}`;
      try {
        const answer = await daemon.call('files.write', { path: file, content }, { token });
        if (answer.success) acknowledged.push({ callId: answer.callId, file, content });
        onFirst();
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => worker(lane)));
  return acknowledged;
}

test(`killed at ${rounds} random moments under load, the gate loses nothing it has answered`, async () => {
  requirement('NFR-2', 'AUD-2', 'PIPE-5');
  const place = liftLimits(newPlace());
  const acknowledged: Acknowledged[] = [];
  let daemon = await TestDaemon.start(place);
  after(() => daemon.remove());
  const token = await daemon.newAgent('loader', { expires_in_minutes: 60 });
  for (let round = 0; round < rounds; round++) {
    const { promise: underWay, resolve: onFirst } = Promise.withResolvers<void>();
    const loading = load(daemon, token, round, onFirst);
    await underWay;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
    await daemon.kill('SIGKILL');
    acknowledged.push(...(await loading));
    assert.ok(existsSync(join(place.home, 'run', 'daemon.lock')), 'the killed daemon leaves its lock behind');
    daemon = await TestDaemon.start(place);
  }

  assert.ok(acknowledged.length > rounds, `only ${acknowledged.length} calls were answered; the load was no load`);
  for (const { file, content } of acknowledged)
    assert.equal(readFileSync(join(place.workspace, file), 'utf8'), content);

  const outcomes = new Map<string, string>();
  const intents = new Set<string>();
  for (let from = 0; ;) {
    const records = await daemon.records(from);
    if (records.length === 0) break;
    from += records.length;
    for (const record of records) {
      if (record.kind === 'intent') intents.add(record.callId);
      if (record.kind !== 'outcome') continue;
      assert.ok(intents.has(record.callId), 'an outcome follows its intent');
      assert.ok(!outcomes.has(record.callId), 'a call has one outcome');
      outcomes.set(record.callId, record.result);
    }
  }
  for (const { callId } of acknowledged) assert.equal(outcomes.get(callId), 'ok', `call ${callId} was answered`);
  for (const callId of intents) assert.ok(outcomes.has(callId), `intent ${callId} has no outcome`);
  assert.ok([...outcomes.values()].includes('unknown'), 'a kill under load cuts some call off');

  const verified = runSallyport(place, ['audit', 'verify', '--json']);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
});
