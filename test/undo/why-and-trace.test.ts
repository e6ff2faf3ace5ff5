import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ApprovalDesk, outputOf } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { runHook } from '../hooks/hook-program.ts';
import { newPipelinePlace, untilReady } from '../pipelines/pipeline-place.ts';

let daemon: TestDaemon;
let ada: string;

const pipelines = `
  - name: notes.pair
    description: Writes two notes.
    parameters: [{ name: text, type: string }]
    steps:
      - { id: first, tool: files.write, arguments: { path: pair/one.txt, content: '\${input.text}', create_parents: true } }
      - { id: second, tool: files.write, arguments: { path: pair/two.txt, content: '\${input.text}' } }
`;

before(async () => {
  daemon = await TestDaemon.start(newPipelinePlace(pipelines));
  ada = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const at = (name: string): string => join(daemon.place.workspace, name);

async function approved(tool: string, args: object): Promise<Answer> {
  const asked = await daemon.call(tool, args, { token: ada });
  const { taskId } = ApprovalDesk.ticketOf(asked);
  await new ApprovalDesk(daemon).approve(taskId);
  const answer = await daemon.call(tool, args, { token: ada, approvalTaskId: taskId });
  assert.ok(answer.success, JSON.stringify(answer));
  return answer;
}

test('why names the call, the agent, the session and the approver of a file and of a line', async () => {
  writeFileSync(at('plan.md'), 'old\n');
  const first = await daemon.call('files.write', { path: 'plan.md', content: 'old\nnew\n' }, { token: ada });
  const shown = runSallyport(daemon.place, ['why', at('plan.md')]);
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(
    shown.stdout,
    new RegExp(`call +${first.callId}\\n +tool +files\\.write, which changed it\\n +agent +ada`),
  );
  assert.match(shown.stdout, /approved by +nobody was asked/);
  const line = runSallyport(daemon.place, ['why', `${at('plan.md')}:2`, '--json']);
  const { writer } = JSON.parse(line.stdout) as { writer: { callId: string; traceId: string } };
  assert.deepEqual([writer.callId, writer.traceId], [first.callId, first.traceId]);
  const old = runSallyport(daemon.place, ['why', `${at('plan.md')}:1`]);
  assert.equal(old.status, 4);
  assert.match(old.stdout, /Unknown\. It was there before the first call/);

  const removed = await approved('files.delete', { path: 'plan.md' });
  const gone = runSallyport(daemon.place, ['why', at('plan.md')]);
  assert.match(gone.stdout, new RegExp(`call +${removed.callId}[^]*which removed it[^]*approved by +\\S+ \\(approved`));
  assert.match(
    runSallyport(daemon.place, ['why', at('nothing.txt')]).stdout,
    /Unknown\. No call that is still in the journal/,
  );
  const denied = await daemon.call('calls.why', { path: at('plan.md') }, { token: ada });
  assert.ok(denied.denied, 'agents do not learn what others wrote');
});

test('an edit of a coding agent’s own editor is told as one, and what a person wrote after it as unknown', async () => {
  const token = await daemon.newAgent('claude-code');
  mkdirSync(join(daemon.place.home, 'clients'), { recursive: true, mode: 0o700 });
  const sessions = [{ root: daemon.place.workspace, token }];
  writeFileSync(join(daemon.place.home, 'clients', 'claude-code.json'), JSON.stringify({ sessions }), { mode: 0o600 });
  writeFileSync(at('edited.txt'), 'one\n');
  const input = { file_path: at('edited.txt'), content: 'one\ntwo\n' };
  const use = {
    session_id: 'c',
    cwd: daemon.place.workspace,
    tool_name: 'Write',
    tool_input: input,
    tool_use_id: 'use-1',
  };
  const environment = { SALLYPORT_HOME: daemon.place.home };
  const asked = await runHook('claude-code', { ...use, hook_event_name: 'PreToolUse' }, environment);
  assert.match(asked.stdout, /"allow"/);
  writeFileSync(at('edited.txt'), 'one\ntwo\n');
  await runHook('claude-code', { ...use, hook_event_name: 'PostToolUse', tool_response: {} }, environment);
  const told = await waitFor(() => {
    const { stdout, status } = runSallyport(daemon.place, ['why', `${at('edited.txt')}:2`]);
    return status === 0 ? stdout : undefined;
  });
  assert.match(told, /agent +claude-code/);
  writeFileSync(at('edited.txt'), 'by hand\n');
  assert.match(runSallyport(daemon.place, ['why', at('edited.txt')]).stdout, /Unknown\. Something other than a call/);
});

async function waitFor<Value>(look: () => Value | undefined | Promise<Value | undefined>): Promise<Value> {
  for (const untilMs = Date.now() + 60_000; Date.now() < untilMs;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return assert.fail('it did not come');
}

test('trace shows a run by its trace, by one of its calls and by its session, steps below their call', async () => {
  await untilReady(daemon, 'notes.pair');
  const ran = await daemon.call('notes.pair', { text: 'hello' }, { token: ada });
  assert.ok(ran.success, JSON.stringify(ran));
  const byTrace = await waitFor(() => {
    const shown = runSallyport(daemon.place, ['trace', ran.traceId]);
    return shown.stdout.includes('second: files.write') ? shown.stdout : undefined;
  });
  assert.match(byTrace, /^3 calls by ada, from /);
  assert.match(byTrace, /\n\d\d:\d\d:\d\d {2}notes\.pair +ok/);
  assert.match(byTrace, /\n {2}\d\d:\d\d:\d\d {2}first: files\.write +ok/);
  assert.match(byTrace, /changed \S*pair\/two\.txt; can be\s+undone/);
  assert.ok(byTrace.split('\n').every((line) => line.length <= 80));
  const byCall = runSallyport(daemon.place, ['trace', ran.callId]);
  assert.match(byCall.stdout, /\*notes\.pair/);
  const whole = JSON.parse(runSallyport(daemon.place, ['trace', ran.traceId.slice(0, 12), '--json']).stdout) as {
    calls: { sessionId: string; depth: number; undo?: string }[];
  };
  assert.deepEqual(
    whole.calls.map(({ depth, undo }) => [depth, undo]),
    [
      [0, undefined],
      // It made the folder that the second file is in.
      [1, 'changed again since'],
      [1, 'can be undone'],
    ],
  );
  const session = whole.calls[0]?.sessionId ?? '';
  assert.match(runSallyport(daemon.place, ['trace', session]).stdout, /files\.delete[^]*approved by [^]*notes\.pair/);
  runSallyport(daemon.place, ['undo', '--trace', ran.traceId, '--yes']);
  assert.match(runSallyport(daemon.place, ['trace', ran.callId]).stdout, /one\.txt; as before the call/);
  const unknown = runSallyport(daemon.place, ['trace', '00000000']);
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /There is no record of 00000000/);
  const ambiguous = runSallyport(daemon.place, ['trace', ran.callId.slice(0, 4)]);
  assert.equal(ambiguous.status, 1);
  assert.match(ambiguous.stderr, /is the beginning of \d+ ids/);
});

test('an operator undoes a commit of an agent at the command line, and is refused when the branch has moved on', async () => {
  const folder = at('repository');
  const owner = { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: daemon.place.folder } };
  const git = (...args: readonly string[]): string => {
    const who = ['-c', 'user.name=P', '-c', 'user.email=p@example.com', '-c', 'safe.directory=*'];
    const { stdout } = spawnSync('git', [...who, ...args], { ...owner, encoding: 'utf8' });
    // Programs of a daemon that runs as root belong to the owner of what they may change.
    if (process.getuid?.() === 0) spawnSync('chown', ['-R', '65530:65530', folder]);
    return stdout.trim();
  };
  mkdirSync(at('repository'));
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'start');
  writeFileSync(at('repository/code.ts'), 'code\n');
  git('add', 'code.ts');
  const start = git('rev-parse', 'HEAD');
  const { callId } = await approved('git.commit', { args: ['-m', 'of ada'], cwd: 'repository' });
  assert.notEqual(git('rev-parse', 'HEAD'), start);
  const shown = runSallyport(daemon.place, ['undo', callId, '--dry-run']);
  assert.equal(shown.status, 0, shown.stderr + shown.stdout);
  assert.match(shown.stdout, new RegExp(`refs/heads/main: [0-9a-f]{40} becomes ${start}`));
  const undone = runSallyport(daemon.place, ['undo', callId, '--yes']);
  assert.equal(undone.status, 0, undone.stderr + undone.stdout);
  assert.equal(git('rev-parse', 'HEAD'), start);
  assert.match(git('status', '--short'), /^A {2}code\.ts/);

  const again = await approved('git.commit', { args: ['-m', 'of ada again'], cwd: 'repository' });
  git('commit', '-q', '--allow-empty', '-m', 'of a person');
  const refused = runSallyport(daemon.place, ['undo', again.callId, '--yes']);
  assert.equal(refused.status, 4);
  assert.match(refused.stderr, /Not undone/);
  assert.match(refused.stdout, /refs\/heads\/main: [0-9a-f]{40} becomes/);

  const byAgent = await daemon.call('git.undo', { call_id: again.callId }, { token: ada });
  assert.equal(byAgent.denied?.rationaleCode ?? byAgent.error?.code, 'FILE_CHANGED', JSON.stringify(byAgent));
  git('reset', '-q', '--soft', 'HEAD~1');
  const asked = await approved('git.undo', { call_id: again.callId });
  assert.deepEqual(outputOf(asked)['undone'], [{ path: 'repository', what: 'restored' }]);
  assert.equal(git('rev-parse', 'HEAD'), start);
  assert.equal(readFileSync(at('repository/code.ts'), 'utf8'), 'code\n');
});
