import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { FileExchanger } from '../harness/exchange-files.ts';
import { ownRules } from '../harness/own-rules.ts';
import { howMuch } from '../harness/how-much.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, listWorkspace, outputOf, writeWorkspaceFile } from './approval-desk.ts';

const calmModes = `version: 1
modes: { NORMAL: { max_running: 64 } }
transitions: []
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;

before(async () => {
  // The shipped rules for tools. These agents are fast, so no rate and no change of mode stops them before the gate does.
  const files = { 'limits.yaml': 'version: 1\nrates: []\napprovals: { max_pending: 200 }\n', 'modes.yaml': calmModes };
  daemon = await TestDaemon.start(ownRules(newPlace(), files));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const at = (...names: readonly string[]): string => join(daemon.place.workspace, ...names);
const codeOf = ({ denied, error, success }: Answer) => denied?.rationaleCode ?? error?.code ?? typeof success;

/** Asks, and a person agrees to what they are shown. */
async function approved(tool: string, input: object, as = token): Promise<string> {
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call(tool, input, { token: as }));
  await desk.approve(taskId);
  return taskId;
}

/** Fills every place of the session, so that calls behind these wait in the order in which they came. */
async function fillPlaces(): Promise<{ readonly ended: Promise<unknown> }> {
  rmSync(at('fill'), { recursive: true, force: true });
  mkdirSync(at('fill'));
  const content = 'x'.repeat(128 * 1024);
  const calls = Array.from({ length: 60 }, (_, index) =>
    daemon.call('files.write', { path: `fill/${index}`, content }, { token }),
  );
  while (listWorkspace(daemon, 'fill').length === 0) await setImmediate();
  return { ended: Promise.all(calls) };
}

test('a write that an agent queues before its approved move does not change what is moved', async () => {
  requirement('APPR-6');
  for (let round = 0; round < 3; round++) {
    const [inbox, outbox] = [`inbox${round}`, `outbox${round}`];
    for (const folder of [inbox, outbox]) mkdirSync(at(folder));
    writeWorkspaceFile(daemon, `${inbox}/shown.txt`);
    const move = { from: inbox, patterns: ['*.txt'], to: outbox };
    const asked = ApprovalDesk.ticketOf(await daemon.call('files.move_glob', move, { token }));
    assert.equal((await desk.show(asked.taskId)).title, `Move 1 file from ${inbox} to ${outbox}`);
    await desk.approve(asked.taskId);
    const { ended } = await fillPlaces();
    const added = daemon.call('files.write', { path: `${inbox}/added.txt`, content: 'not shown' }, { token });
    const moved = await daemon.call('files.move_glob', move, { token, approvalTaskId: asked.taskId });
    outputOf(await added);
    await ended;
    assert.ok(!existsSync(at(outbox, 'added.txt')), 'a file was moved that nobody was shown');
    if (moved.success) continue;
    assert.equal(codeOf(moved), 'APPROVAL_MISMATCH', JSON.stringify(moved));
    assert.deepEqual(listWorkspace(daemon, outbox), []);
  }
});

test('a file that a program exchanges under an approved deletion is not deleted in its place', async () => {
  requirement('APPR-6');
  const trash = join(daemon.place.home, 'trash');
  mkdirSync(at('race'));
  const go = join(daemon.place.folder, 'go');
  const [shown, other] = ['race/shown.txt', 'race/other.txt'];
  const racer = new FileExchanger({ shown: at(shown), other: at(other), go, longestWaitMs: 10 });
  try {
    for (let round = 0; round < howMuch({ usually: 12, long: 300 }); round++) {
      for (const name of listWorkspace(daemon, 'race')) rmSync(at('race', name));
      rmSync(trash, { recursive: true, force: true });
      mkdirSync(trash, { mode: 0o700 });
      writeWorkspaceFile(daemon, shown, 'was shown');
      writeWorkspaceFile(daemon, other, 'must stay');
      // An agent that repeats itself would be stopped by another gate.
      const agent = await daemon.newAgent(`racer-${round}`);
      const approvalTaskId = await approved('files.delete', { path: shown }, agent);
      const answer = await racer.during(() =>
        daemon.call('files.delete', { path: shown }, { token: agent, approvalTaskId }),
      );
      const trashed = readdirSync(trash).map((name) => readFileSync(join(trash, name), 'utf8'));
      const left = listWorkspace(daemon, 'race').map((name) => readFileSync(at('race', name), 'utf8'));
      if (!answer.success) assert.match(codeOf(answer), /^(?:APPROVAL_MISMATCH|NOT_FOUND)$/, JSON.stringify(answer));
      assert.deepEqual(trashed, answer.success ? ['was shown'] : []);
      assert.deepEqual(left.sort(), answer.success ? ['must stay'] : ['must stay', 'was shown']);
    }
  } finally {
    await racer.end();
  }
});

test('what is in a folder is bound as its names are, its empty folders too', async () => {
  requirement('APPR-6');
  for (const change of [
    () => mkdirSync(at('tree/inner/new')),
    () => writeFileSync(at('tree/inner/a.txt'), 'other'),
    () => rmSync(at('tree/inner/empty'), { recursive: true }),
  ]) {
    rmSync(at('tree'), { recursive: true, force: true });
    mkdirSync(at('tree/inner/empty'), { recursive: true });
    writeFileSync(at('tree/inner/a.txt'), 'shown');
    const taskId = await approved('files.delete', { path: 'tree', recursive: true });
    change();
    const answer = await daemon.call(
      'files.delete',
      { path: 'tree', recursive: true },
      { token, approvalTaskId: taskId },
    );
    assert.equal(codeOf(answer), 'APPROVAL_MISMATCH');
    assert.match(answer.denied?.remedy ?? '', /approval_task_id/);
  }
});
