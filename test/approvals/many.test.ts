import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApprovalClock } from '../../packages/gateway/src/approvals/approval-clock.ts';
import { ApprovalWatch, PlanWatch } from '../../packages/gateway/src/approvals/approval-watch.ts';
import { createSigningKey } from '../../packages/log/src/checkpoint.ts';
import type { NewApproval } from '../../packages/gateway/src/call/approval.ts';
import { openSqliteStore } from '../../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../../packages/gateway/src/storage/stores.ts';
import { requirement } from '../requirement.ts';

const count = 10_000;
const expiresAtMs = Date.now() + 300_000;

function newTask(at: number): NewApproval {
  return {
    id: randomUUIDv7(),
    sessionId: randomUUIDv7(),
    agent: 'ada',
    callId: randomUUIDv7(),
    traceId: '0'.repeat(32),
    requestId: 'r-1',
    tool: 'files.write',
    toolVersion: '1.0.0',
    binding: String(at),
    scopeSha256: 'aa'.repeat(32),
    effectSha256: 'ee'.repeat(32),
    title: 'Write a file.',
    effect: '+x'.repeat(200),
    undoable: true,
    risk: 'high',
    ruleId: 'ask',
    reason: 'It writes.',
    rulesHash: 'bb'.repeat(32),
    approverRole: 'senior',
    createdAtMs: Date.now(),
    remindAtMs: expiresAtMs - 100_000,
    expiresAtMs,
  };
}

/** A clock over the store at a time that the test chooses, and what it told. */
function openClock(store: Store, nowMs: number) {
  const [watch, told] = [new ApprovalWatch(), [] as string[]];
  watch.listen(({ kind, task }) => void told.push(`${kind} ${task.id}`));
  const clock = new ApprovalClock({
    store,
    watch,
    plans: new PlanWatch(),
    onFault: (error) => assert.fail(String(error)),
    nowMs: () => nowMs,
  });
  return { clock, told };
}

test('ten thousand that wait are each reminded of once and expire once, through a restart in the middle', async (t) => {
  requirement('APPR-5');
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-many-'));
  const options = {
    databaseFile: join(folder, 'sallyport.db'),
    signingKey: createSigningKey('sallyport/test').privateKey,
    origin: 'sallyport/test',
    checkpointFile: join(folder, 'checkpoint'),
    reserveFile: join(folder, 'reserve'),
    reserveBytes: 0,
    stateKey: randomBytes(32).toString('base64'),
    adoptState: true,
  };
  const first = await openSqliteStore(options);
  const tasks = Array.from({ length: count }, (_, at) => newTask(at));
  await Promise.all(tasks.map((task) => first.openApproval(task)));
  assert.equal((await first.listApprovals({ status: 'pending', limit: 20_000 })).length, count);

  const told: string[] = [];
  const age = async (
    store: Store,
    nowMs: number,
    until: (told: readonly string[]) => boolean | Promise<boolean>,
  ): Promise<void> => {
    const { clock, told: heard } = openClock(store, nowMs);
    await clock.start();
    while (!(await until(heard))) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.close();
    told.push(...heard);
  };
  await age(first, expiresAtMs - 100_000, (heard) => heard.length >= count);
  await age(first, expiresAtMs, (heard) => heard.length >= count / 4);
  await first.close();
  const second = await openSqliteStore(options);
  t.after(async () => {
    await second.close();
    rmSync(folder, { recursive: true });
  });
  await age(
    second,
    expiresAtMs + 1,
    async () => (await second.listApprovals({ status: 'pending', limit: 1 })).length === 0,
  );

  const expected = tasks.flatMap(({ id }) => [`expired ${id}`, `reminder ${id}`]);
  assert.deepEqual(told.toSorted(), expected.toSorted());
  const recorded = new Map<string, number>();
  const size = await second.logSize();
  for (let from = 0; from < size; from += 1000) {
    for (const { payload = '{}' } of await second.readRecords(from, 1000)) {
      const { event, task = '' } = JSON.parse(payload) as { event?: string; task?: string };
      if (event === 'approval_expired') recorded.set(task, (recorded.get(task) ?? 0) + 1);
    }
  }
  assert.deepEqual([recorded.size, new Set(recorded.values())], [count, new Set([1])]);
});
