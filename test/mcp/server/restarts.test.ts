import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ApprovalDesk } from '../../approvals/approval-desk.ts';
import { TestDaemon } from '../../harness/daemon.ts';
import { requirement } from '../../requirement.ts';
import { Bridge, callTool } from './bridge.ts';
import { connectPeer, factsOf, peerKinds, textOf } from './peers.ts';
import type { Peer, PeerKind } from './peers.ts';

// One home: each test ends its daemon and goes on with the next one.
let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

async function startAgain(): Promise<void> {
  daemon = await TestDaemon.start(daemon.place);
}

function put(name: string): string {
  const file = join(daemon.place.workspace, name);
  writeFileSync(file, 'content');
  return file;
}

test('clients of all kinds go on over a restart of the daemon', async (t) => {
  put('a.txt');
  const clients = await Promise.all(
    peerKinds.map(async (kind) => {
      const told = { changes: 0 };
      const way = { place: daemon.place, token: await daemon.newAgent('ada') };
      const peer = await connectPeer(t, kind, way, { onToolsChanged: () => void told.changes++ });
      assert.match(textOf(await peer.call('files_read', { path: 'a.txt' })), /content/);
      return { peer, told };
    }),
  );
  await daemon.kill('SIGTERM');
  const meanwhile = clients.map(({ peer }) => peer.call('files_list', { path: '.' }));
  await startAgain();
  for (const answer of await Promise.all(meanwhile)) assert.notEqual(answer.isError, true, textOf(answer));
  for (const { peer, told } of clients) {
    assert.match(textOf(await peer.call('files_read', { path: 'a.txt' })), /content/);
    while (told.changes === 0) await setTimeout(20);
  }
});

for (const [way, callsBefore] of [
  ['as a request', 0],
  ['on a line of messages', 3],
] as const) {
  test(`a call that the daemon held ${way} when it was killed is answered with an error, and not made twice`, async (t) => {
    const path = `held-${callsBefore}.txt`;
    put(path);
    const bridge = new Bridge(t, daemon.place, await daemon.newAgent('ada'));
    await bridge.begin();
    for (let id = 101; id <= 100 + callsBefore; id++) {
      bridge.send(callTool(id, 'files_read', { path }));
      await bridge.answer(id);
      // The line is opened beside the first call.
      await setTimeout(100);
    }
    bridge.send(callTool(1, 'files_delete', { path }));
    const desk = new ApprovalDesk(daemon);
    while (!(await desk.pending()).some(({ title }) => title.includes(path))) await setTimeout(20);
    await daemon.kill('SIGKILL');
    assert.match((await bridge.answer(1)).error?.message ?? '', /ended before it answered/);
    await startAgain();
    bridge.send(callTool(2, 'files_read', { path }));
    assert.notEqual((await bridge.answer(2)).result?.['isError'], true);
    const records = (await daemon.records()).filter(
      ({ payload }) => payload['tool'] === 'files.delete' && JSON.stringify(payload).includes(path),
    );
    assert.ok(records.length <= 1, JSON.stringify(records));
  });
}

test('who has a ticket goes on waiting after a restart, and hears what was decided before', async (t) => {
  requirement('WIRE-5');
  const now = { meta: { 'sallyport/wait_ms': 0 } };
  const owners = await Promise.all(
    peerKinds.map(async (kind) => {
      const token = await daemon.newAgent('ada');
      const peer = await connectHere(t, kind, token);
      const ask = async (what: string) => {
        const path = `${what}-${peerKinds.indexOf(kind)}.txt`;
        const file = put(path);
        const ticket = factsOf(await peer.call('files_delete', { path }, now)) as { approval: { task_id: string } };
        return { path, file, taskId: ticket.approval.task_id };
      };
      const asked = { named: await ask('named'), repeated: await ask('repeated') };
      return { kind, token, ...asked, denied: await ask('denied'), approved: await ask('approved') };
    }),
  );
  const earlier = new ApprovalDesk(daemon);
  for (const { denied, approved } of owners) {
    await earlier.decide(denied.taskId, false, { note: 'Keep that one.' });
    await earlier.approve(approved.taskId);
  }
  await daemon.kill('SIGKILL');
  await startAgain();

  const desk = new ApprovalDesk(daemon);
  for (const { kind, token, named, repeated, denied, approved } of owners) {
    const peer = await connectHere(t, kind, token);
    const remove = (path: string, more = {}) => peer.call('files_delete', { path }, more);
    const waiting = [
      remove(repeated.path),
      remove(named.path, { meta: { 'sallyport/approval_task_id': named.taskId } }),
    ];
    assert.match(textOf(await remove(denied.path)), /APPROVAL_DENIED.*Keep that one\./);
    assert.ok(existsSync(denied.file));
    assert.notEqual((await remove(approved.path)).isError, true);
    assert.ok(!existsSync(approved.file));
    for (const { taskId } of [repeated, named]) {
      const task = await desk.show(taskId);
      assert.equal(task.wanted ?? 1, 1, 'who goes on waiting wants no second run');
      await desk.approve(taskId);
    }
    for (const answer of await Promise.all(waiting)) assert.notEqual(answer.isError, true, textOf(answer));
    assert.ok(!existsSync(repeated.file) && !existsSync(named.file));
  }
});

function connectHere(t: TestContext, kind: PeerKind, token: string): Promise<Peer> {
  return connectPeer(t, kind, { url: new URL('/mcp', daemon.address), token });
}
