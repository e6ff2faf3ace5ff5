import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { requirement } from '../requirement.ts';

const limitsYaml = `version: 1
rates: [{ tools: [files.read], per_day: 1 }]
repeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }
quarantine: { at: 20, window_minutes: 10, denied: 1, error: 0, timeout: 0 }
anomalies: { repeated_failures: false }
`;

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

test('the senior of an agent hears, signed and once, that it ignores its limits, and that it was shut off', async (t) => {
  requirement('RATE-3');
  const receiver = await WebhookReceiver.open(t);
  const notificationsYaml = `version: 1
console_url: https://gate.example.com
webhook: { url: '${receiver.url}', secret: hook }
desktop: true
`;
  const files = { 'limits.yaml': limitsYaml, 'modes.yaml': 'version: 1\n', 'notifications.yaml': notificationsYaml };
  const place = ownRules(newPlace(), files);
  const shown = join(place.folder, 'shown');
  writeFileSync(join(place.folder, 'notify-send'), `#!/bin/sh\necho "$4" >> '${shown}'\n`, { mode: 0o755 });
  const daemon = await TestDaemon.start(place, { PATH: `${place.folder}:${process.env['PATH'] ?? ''}` });
  t.after(() => daemon.remove());
  const confirm = async (tool: string, input: object): Promise<void> => {
    const asked = await daemon.call(tool, input);
    const done = await daemon.call(tool, input, { confirmBinding: asked.denied?.approval?.binding ?? '' });
    assert.ok(done.success, JSON.stringify(done));
  };
  await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' });
  await daemon.call('people.add', { name: 'sue' });
  await confirm('teams.put', { name: 'web', senior: 'sue' });
  await confirm('create_agent', { name: 'ada', team: 'web' });
  const ada = await daemon.newAgent('ada');
  const read = (path: string, token: string) => daemon.call('files.read', { path }, { token });

  await read('none.txt', ada);
  const limited = await Promise.all(Array.from({ length: 40 }, () => read('none.txt', ada)));
  assert.deepEqual(new Set(limited.map(codeOf)), new Set(['RATE_LIMITED']));
  const first = JSON.parse((await receiver.next()).body) as Record<string, unknown>;
  const { session_id: sessionId } = first;
  assert.deepEqual(
    { ...first, created_at: '' },
    {
      ...{ type: 'abuse.limits_ignored', session_id: sessionId, agent: 'ada', tool: 'files.read', for: 'sue' },
      ...{ rule: 'rate-limit-86400s', refusals: 10, created_at: '' },
      link: `https://gate.example.com/#/sessions/${String(sessionId)}`,
    },
  );

  await Promise.allSettled(Array.from({ length: 30 }, () => read('/etc/passwd', ada)));
  await assert.rejects(read('none.txt', ada), /in quarantine/);
  const { headers, body } = await receiver.next();
  assert.match(String(headers['webhook-signature']), /^v1,/);
  const second = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual(
    [second['type'], second['session_id'], second['for']],
    ['abuse.session_quarantined', sessionId, 'sue'],
  );

  const events = (await daemon.records())
    .filter(({ kind }) => kind === 'event')
    .map(({ payload }) => payload)
    .filter(({ event }) => /limits_ignored|quarantine/.test(String(event)))
    .map(({ event, agent, for: whom }) => [event, agent, whom]);
  assert.deepEqual(events, [
    ['limits_ignored', 'ada', 'sue'],
    ['session_quarantined', undefined, undefined],
    ['quarantine_reported', 'ada', 'sue'],
  ]);
  const { json } = await daemon.post('sallyport.v1.OperatorService/GetUsage', { hours: 1 });
  const usage = json as {
    tools: readonly { tool: string; succeeded: readonly number[]; denied: readonly number[] }[];
    reports: readonly { event: string; agent: string; tool: string; sessionId: string }[];
  };
  const sumOf = (tool: string, how: 'succeeded' | 'denied'): number =>
    usage.tools.find((each) => each.tool === tool)?.[how].reduce((sum, count) => sum + count, 0) ?? 0;
  assert.ok(sumOf('files.read', 'denied') >= limited.length, JSON.stringify(usage));
  assert.equal(sumOf('people.add', 'succeeded'), 1, 'what people call is counted, too');
  assert.deepEqual(
    usage.reports.map(({ event, agent, tool, sessionId: id }) => [event, agent, tool, id === sessionId]),
    [
      ['quarantine_reported', 'ada', 'files.read', true],
      ['limits_ignored', 'ada', 'files.read', true],
    ],
  );
  assert.deepEqual(receiver.left, []);
  const readShown = (): string[] => readFileSync(shown, { encoding: 'utf8', flag: 'a+' }).trim().split('\n');
  while (readShown().length < 2) await pause(20);
  assert.deepEqual(readShown().sort(), ['ada goes on against its limits', 'ada was put into quarantine']);
});
