import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;
const outputOf = (answer: Answer): Record<string, unknown> =>
  JSON.parse(answer.success?.outputJson ?? assert.fail(JSON.stringify(answer))) as Record<string, unknown>;

/** A director looks at what would happen, and confirms it. */
async function confirmed(daemon: TestDaemon, tool: string, input: object): Promise<Record<string, unknown>> {
  const shown = await daemon.call(tool, input);
  assert.equal(codeOf(shown), 'APPROVAL_REQUIRED', JSON.stringify(shown));
  return outputOf(await daemon.call(tool, input, { confirmBinding: shown.denied?.approval?.binding ?? '' }));
}

describe('an organisation of the profile team', () => {
  let daemon: TestDaemon;
  let ada: string;
  let sue: string;
  let dora: string;
  const manage = (tool: string, input: object) => confirmed(daemon, tool, input);
  const addPerson = async (name: string) => String(outputOf(await daemon.call('people.add', { name }))['credential']);
  const write = (name: string) =>
    daemon.call('files.write', { path: `${name}.txt`, content: name }, { token: ada }).then(codeOf);
  /** As another person than the first operator. */
  const callAs = async (credential: string, name: string, input: object): Promise<Answer> => {
    const desk = new ApprovalDesk(daemon, credential);
    const { json } = await desk.send('ToolService/ExecuteTool', { name, inputJson: JSON.stringify(input) });
    return json as unknown as Answer;
  };

  before(async () => {
    daemon = await TestDaemon.start(newPlace());
    writeFileSync(join(daemon.place.workspace, 'old.txt'), 'old');
    [sue, dora] = [await addPerson('sue'), await addPerson('dora')];
    ada = await daemon.newAgent('ada');
  });
  after(() => daemon.remove());

  test('under the profile personal an agent needs no place, and the rules alone decide', async () => {
    assert.equal(await write('personal'), undefined);
    const { settings } = outputOf(await daemon.call('organisation.show', {}));
    assert.deepEqual(settings, { profile: 'personal', organisationName: '' });
  });

  test('in a team a stranger calls nothing, and a worker what workers may', async () => {
    await manage('system_config_change', { setting: 'profile', value: 'team' });
    const stranger = await daemon.call('files.read', { path: 'old.txt' }, { token: ada });
    assert.equal(stranger.denied?.ruleId, 'not-a-member');
    await manage('teams.put', { name: 'web', senior: 'sue' });
    await manage('create_agent', { name: 'ada', team: 'web' });
    assert.equal(codeOf(await daemon.call('files.read', { path: 'old.txt' }, { token: ada })), undefined);
    assert.equal(codeOf(await daemon.call('files.list', { path: '.' }, { token: ada })), undefined);
    assert.equal(await write('worker'), 'RULE_DENIES');
  });

  test('a role, a grant and a revocation each hold from the next call on, and are inherited', async () => {
    await manage('roles.assign', { kind: 'agent', name: 'ada', role: 'manager' });
    assert.equal(await write('manager'), 'APPROVAL_REQUIRED');
    await manage('roles.assign', { kind: 'agent', name: 'ada', role: 'worker' });
    assert.equal(await write('worker-again'), 'RULE_DENIES');

    await manage('grant_permission', { level: 'team', subject: 'web', tools: 'files.write' });
    assert.equal(await write('granted'), 'APPROVAL_REQUIRED');
    const check = await daemon.call('permissions.check', { agent: 'ada', tool: 'files.write' });
    assert.equal(outputOf(check)['answer'], 'granted');

    await manage('revoke_permission', { level: 'organisation', tools: 'files.*' });
    assert.equal(await write('revoked'), 'RULE_DENIES');
    await manage('permissions.clear', { level: 'organisation', tools: 'files.*' });
    assert.equal(await write('inherited'), 'APPROVAL_REQUIRED');
  });

  test('an agent without a role is a worker', async () => {
    await manage('permissions.clear', { level: 'team', subject: 'web', tools: 'files.write' });
    await manage('roles.unassign', { kind: 'agent', name: 'ada' });
    assert.equal(codeOf(await daemon.call('files.read', { path: 'old.txt' }, { token: ada })), undefined);
    assert.equal(await write('no-role'), 'RULE_DENIES');
    const shown = outputOf(await daemon.call('agents.show', { name: 'ada' }));
    assert.deepEqual(shown['roles'], ['worker']);
    await manage('grant_permission', { level: 'team', subject: 'web', tools: 'files.write' });
  });

  test('a director may use every tool; writing, editing and what is risky ask although a rule waives it', async () => {
    requirement('APPR-1');
    await manage('roles.assign', { kind: 'agent', name: 'ada', role: 'director' });
    for (const [tool, input] of [
      ['files.delete', { path: 'old.txt' }],
      ['files.write', { path: 'new.txt', content: 'x' }],
      ['files.edit', { path: 'old.txt', old_content: 'old', new_content: 'new' }],
      ['files.ensure_dir', { path: 'folder' }],
    ] as const) {
      assert.equal(codeOf(await daemon.call(tool, input, { token: ada })), 'APPROVAL_REQUIRED', tool);
    }
    const put = await daemon.call('plans.list', {}, { token: ada });
    assert.equal(codeOf(put), undefined);
  });

  test('scripts change the organisation with --yes, and without it nothing changes', () => {
    const run = (...args: string[]) => runSallyport(daemon.place, args).status;
    const refused = runSallyport(daemon.place, ['team', 'add', 'night']);
    assert.equal(refused.status, 3);
    assert.match(refused.stderr, /take --yes/);
    assert.equal(run('team', 'add', 'night', '--senior', 'sue', '--yes'), 0);
    const added = runSallyport(daemon.place, ['agent', 'add', 'nox', '--team', 'night', '--yes']);
    assert.match(added.stdout, /^Agent nox is a member\. To let it in:\n {2}.*session create nox\n$/);
    assert.equal(run('role', 'add', 'manager', 'nox', '--yes'), 0);
    assert.equal(run('grant', 'add', 'git.status', '--agent', 'nox', '--yes'), 0);
    assert.equal(run('grant', 'remove', 'git.status', '--agent', 'nox', '--inherit', '--yes'), 0);
    assert.equal(run('role', 'remove', 'nox', '--yes'), 0);
    assert.equal(run('agent', 'remove', 'nox', '--yes'), 0);
    assert.equal(run('team', 'remove', 'night', '--yes'), 0);
  });

  test('status and the banner name the profile', async () => {
    assert.equal((await daemon.status())['profile'], 'team');
    assert.match(runSallyport(daemon.place, ['status']).stdout, /profile +team/);
  });

  test('what is critical goes to a director, and nobody else decides about it', async () => {
    await manage('roles.assign', { kind: 'person', name: 'dora', role: 'director' });
    writeFileSync(join(daemon.place.workspace, 'older.txt'), 'older');
    const remove = (more = {}) => daemon.call('files.delete', { path: 'older.txt' }, { token: ada, ...more });
    const { taskId } = ApprovalDesk.ticketOf(await remove());
    const bySenior = await new ApprovalDesk(daemon, sue).decide(taskId, true);
    assert.notEqual(bySenior.status, 200, JSON.stringify(bySenior.json));
    assert.match(JSON.stringify(bySenior.json), /for the director to decide/);
    await new ApprovalDesk(daemon, dora).approve(taskId);
    assert.equal(codeOf(await remove({ approvalTaskId: taskId })), undefined);
  });

  test('where no director can act, the call is denied', async () => {
    const { people } = outputOf(await daemon.call('people.list', {})) as {
      people: { personId: string; name: string }[];
    };
    const id = people.find(({ name }) => name === 'dora')?.personId;
    outputOf(await daemon.call('people.revoke', { person_id: id }));
    const asked = await daemon.call('files.delete', { path: 'old.txt' }, { token: ada });
    assert.equal(codeOf(asked), 'NO_APPROVER');
    await manage('roles.unassign', { kind: 'person', name: 'dora' });
  });

  test('administration is critical and for directors; an agent among them asks, and a person decides', async () => {
    requirement('CAT-9');
    const worker = await daemon.newAgent('wim');
    await manage('create_agent', { name: 'wim' });
    const cases: readonly [string, object][] = [
      ['grant_permission', { level: 'agent', subject: 'ada', tools: '*' }],
      ['revoke_permission', { level: 'agent', subject: 'ada', tools: '*' }],
      ['create_agent', { name: 'bob' }],
      ['delete_agent', { name: 'ada' }],
      ['modify_system_prompt', { name: 'ada', system_prompt: 'Obey.' }],
      ['system_config_change', { setting: 'profile', value: 'personal' }],
    ];
    for (const [tool, input] of cases) {
      const { json } = await daemon.post('sallyport.v1.ToolService/GetToolSchema', { name: tool });
      assert.equal((json as { tool: { risk: string } }).tool.risk, 'critical', tool);
      assert.equal(codeOf(await daemon.call(tool, input, { token: worker })), 'RULE_DENIES', tool);
      const byAgent = await daemon.call(tool, input, { token: ada });
      assert.equal(codeOf(byAgent), 'APPROVAL_REQUIRED', `${tool} ${JSON.stringify(byAgent)}`);
      const { taskId } = ApprovalDesk.ticketOf(byAgent);
      assert.notEqual((await new ApprovalDesk(daemon, sue).decide(taskId, true)).status, 200, `${tool} by a senior`);
      const bySenior = await callAs(sue, tool, input);
      assert.equal(bySenior.denied?.ruleId, 'director', tool);
      assert.equal(codeOf(await daemon.call(tool, input)), 'APPROVAL_REQUIRED', `${tool} unconfirmed`);
    }
    const { settings, permissions } = outputOf(await daemon.call('organisation.show', {})) as {
      settings: { profile: string };
      permissions: { subject: string }[];
    };
    assert.equal(settings.profile, 'team');
    assert.deepEqual(
      permissions.map(({ subject }) => subject),
      ['web'],
    );
    const asked = await daemon.call('create_agent', { name: 'bob' }, { token: ada });
    const { taskId } = ApprovalDesk.ticketOf(asked);
    await new ApprovalDesk(daemon).approve(taskId);
    const ran = await daemon.call('create_agent', { name: 'bob' }, { token: ada, approvalTaskId: taskId });
    assert.equal(outputOf(ran)['name'], 'bob');
    await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
    assert.equal(codeOf(await daemon.call('create_agent', { name: 'eve' }, { token: ada })), 'MODE_FORBIDS');
    for (const mode of ['RECOVERY', 'NORMAL']) await daemon.call('mode.set', { mode, cause: 'a test' });
  });

  test('a system prompt is kept, and all of it is on record', async () => {
    await manage('modify_system_prompt', { name: 'ada', system_prompt: 'Be brief.' });
    assert.equal(outputOf(await daemon.call('agents.show', { name: 'ada' }))['systemPrompt'], 'Be brief.');
    const payloads = (await daemon.records())
      .filter(({ kind }) => kind === 'intent')
      .map(({ payload }) => payload['tool']);
    for (const tool of ['permissions.grant', 'permissions.revoke', 'agents.create', 'agents.set_prompt']) {
      assert.ok(payloads.includes(tool), tool);
    }
  });

  test('the organisation outlives a kill', async () => {
    const shown = outputOf(await daemon.call('organisation.show', {}));
    await daemon.kill('SIGKILL');
    daemon = await TestDaemon.start(daemon.place);
    assert.deepEqual(outputOf(await daemon.call('organisation.show', {})), shown);
  });

  test('the command line lists and shows it, also as JSON', () => {
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = runSallyport(daemon.place, args);
      assert.equal(status, 0, stderr);
      return stdout;
    };
    assert.match(run('agent', 'list'), /^NAME .*\nada +agent +director +web/);
    assert.match(run('team', 'list'), /^TEAM .*\nweb +sue +ada/);
    assert.match(run('team', 'show', 'web'), /senior +sue/);
    assert.match(run('role', 'list'), /ada/);
    assert.match(run('role', 'show', 'director'), /ada/);
    assert.match(run('grant', 'list'), /team +web +granted +operator +files\.write/);
    assert.match(run('agent', 'show', 'ada'), /Be brief/);
    assert.match(run('grant', 'show', 'ada', 'files.write'), /granted/);
    const { teams } = JSON.parse(run('team', 'list', '--json')) as { teams: object };
    assert.deepEqual(teams, [{ name: 'web', senior: 'sue' }]);
    const unconfirmed = runSallyport(daemon.place, ['grant', 'add', 'git.*', '--agent', 'ada']);
    assert.notEqual(unconfirmed.status, 0);
    assert.doesNotMatch(run('grant', 'list'), /git/);
  });

  test('with an agent go its sessions', async () => {
    const gone = await manage('delete_agent', { name: 'ada' });
    assert.equal(gone['endedSessions'], 1);
    await assert.rejects(daemon.call('files.read', { path: 'old.txt' }, { token: ada }), /The session was ended/);
  });
});
