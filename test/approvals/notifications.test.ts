import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { requirement } from '../requirement.ts';
import { ApprovalDesk, limitApprovals, writeWorkspaceFile } from './approval-desk.ts';

test('another system hears, signed and with a link, what waits, is reminded once, and how it ended', async (t) => {
  requirement('APPR-4', 'APPR-5');
  const receiver = await WebhookReceiver.open(t);
  receiver.isUp = false;
  const place = limitApprovals(newPlace(), '{ expire_seconds: 5, remind_seconds: 3 }');
  writeFileSync(
    join(place.home, 'governance', 'notifications.yaml'),
    `version: 1
console_url: https://gate.example.com
webhook: { url: '${receiver.url}', secret: hook, events: [pending, reminder, expired, decided] }
`,
  );
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' });
  const token = await daemon.newAgent('ada');
  writeWorkspaceFile(daemon, 'a.txt');
  const ask = () => daemon.call('files.delete', { path: 'a.txt' }, { token });
  const { taskId } = ApprovalDesk.ticketOf(await ask());
  ApprovalDesk.ticketOf(await ask());
  receiver.isUp = true;
  const seen: string[] = [];
  for (let count = 0; count < 3; count++) {
    const { headers, body } = await receiver.next();
    const [id, seconds] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
    const expected = createHmac('sha256', 'shared-between-two').update(`${id}.${seconds}.${body}`).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${expected}`);
    const message = JSON.parse(body) as Record<string, string>;
    assert.equal(message['link'], `https://gate.example.com/#/approvals/${taskId}`);
    assert.deepEqual([message['task_id'], message['agent'], message['tool']], [taskId, 'ada', 'files.delete']);
    assert.ok(!body.includes('changed 20'), 'the effect stays here');
    assert.equal(message['created_by'], message['agent']);
    assert.ok(message['assigned_to'] && message['priority'], body);
    seen.push(message['type'] ?? '');
  }
  assert.deepEqual(seen.sort(), ['approval.expired', 'approval.pending', 'approval.reminder']);
});

test('after a restart what still waits is told again, under the same id', async (t) => {
  requirement('APPR-4');
  const receiver = await WebhookReceiver.open(t);
  const place = limitApprovals(newPlace(), '{ max_pending: 5 }');
  writeFileSync(
    join(place.home, 'governance', 'notifications.yaml'),
    `version: 1\nwebhook: { url: '${receiver.url}', secret: hook }\n`,
  );
  let daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' });
  const token = await daemon.newAgent('ada');
  writeWorkspaceFile(daemon, 'a.txt');
  ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: 'a.txt' }, { token }));
  const first = await receiver.next();
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(place);
  const again = await receiver.next();
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
});

test('the desktop of the one who runs the daemon shows what waits, as plain text', async (t) => {
  requirement('APPR-4');
  const place = limitApprovals(newPlace(), '{ max_pending: 5 }');
  writeFileSync(join(place.home, 'governance', 'notifications.yaml'), 'version: 1\ndesktop: true\n');
  const programs = join(place.folder, 'programs');
  const shown = join(place.folder, 'shown');
  mkdirSync(programs);
  writeFileSync(
    join(programs, 'notify-send'),
    // The real program reads escapes in the text, too.
    `#!/bin/sh\nprintf '%s\\n' "$1" "$2" "$3" "$4" > '${shown}.new'\nprintf '%b\\n' "$5" >> '${shown}.new'\nmv '${shown}.new' '${shown}'\n`,
    {
      mode: 0o755,
    },
  );
  const daemon = await TestDaemon.start(place, { PATH: `${programs}:${process.env['PATH'] ?? ''}` });
  t.after(() => daemon.remove());
  const token = await daemon.newAgent('ada');
  const name = String.raw`<b>a\n\074i\076.txt`;
  writeWorkspaceFile(daemon, name);
  ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: name }, { token }));
  while (!existsSync(shown)) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(readFileSync(shown, 'utf8').trim().split('\n'), [
    '--app-name=Sallyport',
    '--urgency=critical',
    '--',
    'ada asks for files.delete',
    String.raw`Delete &lt;b&gt;a\n\074i\076.txt (1 file)`,
  ]);
});

test('a changed file counts at once and what waits is told again; a mistake in it changes nothing and is said', async (t) => {
  requirement('APPR-4');
  const receiver = await WebhookReceiver.open(t);
  const place = limitApprovals(newPlace(), '{ max_pending: 5 }');
  const file = join(place.home, 'governance', 'notifications.yaml');
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' });
  const token = await daemon.newAgent('ada');
  const ask = async (name: string): Promise<string> => {
    writeWorkspaceFile(daemon, name);
    return ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: name }, { token })).taskId;
  };
  const first = await ask('a.txt');
  writeFileSync(file, `version: 1\nwebhook: { url: '${receiver.url}', secret: hook }\n`);
  assert.equal((await receiver.next()).headers['webhook-id'], `${first}.pending`);
  writeFileSync(file, `version: 1\nwebhook: { url: '${receiver.url}', secret: hook, events: [never] }\n`);
  const warnings = async (): Promise<string> => {
    const { warnings: told = [] } = (await daemon.status()) as unknown as { warnings?: string[] };
    // What a daemon of root cannot do is said there, too.
    return JSON.stringify(told.filter((text) => !text.startsWith('Programs cannot')));
  };
  assert.match(await warnings(), /notifications\.yaml:2.*notifications go on as they were before the mistake/);
  const { stdout } = runSallyport(place, ['status']);
  assert.match(stdout, /look at +The notifications cannot be used/);
  const second = await ask('b.txt');
  assert.equal((await receiver.next()).headers['webhook-id'], `${second}.pending`, 'the former settings stay in force');
  writeFileSync(file, 'version: 1\n');
  assert.equal(await warnings(), '[]');
});
