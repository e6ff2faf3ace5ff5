import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ApprovalDesk } from '../../approvals/approval-desk.ts';
import { TestDaemon } from '../../harness/daemon.ts';
import { requirement } from '../../requirement.ts';
import { connectPeer, factsOf, peerKinds, textOf } from './peers.ts';
import type { Asked, Peer, PeerKind, PeerOptions } from './peers.ts';

let daemon: TestDaemon;
let desk: ApprovalDesk;
before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
});
after(() => daemon.remove());

let agents = 0;
async function connect(t: TestContext, kind: PeerKind, options: PeerOptions = {}): Promise<Peer> {
  const token = await daemon.newAgent(`agent-${++agents}`);
  return connectPeer(t, kind, { url: new URL('/mcp', daemon.address), token }, options);
}

/** A file whose deletion needs a person, and the call that deletes it. */
function newFile(): { readonly file: string; readonly args: { readonly path: string } } {
  const path = `doomed-${++agents}.txt`;
  const file = join(daemon.place.workspace, path);
  writeFileSync(file, 'content');
  return { file, args: { path } };
}

async function awaitPending(path: string): Promise<string> {
  for (;;) {
    const task = (await desk.pending()).find(({ title }) => title.includes(path));
    if (task !== undefined) return task.id;
    await setTimeout(20);
  }
}

const now = { meta: { 'sallyport/wait_ms': 0 } };

for (const kind of peerKinds) {
  test(`a call of ${kind} waits for the person and runs when they approve`, async (t) => {
    requirement('WIRE-5');
    const peer = await connect(t, kind);
    const { file, args } = newFile();
    const messages: (string | undefined)[] = [];
    const call = peer.call('files_delete', args, { onprogress: ({ message }) => void messages.push(message) });
    const taskId = await awaitPending(args.path);
    assert.ok(existsSync(file), 'nothing happens before the decision');
    await desk.approve(taskId);
    const result = await call;
    assert.notEqual(result.isError, true, textOf(result));
    assert.ok(!existsSync(file));
    assert.ok(
      messages.some((message) => message?.includes(`${daemon.address}/#/approvals/${taskId}`)),
      'the link is told while the call waits',
    );
  });

  test(`${kind} gets a ticket with the link when nobody decides, and the same call goes on waiting`, async (t) => {
    requirement('WIRE-5');
    const peer = await connect(t, kind);
    const { file, args } = newFile();
    const pending = await peer.call('files_delete', args, now);
    assert.equal(pending.isError, true);
    const { code, approval } = factsOf(pending) as { code: string; approval: { task_id: string; url: string } };
    assert.equal(code, 'APPROVAL_REQUIRED');
    assert.equal(approval.url, `${daemon.address}/#/approvals/${approval.task_id}`);
    assert.ok(textOf(pending).includes(approval.url));
    assert.match(textOf(pending), /It has not run\..*\nWhat to do: .*make the same call again/);

    const again = peer.call('files_delete', args);
    await setTimeout(100);
    const task = await desk.show(approval.task_id);
    assert.equal(task.wanted ?? 1, 1, 'who goes on waiting wants no second run');
    await desk.approve(approval.task_id);
    assert.notEqual((await again).isError, true);
    assert.ok(!existsSync(file));
  });
}

test('a call waits no longer than its client wants to, and then has the ticket', async (t) => {
  requirement('WIRE-5');
  const peer = await connect(t, 'v2');
  const { file, args } = newFile();
  const messages: (string | undefined)[] = [];
  const pending = await peer.call('files_delete', args, {
    meta: { 'sallyport/wait_ms': 1500 },
    onprogress: ({ message }) => void messages.push(message),
  });
  const { code, approval } = factsOf(pending) as { code: string; approval: { url: string } };
  assert.equal(code, 'APPROVAL_REQUIRED');
  assert.ok(
    messages.some((message) => message?.includes(approval.url)),
    'it did wait',
  );
  assert.ok(existsSync(file));
});

test('a decision that falls while nobody waits is told with the next call', async (t) => {
  const peer = await connect(t, 'v1');
  const { file, args } = newFile();
  const first = factsOf(await peer.call('files_delete', args, now)) as { approval: { task_id: string } };
  await desk.decide(first.approval.task_id, false, { note: 'Keep that one.' });
  const told = await peer.call('files_delete', args, now);
  assert.equal(factsOf(told)['code'], 'APPROVAL_DENIED');
  assert.match(textOf(told), /Keep that one\./);
  assert.ok(existsSync(file));

  const asked = factsOf(await peer.call('files_delete', args, now)) as { code: string; approval: { task_id: string } };
  assert.equal(asked.code, 'APPROVAL_REQUIRED', 'asking once more asks anew');
  assert.notEqual(asked.approval.task_id, first.approval.task_id);
});

test('when the effect has changed since it was shown, the same call is asked about anew', async (t) => {
  const peer = await connect(t, 'v1');
  const { file, args } = newFile();
  type Pending = { readonly code: string; readonly approval: { readonly task_id: string } };
  const first = factsOf(await peer.call('files_delete', args, now)) as Pending;
  writeFileSync(file, 'something longer than before');
  const second = factsOf(await peer.call('files_delete', args, now)) as Pending;
  assert.equal(second.code, 'APPROVAL_REQUIRED');
  assert.notEqual(second.approval.task_id, first.approval.task_id);
});

test('a client can name the task that it waits for', async (t) => {
  const peer = await connect(t, 'v2');
  const { file, args } = newFile();
  const first = factsOf(await peer.call('files_delete', args, now)) as { approval: { task_id: string } };
  const { task_id: id } = first.approval;
  await desk.approve(id);
  const other = await peer.call('files_delete', newFile().args, { meta: { 'sallyport/approval_task_id': id } });
  assert.equal(factsOf(other)['code'], 'APPROVAL_MISMATCH', 'the approval is for that call and no other');
  const run = await peer.call('files_delete', args, { meta: { 'sallyport/approval_task_id': id } });
  assert.notEqual(run.isError, true, textOf(run));
  assert.ok(!existsSync(file));
});

for (const kind of peerKinds) {
  test(`${kind} shows the person the link, whose answer there decides nothing`, async (t) => {
    requirement('WIRE-5');
    const { file, args } = newFile();
    const shown: Asked[] = [];
    const peer = await connect(t, kind, {
      answerLink: (asked) => {
        shown.push(asked);
        return Promise.resolve('accept');
      },
    });
    const call = peer.call('files_delete', args);
    const taskId = await awaitPending(args.path);
    while (shown.length === 0) await setTimeout(20);
    assert.equal(shown[0]?.mode, 'url');
    assert.equal(shown[0].url, `${daemon.address}/#/approvals/${taskId}`);
    await setTimeout(200);
    assert.ok(existsSync(file), 'accepting to look is no approval');
    assert.equal((await desk.show(taskId)).status, 'pending');
    await desk.approve(taskId);
    const result = await call;
    assert.notEqual(result.isError, true, textOf(result));
    assert.ok(!existsSync(file));
  });
}

test('a link that the person declines to open leaves the call waiting for the one who decides', async (t) => {
  const { file, args } = newFile();
  const peer = await connect(t, 'v2', { answerLink: () => Promise.resolve('decline') });
  const pending = await peer.call('files_delete', args);
  const { code, approval } = factsOf(pending) as { code: string; approval: { task_id: string } };
  assert.equal(code, 'APPROVAL_REQUIRED');
  assert.equal((await desk.show(approval.task_id)).status, 'pending');
  assert.ok(existsSync(file));
});
