import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';

/** A day is long enough that no test sees two of its windows, but for one that runs at midnight. */
const limitsYaml = `version: 1
rates: [{ tools: [files.read], per_day: 50 }]
role_rates: { worker: [{ tools: [files.list], per_day: 3 }] }
total_rates: [{ tools: [files.list], per_day: 10 }]
repeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }
`;
const rolesYaml = `version: 1
roles: { worker: { tools: ['files.*'] } }
members: [{ agents: [wanda], roles: [worker] }]
`;
const dayMs = 86_400_000;

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

test('limits are exact at once, after a kill, by role and over all agents, and abuse is reported', async () => {
  requirement('RATE-3');
  const place = ownRules(newPlace(), {
    'limits.yaml': limitsYaml,
    'roles.yaml': rolesYaml,
    'modes.yaml': 'version: 1\n',
  });
  let daemon = await TestDaemon.start(place);
  try {
    const ada = await daemon.newAgent('ada');
    const callMany = (times: number, tool: string, input: object, token: string): Promise<Answer[]> =>
      Promise.all(Array.from({ length: times }, () => daemon.call(tool, input, { token })));
    const count = (answers: readonly Answer[]): number =>
      answers.filter((answer) => codeOf(answer) !== 'RATE_LIMITED').length;
    const read = (times: number) => callMany(times, 'files.read', { path: 'none.txt' }, ada);

    const bob = await daemon.newAgent('bob');
    const atOnce = await callMany(200, 'files.read', { path: 'none.txt' }, bob);
    assert.equal(count(atOnce), 50, 'of 200 at once');

    // A call that fails has run: only denied ones are not counted.
    const first = await read(20);
    assert.deepEqual(new Set(first.map(codeOf)), new Set(['NOT_FOUND']));
    await daemon.kill('SIGKILL');
    daemon = await TestDaemon.start(place);
    const answers = await read(200);
    assert.equal(count(answers), 30);
    assert.equal(count(await callMany(20, 'files.read', { path: 'none.txt' }, bob)), 0, 'the count goes on');
    const refused = answers.filter((answer) => codeOf(answer) === 'RATE_LIMITED');
    const leftMs = dayMs - (Date.now() % dayMs);
    for (const { error } of refused) {
      assert.equal(error?.retryable, true);
      const difference = Number(error.retryAfterMs) - leftMs;
      assert.ok(difference >= 0 && difference < 60_000, `it says ${error.retryAfterMs}, and ${leftMs} is true`);
    }

    const list = (times: number, token: string) => callMany(times, 'files.list', { path: '.' }, token);
    assert.equal(count(await list(10, await daemon.newAgent('wanda'))), 3, 'of a worker');
    assert.equal(count(await list(10, ada)), 7, 'of all together');

    const reports = (await daemon.records(0)).concat(await daemon.records(1000));
    const abuse = reports.map(({ payload }) => payload).filter(({ event }) => event === 'limits_ignored');
    assert.deepEqual(
      abuse.map(({ agent, tool, for: whom }) => [agent, tool, whom]),
      // The gate forgot the first episode of bob when it was killed: it may tell twice, and never not at all.
      [
        ['bob', 'files.read', 'directors'],
        ['ada', 'files.read', 'directors'],
        ['bob', 'files.read', 'directors'],
      ],
    );
  } finally {
    await daemon.remove();
  }
});

test('under the profile team the careful limits count', async () => {
  requirement('RATE-1');
  const daemon = await TestDaemon.start(newPlace());
  try {
    const input = { setting: 'profile', value: 'team' };
    const confirm = async (tool: string, args: object): Promise<void> => {
      const shown = await daemon.call(tool, args);
      const done = await daemon.call(tool, args, { confirmBinding: shown.denied?.approval?.binding ?? '' });
      assert.ok(done.success, JSON.stringify(done));
    };
    const ada = await daemon.newAgent('ada');
    const write = (at: number) =>
      daemon.call('files.write', { path: `${at}.txt`, content: String(at) }, { token: ada }).then(codeOf);
    let at = 0;
    const many = (times: number) => Promise.all(Array.from({ length: times }, () => write(at++)));
    const currentHour = () => Math.floor(Date.now() / 3_600_000);
    // The count of an hour is looked at within that hour.
    if (currentHour() !== Math.floor((Date.now() + 30_000) / 3_600_000)) await pause(31_000);
    assert.deepEqual(new Set(await many(100)), new Set([undefined]), 'one person meets no limit so soon');
    await confirm('system_config_change', input);
    await confirm('create_agent', { name: 'ada', role: 'manager' });
    // What was written before counts too: the hundred writes of this hour are over.
    assert.deepEqual(new Set(await many(5)), new Set(['RATE_LIMITED']));
  } finally {
    await daemon.remove();
  }
});
