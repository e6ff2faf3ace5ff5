import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const narrow = `version: 1
rules:
  - { id: no-notes, effect: deny, tools: ['files.*'], paths: [$WORKSPACE/notes/**], reason: Notes are private. }
  - { id: ask-docs, effect: require_approval, tools: ['files.*'], paths: [$WORKSPACE/docs/**] }
  - { id: ask-etc, effect: require_approval, tools: ['files.*'], paths: [/etc/**] }
`;

describe('rules that a project brings along', () => {
  let daemon: TestDaemon;
  let project: string;
  let token: string;
  const file = () => join(project, '.sallyport', 'rules.yaml');
  const run = (...args: string[]) => runSallyport(daemon.place, args);
  const read = (path: string, as = token) => daemon.call('files.read', { path }, { token: as });
  // What a daemon of root cannot do is said there, too.
  const warnings = async () =>
    (((await daemon.status()) as unknown as { warnings?: string[] }).warnings ?? []).filter(
      (text) => !text.startsWith('Programs cannot'),
    );

  before(async () => {
    daemon = await TestDaemon.start(newPlace());
    project = join(realpathSync(daemon.place.folder), 'project');
    for (const folder of ['notes', 'docs', '.sallyport']) mkdirSync(join(project, folder), { recursive: true });
    for (const name of ['a.txt', 'notes/a.txt', 'docs/a.txt']) writeFileSync(join(project, name), 'words');
    writeFileSync(file(), narrow);
    assert.equal(run('workspace', 'add', project).status, 0);
    token = await daemon.newAgent('ada', { workspace: project });
  });
  after(() => daemon.remove());

  test('nobody obeys them before an operator has accepted them, and status and doctor say that they wait', async () => {
    requirement('PKG-3');
    assert.ok((await read('notes/a.txt')).success);
    assert.match((await warnings()).join(), /project.*are not accepted, so they are not in force/);
    assert.match(run('doctor').stdout, /are not accepted/);
    assert.match(run('workspace', 'list').stdout, /not accepted/);
  });

  test('accepting shows them, and asks where somebody can be asked', () => {
    const asked = run('workspace', 'accept', project);
    assert.notEqual(asked.status, 0);
    assert.match(asked.stdout, /no-notes/);
    assert.match(asked.stderr, /--yes/);
  });

  test('once accepted they deny and ask, in this project alone, and open nothing', async () => {
    requirement('PKG-3');
    const accepted = run('workspace', 'accept', project, '--yes');
    assert.equal(accepted.status, 0, accepted.stdout + accepted.stderr);
    assert.match(accepted.stdout, /3 rules of .* are in force/);
    const denied = await read('notes/a.txt');
    assert.equal(denied.denied?.ruleId, 'no-notes', JSON.stringify(denied));
    assert.match(denied.denied.message, /Notes are private/);
    const asked = await read('docs/a.txt');
    assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(asked));
    assert.ok((await read('a.txt')).success);
    // No rule of the gate lets anybody read it, and a question about it would be an opening.
    assert.equal((await read('/etc/hostname')).denied?.rationaleCode, 'NO_RULE_ALLOWS');
    writeFileSync(join(daemon.place.workspace, 'x.txt'), 'words');
    mkdirSync(join(daemon.place.workspace, 'notes'));
    writeFileSync(join(daemon.place.workspace, 'notes', 'a.txt'), 'words');
    assert.ok((await read('notes/a.txt', await daemon.newAgent('ben'))).success);
    assert.deepEqual(await warnings(), []);
    const record = (await daemon.records()).findLast(
      ({ payload }) => payload['agent'] === 'ada' && payload['decision'],
    );
    assert.match(String(record?.payload['project_rules']), /^[0-9a-f]{64}$/);
  });

  test('an approval goes on under the rules of the project', async () => {
    const asked = await read('docs/a.txt');
    const taskId = (asked as unknown as { denied: { approval?: { taskId?: string } } }).denied.approval?.taskId ?? '';
    const shown = await daemon.call('approvals.show', { task_id: taskId });
    const { approval } = JSON.parse(shown.success?.outputJson ?? '{}') as { approval: Record<string, string> };
    assert.equal(approval['workspace'], project);
    const input = { task_id: taskId, effect_sha256: approval['effectSha256'] };
    const decided = await daemon.call('approvals.approve', input);
    assert.ok(decided.success, JSON.stringify(decided));
    const again = await daemon.call('files.read', { path: 'docs/a.txt' }, { token, approvalTaskId: taskId });
    assert.ok(again.success, JSON.stringify(again));
  });

  test('policy explain says what they say where the session works', async () => {
    const [session] = (
      JSON.parse(run('session', 'list', '--json').stdout) as { sessions: { sessionId: string; workspace: string }[] }
    ).sessions.filter(({ workspace }) => workspace === project);
    const input = { tool: 'files.read', arguments: { path: 'notes/a.txt' }, session: session?.sessionId };
    const explained = await daemon.call('policy.explain', input);
    assert.match(
      explained.success?.outputJson ?? JSON.stringify(explained),
      /"decidedBy":\{[^{]*"rule":\{"id":"no-notes"/,
    );
    const elsewhere = await daemon.call('policy.explain', { ...input, session: undefined });
    assert.doesNotMatch(elsewhere.success?.outputJson ?? JSON.stringify(elsewhere), /no-notes/);
    const named = await daemon.call('policy.explain', { ...input, session: undefined, workspace: project });
    assert.match(named.success?.outputJson ?? JSON.stringify(named), /"decidedBy":\{[^{]*"rule":\{"id":"no-notes"/);
  });

  test('a file that changes, breaks or vanishes changes nothing, after a restart too, and status says so', async () => {
    requirement('PKG-3');
    for (const [change, state] of [
      [() => writeFileSync(file(), 'version: 1\nrules: []\n'), /have changed; the accepted ones stay in force/],
      [() => writeFileSync(file(), 'rules: ['), /have changed; the accepted ones stay in force/],
      [() => rmSync(file()), /are gone; the accepted ones stay in force/],
    ] as const) {
      change();
      assert.equal((await read('notes/a.txt')).denied?.ruleId, 'no-notes');
      assert.match((await warnings()).join(), state);
    }
    const { place } = daemon;
    await daemon.kill('SIGKILL');
    daemon = await TestDaemon.start(place);
    assert.equal((await read('notes/a.txt')).denied?.ruleId, 'no-notes');
    assert.match((await warnings()).join(), /are gone/);
  });

  test('rules that would allow more are refused, and links are not followed', () => {
    requirement('PKG-3');
    for (const [rule, why] of [
      ['{ id: x, effect: allow, tools: ["*"] }', /allows something/],
      ['{ id: x, effect: require_approval, tools: ["*"], grants: { read: [/etc] } }', /has grants/],
      ['{ id: x, effect: deny, tools: ["*"], who: [operator] }', /is about operators/],
      ['{ id: x, effect: require_approval, tools: ["*"], approvers: [ben] }', /has approvers/],
      ['{ id: x, effect: deny, tools: ["*"], shadow: true }', /has shadow/],
      [
        '{ id: x, effect: deny, tools: ["*"], paths: [$WORKSPACE/a], match: [{ tool: files.read, path: /b }] }',
        /must match/,
      ],
    ] as const) {
      writeFileSync(file(), `version: 1\nrules:\n  - ${rule}\n`);
      const { status, stderr } = run('workspace', 'accept', project, '--yes');
      assert.notEqual(status, 0, rule);
      assert.match(stderr, why);
    }
    writeFileSync(file(), 'version: 1\ntools: { files.read: {} }\n');
    assert.match(run('workspace', 'accept', project, '--yes').stderr, /tools/);
    rmSync(file());
    symlinkSync('/etc/passwd', file());
    const linked = run('workspace', 'accept', project, '--yes');
    assert.match(linked.stderr, /is a link/);
    assert.doesNotMatch(linked.stdout + linked.stderr, /root:/);
    rmSync(file());
  });

  test('no tool reads or writes the rules of a project', async () => {
    requirement('PKG-3');
    for (const path of ['.sallyport/rules.yaml', '.sallyport', '.SALLYPORT/rules.yaml', 'docs/.sallyport/rules.yaml']) {
      const written = await daemon.call('files.write', { path, content: narrow }, { token });
      assert.equal(written.denied?.rationaleCode, 'PROTECTED_PATH', `${path}: ${JSON.stringify(written)}`);
      assert.equal((await read(path)).denied?.rationaleCode, 'PROTECTED_PATH', path);
    }
  });

  test('accepting that the file is gone ends the rules', async () => {
    const ended = run('workspace', 'accept', project, '--yes');
    assert.equal(ended.status, 0, ended.stdout + ended.stderr);
    assert.match(ended.stdout, /No rules of .* are in force/);
    assert.ok((await read('notes/a.txt')).success);
    assert.deepEqual(await warnings(), []);
  });

  test('a session opened in a project works there without being told', () => {
    requirement('PKG-3');
    const created = runSallyport(daemon.place, ['session', 'create', 'cy', '--json'], {
      INIT_CWD: join(project, 'docs'),
    });
    assert.equal((JSON.parse(created.stdout) as { workspace: string }).workspace, project);
    const elsewhere = runSallyport(daemon.place, ['session', 'create', 'di', '--json'], { INIT_CWD: '/etc' });
    assert.equal(
      (JSON.parse(elsewhere.stdout) as { workspace: string }).workspace,
      realpathSync(daemon.place.workspace),
    );
    assert.match(run('session', 'list').stdout, /WORKSPACE/);
    const unknown = join(realpathSync(daemon.place.folder), 'unknown');
    mkdirSync(unknown);
    const refused = run('session', 'create', 'ed', '--workspace', unknown);
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr + refused.stdout, /is not in a folder that an operator accepted[^]*workspace add \//);
  });

  test('folders that cannot be a workspace are not accepted', () => {
    for (const [folder, why] of [
      ['/', /root of the file system/],
      [daemon.place.folder, /home folder/],
      [daemon.place.home, /Sallyport's own files/],
      [join(project, 'a.txt'), /is not a folder/],
      [join(project, 'absent'), /does not exist/],
    ] as const) {
      const { status, stderr } = run('workspace', 'add', folder);
      assert.notEqual(status, 0, folder);
      assert.match(stderr, why);
    }
  });
});
