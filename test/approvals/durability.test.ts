import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, limitApprovals, listWorkspace, outputOf, writeWorkspaceFile } from './approval-desk.ts';

/** A daemon that is killed and started again in the same place. */
class Restartable {
  readonly #place: Place;
  daemon!: TestDaemon;

  private constructor(place: Place) {
    this.#place = place;
  }

  static async start(t: TestContext, place = newPlace()): Promise<Restartable> {
    const restartable = new Restartable(place);
    restartable.daemon = await TestDaemon.start(place);
    t.after(() => restartable.daemon.remove());
    return restartable;
  }

  async killAndStart(pauseMs = 0): Promise<void> {
    await this.daemon.kill('SIGKILL');
    await sleep(pauseMs);
    this.daemon = await TestDaemon.start(this.#place);
  }
}

const remove = (daemon: TestDaemon, token: string, more: object = {}) =>
  daemon.call('files.delete', { path: 'a.txt' }, { token, ...more });

test('a kill between request, decision and run loses nothing and runs nothing twice', async (t) => {
  requirement('APPR-5', 'APPR-6');
  const place = await Restartable.start(t);
  writeWorkspaceFile(place.daemon, 'a.txt');
  const token = await place.daemon.newAgent('ada');
  const { taskId } = ApprovalDesk.ticketOf(await remove(place.daemon, token));
  await place.killAndStart();
  assert.equal((await new ApprovalDesk(place.daemon).show(taskId)).status, 'pending');
  await new ApprovalDesk(place.daemon).approve(taskId);
  await place.killAndStart();
  assert.ok(listWorkspace(place.daemon).includes('a.txt'));
  outputOf(await remove(place.daemon, token, { approvalTaskId: taskId }));
  await place.killAndStart();
  writeWorkspaceFile(place.daemon, 'a.txt');
  const again = await remove(place.daemon, token, { approvalTaskId: taskId });
  assert.match(again.denied?.rationaleCode ?? '', /^APPROVAL_/);
  assert.ok(listWorkspace(place.daemon).includes('a.txt'));
  const runs = (await place.daemon.records()).filter(
    ({ kind, payload }) => kind === 'intent' && payload['tool'] === 'files.delete',
  );
  assert.equal(runs.length, 1);
});

test('what nobody decides expires once, with one record, also when no daemon ran at that time', async (t) => {
  requirement('APPR-5');
  const place = await Restartable.start(t, limitApprovals(newPlace(), '{ expire_seconds: 2, remind_seconds: 1 }'));
  writeWorkspaceFile(place.daemon, 'a.txt');
  const token = await place.daemon.newAgent('ada');
  const { taskId } = ApprovalDesk.ticketOf(await remove(place.daemon, token));
  await place.killAndStart(2500);
  assert.equal((await new ApprovalDesk(place.daemon).show(taskId)).status, 'expired');
  const late = await new ApprovalDesk(place.daemon).decide(taskId, true);
  assert.match(JSON.stringify(late.json), /The time to decide is over/);
  const answer = await remove(place.daemon, token, { approvalTaskId: taskId });
  assert.equal(answer.denied?.rationaleCode, 'APPROVAL_EXPIRED');
  await place.killAndStart();
  const expiries = (await place.daemon.records()).filter(({ payload }) => payload['event'] === 'approval_expired');
  assert.deepEqual(
    expiries.map(({ payload }) => payload['task']),
    [taskId],
  );
});

test('who waits for a decision that nobody makes hears when the time is over', async (t) => {
  requirement('APPR-5');
  const { daemon } = await Restartable.start(t, limitApprovals(newPlace(), '{ expire_seconds: 2, remind_seconds: 1 }'));
  writeWorkspaceFile(daemon, 'a.txt');
  const token = await daemon.newAgent('ada');
  const answer = await remove(daemon, token, { waitMs: 60_000 });
  assert.equal(answer.denied?.rationaleCode, 'APPROVAL_EXPIRED');
});

test('a plan that nobody decides expires once, with one record, also when no daemon ran at that time', async (t) => {
  requirement('APPR-5', 'APPR-8');
  const place = await Restartable.start(t, limitApprovals(newPlace(), '{ expire_seconds: 2, remind_seconds: 1 }'));
  const token = await place.daemon.newAgent('ada');
  const propose = async (more: object = {}): Promise<string> => {
    writeWorkspaceFile(place.daemon, 'a.txt');
    const calls = [{ tool: 'files.delete', inputJson: '{"path":"a.txt"}' }];
    const body = { summary: 'Tidy up.', calls, ...more };
    const { json } = await place.daemon.post('sallyport.v1.PlanService/ProposePlan', body, token);
    const { plan } = json as { plan: { id: string; status: string } };
    return `${plan.id} ${plan.status}`;
  };
  const expiredPlans = async (): Promise<unknown[]> =>
    (await place.daemon.records())
      .filter(({ payload }) => payload['event'] === 'plan_expired')
      .map(({ payload }) => payload['plan']);
  const [first = '', status] = (await propose({ waitMs: 60_000 })).split(' ');
  assert.equal(status, 'expired', 'who waits for the decision hears when the time is over');
  for (let look = 0; look < 250 && (await expiredPlans()).length === 0; look++) await sleep(20);
  assert.deepEqual(await expiredPlans(), [first]);
  const [second = ''] = (await propose()).split(' ');
  await place.killAndStart(2500);
  assert.deepEqual(await expiredPlans(), [first, second]);
  const late = await new ApprovalDesk(place.daemon).send('PlanService/DecidePlan', { id: second, approvedSteps: [0] });
  assert.match(JSON.stringify(late.json), /The time to decide is over/);
  await place.killAndStart();
  assert.deepEqual(await expiredPlans(), [first, second]);
});
