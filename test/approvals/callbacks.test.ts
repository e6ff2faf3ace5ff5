import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Arrived } from '../harness/webhook-receiver.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, limitApprovals, outputOf, writeWorkspaceFile } from './approval-desk.ts';

interface Caller {
  readonly token: string;
  readonly secret: string;
  readonly sessionId: string;
}

async function createCaller(daemon: TestDaemon, callbackUrl: string): Promise<Caller> {
  const created = outputOf(await daemon.call('sessions.create', { agent: 'ada', callback_url: callbackUrl }));
  const [token, secret, sessionId] = ['token', 'callbackSecret', 'sessionId'].map((key) => String(created[key]));
  return { token: token ?? '', secret: secret ?? '', sessionId: sessionId ?? '' };
}

async function askToDelete(daemon: TestDaemon, { token }: Caller, name: string, more: object = {}): Promise<string> {
  writeWorkspaceFile(daemon, name);
  return ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: name }, { token, ...more })).taskId;
}

async function start(t: TestContext, limits = '{ max_pending: 5 }'): Promise<TestDaemon> {
  const daemon = await TestDaemon.start(limitApprovals(newPlace(), limits));
  t.after(() => daemon.remove());
  return daemon;
}

/** The body, once the signature was found to be that of the session. */
function verified({ headers, body }: Arrived, { secret }: Caller): Record<string, string> {
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return JSON.parse(body) as Record<string, string>;
}

test('a caller that cannot wait is called back, signed, with how its call was decided, and never with the effect', async (t) => {
  requirement('APPR-2');
  const receiver = await WebhookReceiver.open(t);
  const daemon = await start(t);
  const desk = new ApprovalDesk(daemon);
  const [caller, other] = [await createCaller(daemon, receiver.url), await createCaller(daemon, receiver.url)];
  assert.notEqual(caller.secret, other.secret);

  const context = { correlationId: 'thread-7' };
  const approved = await askToDelete(daemon, caller, 'a.txt', { requestId: 'r-1', context });
  await desk.approve(approved);
  const first = await receiver.next();
  const message = verified(first, caller);
  assert.equal(first.headers['webhook-id'], `${approved}.callback`);
  const { call_id: callId, trace_id: traceId, decided_at: decidedAt, ...rest } = message;
  assert.ok(callId && traceId && decidedAt);
  assert.deepEqual(rest, {
    type: 'approval.decided',
    task_id: approved,
    status: 'approved',
    tool: 'files.delete',
    session_id: caller.sessionId,
    request_id: 'r-1',
    correlation_id: 'thread-7',
  });

  const denied = await askToDelete(daemon, other, 'b.txt');
  await desk.decide(denied, false, { note: 'Move it instead.' });
  const second = verified(await receiver.next(), other);
  assert.deepEqual([second['task_id'], second['status'], second['note']], [denied, 'denied', 'Move it instead.']);
  assert.ok(!JSON.stringify([message, second]).includes('.txt'), 'what it would do stays here');

  const quiet = await daemon.newAgent('ada');
  writeWorkspaceFile(daemon, 'c.txt');
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: 'c.txt' }, { token: quiet }));
  await desk.approve(taskId);
  const last = await askToDelete(daemon, caller, 'd.txt');
  await desk.approve(last);
  assert.equal(verified(await receiver.next(), caller)['task_id'], last, 'a session without a callback calls nobody');
  assert.deepEqual(receiver.left, []);
});

test('a caller also hears that nobody decided in time', async (t) => {
  requirement('APPR-2');
  const receiver = await WebhookReceiver.open(t);
  const daemon = await start(t, '{ expire_seconds: 2, remind_seconds: 1 }');
  const caller = await createCaller(daemon, receiver.url);
  const taskId = await askToDelete(daemon, caller, 'a.txt');
  const { type, status, task_id: told } = verified(await receiver.next(), caller);
  assert.deepEqual([type, status, told], ['approval.expired', 'expired', taskId]);
});

test('what a caller was not told before the daemon was killed it is told after the next start, once', async (t) => {
  const receiver = await WebhookReceiver.open(t);
  const first = await start(t);
  const caller = await createCaller(first, receiver.url);
  const told = await askToDelete(first, caller, 'a.txt');
  await new ApprovalDesk(first).approve(told);
  await receiver.next();
  receiver.isUp = false;
  const untold = await askToDelete(first, caller, 'b.txt');
  await new ApprovalDesk(first).decide(untold, false, { note: 'No.' });
  await first.kill('SIGKILL');
  receiver.isUp = true;
  const daemon = await TestDaemon.start(first.place);
  t.after(() => daemon.remove());
  const again = await receiver.next();
  assert.equal(again.headers['webhook-id'], `${untold}.callback`);
  assert.deepEqual([verified(again, caller)['status'], verified(again, caller)['note']], ['denied', 'No.']);
  assert.deepEqual(receiver.left, [], 'the same secret, and nothing twice');
});

test('only an operator gives a session a callback, and who lists sessions sees that there is one', async (t) => {
  const receiver = await WebhookReceiver.open(t);
  const daemon = await start(t);
  const { place } = daemon;
  const shown = runSallyport(place, ['session', 'create', 'ada', '--callback', receiver.url]);
  assert.equal(shown.status, 0, shown.stderr);
  const [secret = assert.fail(shown.stdout)] = /whsec_\S+/.exec(shown.stdout) ?? [];
  const [token = assert.fail(shown.stdout)] = /sp_[A-Za-z0-9_-]{43}/.exec(shown.stdout) ?? [];
  const refused = await daemon.call('sessions.create', { agent: 'bob', callback_url: receiver.url }, { token });
  assert.equal(refused.denied?.rationaleCode, 'UNKNOWN_TOOL');
  const { sessions } = outputOf(await daemon.call('sessions.list', {})) as { sessions: Record<string, string>[] };
  const { sessionId: id = '', callbackUrl: url } = sessions.find(({ agent }) => agent === 'ada') ?? {};
  assert.equal(url, receiver.url);
  for (const args of [
    ['session', 'list'],
    ['session', 'show', id],
    ['session', 'list', '--json'],
  ]) {
    const { stdout } = runSallyport(place, args);
    assert.match(stdout, args.includes('show') || args.includes('--json') ? /callback ?url/i : /CALLBACK[^]*yes/);
    assert.ok(!stdout.includes(secret), args.join(' '));
  }
  const bad = runSallyport(place, ['session', 'create', 'eve', '--callback', 'http://192.168.0.1/x']);
  assert.notEqual(bad.status, 0);
  assert.match(bad.stderr + bad.stdout, /must begin with https:/);
  assert.ok(!JSON.stringify(await daemon.records()).includes(secret));

  const request = { agent: 'typed', callbackUrl: receiver.url };
  const typed = await new ApprovalDesk(daemon).send('SessionService/CreateSession', request);
  assert.match(String(typed.json['callbackSecret']), /^whsec_/);
  const found = await new ApprovalDesk(daemon).send('SessionService/GetSession', {
    sessionId: typed.json['sessionId'],
  });
  assert.equal((found.json['session'] as Record<string, string>)['callbackUrl'], receiver.url);
});
