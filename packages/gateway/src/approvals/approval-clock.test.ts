import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalTask, Plan } from '../call/approval.ts';
import { ApprovalClock } from './approval-clock.ts';
import { ApprovalWatch, PlanWatch } from './approval-watch.ts';
import type { ApprovalNews } from './approval-watch.ts';

const task = (id: string, status: ApprovalTask['status'] = 'pending') => ({ id, status }) as ApprovalTask;

/** A store whose next deadline and whose due tasks the test sets. */
function openClock() {
  const due = { expired: [] as ApprovalTask[], reminders: [] as ApprovalTask[], plans: [] as Plan[] };
  const plans = new PlanWatch();
  const [watch, news, faults]: [ApprovalWatch, ApprovalNews[], unknown[]] = [new ApprovalWatch(), [], []];
  let deadline: number | undefined;
  let looked = 0;
  let failure: Error | undefined;
  watch.listen((each) => news.push(each));
  const clock = new ApprovalClock({
    store: {
      ageApprovals: async () => {
        looked++;
        deadline = undefined;
        if (failure !== undefined) throw failure;
        const { expired, reminders } = due;
        return { expired: expired.splice(0), reminders: reminders.splice(0), expiredPlans: due.plans.splice(0) };
      },
      nextApprovalDeadlineMs: () => Promise.resolve(deadline),
    },
    watch,
    plans,
    onFault: (error) => faults.push(error),
    nowMs: () => 1000,
  });
  const set = (at: number | undefined) => (deadline = at);
  const fail = (error: Error | undefined) => (failure = error);
  return { clock, watch, plans, news, faults, due, set, fail, looked: () => looked };
}

test('what became due while nobody looked is told at the start, and what has ended is not reminded of', async () => {
  const { clock, news, due } = openClock();
  due.expired.push(task('old', 'expired'));
  due.reminders.push(task('waits'), task('old', 'expired'));
  await clock.start();
  assert.deepEqual(
    news.map((each) => [each.kind, each.task.id]),
    [
      ['expired', 'old'],
      ['reminder', 'waits'],
    ],
  );
  await clock.close();
});

test('it looks again when the next one is due, also for one that came meanwhile', async () => {
  const { clock, watch, set, looked } = openClock();
  await clock.start();
  assert.equal(looked(), 1);
  set(1000);
  watch.tell({ kind: 'pending', task: task('new') });
  while (looked() < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await clock.close();
});

test('a look that fails is reported, and the clock goes on', async () => {
  const { clock, faults, fail, news, due } = openClock();
  fail(new Error('the store is busy'));
  await clock.start();
  assert.equal(faults.length, 1);
  fail(undefined);
  due.expired.push(task('later', 'expired'));
  await clock.start();
  assert.equal(news.length, 1);
  await clock.close();
});

test('a plan that nobody decided in time is told of, and one that is proposed moves the next look', async () => {
  const { clock, plans, due, set, looked } = openClock();
  const told: string[] = [];
  plans.listen(({ kind, plan }) => told.push(`${kind} ${plan.id}`));
  due.plans.push({ id: 'old' } as Plan);
  await clock.start();
  assert.deepEqual(told, ['expired old']);
  set(1000);
  plans.tell({ kind: 'pending', plan: { id: 'new' } as Plan });
  while (looked() < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await clock.close();
});
