import type { PlanJson } from '@sallyport/contract';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TerminalSession } from '../cli/terminal-session.ts';
import { environmentOf, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { ApprovalDesk, outputOf, postJson, writeWorkspaceFile } from './approval-desk.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;

before(async () => {
  daemon = await TestDaemon.start();
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  mkdirSync(join(daemon.place.workspace, 'target'));
});
after(() => daemon.remove());

/** Keys are dead for a moment after a card has appeared. */
const settleMs = 700;

function openTerminal(t: TestContext, args: string[]): TerminalSession {
  const terminal = new TerminalSession(daemon.place, args, { NO_COLOR: '1' });
  t.after(() => terminal.kill());
  return terminal;
}

async function ask(name: string): Promise<string> {
  writeWorkspaceFile(daemon, name);
  return ApprovalDesk.ticketOf(await daemon.call('files.delete', { path: name }, { token })).taskId;
}

async function askToMove(name: string): Promise<string> {
  writeWorkspaceFile(daemon, name);
  const input = { from: '.', patterns: [name], to: 'target' };
  return ApprovalDesk.ticketOf(await daemon.call('files.move_glob', input, { token })).taskId;
}

test('what waits is listed and shown with its effect, for people and for scripts', async () => {
  const taskId = await ask('a.txt');
  const listed = runSallyport(daemon.place, ['approvals', 'list']);
  assert.match(
    listed.stdout,
    new RegExp(`${taskId.slice(0, 13)}  pending .*ada .*critical .*files\\.delete: Delete a\\.txt`),
  );
  const shown = runSallyport(daemon.place, ['approvals', 'show', taskId, '--json']);
  const { effect, effectSha256: sha256 } = (JSON.parse(shown.stdout) as { approval: Record<string, string> }).approval;
  assert.match(effect ?? '', /^a\.txt/);
  const blind = runSallyport(daemon.place, ['approvals', 'approve', taskId]);
  assert.equal(blind.status, 1);
  assert.match(blind.stderr, /Nobody is at this terminal.*--effect-sha256/s);
  const approved = runSallyport(daemon.place, ['approvals', 'approve', taskId, '--effect-sha256', sha256 ?? '']);
  assert.equal(approved.status, 0, approved.stderr);
  const again = runSallyport(daemon.place, ['approvals', 'deny', taskId, '--note', 'No.']);
  assert.equal(again.status, 4);
  assert.match(again.stderr, /operator has approved it already/);
});

test('an agent that waits for a person leaves with a code of its own', () => {
  writeWorkspaceFile(daemon, 'b.txt');
  const answer = runSallyport(daemon.place, ['tool', 'invoke', 'files.delete', 'path=b.txt'], {
    SALLYPORT_TOKEN: token,
  });
  assert.equal(answer.status, 5);
  assert.match(answer.stderr, /Waits for a person {2}files\.delete/);
});

test('the commands of people are not for an agent', () => {
  for (const args of [
    ['approvals', 'list'],
    ['approvals', 'watch'],
    ['plan', 'list'],
    ['confirm', 'rotate'],
  ]) {
    const { status, stderr } = runSallyport(daemon.place, args, { SALLYPORT_TOKEN: token });
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, /This command is for the operator/);
  }
});

test('at a terminal the effect is shown and asked about', async (t) => {
  const taskId = await ask('c.txt');
  const terminal = openTerminal(t, ['approvals', 'approve', taskId]);
  await terminal.waitFor('c.txt');
  await terminal.waitFor('[y/N]');
  terminal.type('y\n');
  await terminal.waitFor('Approved');
  assert.equal(await terminal.exitCode(), 0);
  assert.equal((await desk.show(taskId)).status, 'approved');
});

test('one key a decision: each card stays until it is decided, and rings when it comes', async (t) => {
  for (const { id } of await desk.pending()) await desk.decide(id, false);
  const terminal = openTerminal(t, ['approvals', 'watch']);
  await terminal.waitFor('Calls that wait for you appear here');
  const first = await askToMove('d.txt');
  await terminal.waitFor('\u0007');
  await terminal.waitFor('d.txt -> target/d.txt');
  await terminal.waitFor('a: approve once  s: for the session  t: for 15 minutes');
  terminal.type('a');
  const second = await askToMove('e.txt');
  await terminal.waitFor('1 more wait.');
  assert.equal((await desk.show(first)).status, 'pending', 'a key that was pressed too soon decides nothing');
  await sleep(settleMs);
  terminal.type('aa');
  await sleep(settleMs);
  assert.equal((await desk.show(first)).status, 'pending', 'what is pasted decides nothing');
  terminal.type('a');
  await terminal.waitFor('Approved.');
  await terminal.waitFor('e.txt -> target/e.txt');
  assert.equal((await desk.show(first)).status, 'approved');
  await sleep(settleMs);
  terminal.type('c');
  await terminal.waitFor('What should the agent change? ');
  terminal.type('Use the archive.\n');
  await terminal.waitFor('Denied.');
  const { status, note } = await desk.show(second);
  assert.deepEqual([status, note], ['denied', 'Use the archive.']);
  terminal.type('q');
  assert.equal(await terminal.exitCode(), 0);
});

test('what is left for later makes room for the next, and comes back when it is wanted', async (t) => {
  for (const { id } of await desk.pending()) await desk.decide(id, false);
  const first = await askToMove('later-1.txt');
  const terminal = openTerminal(t, ['approvals', 'watch']);
  await terminal.waitFor('later-1.txt -> target/later-1.txt');
  await sleep(settleMs);
  terminal.type('n');
  await terminal.waitFor('1 left for later.  n: show again');
  const second = await askToMove('later-2.txt');
  await terminal.waitFor('later-2.txt -> target/later-2.txt');
  await sleep(settleMs);
  terminal.type('d');
  await terminal.waitFor('Denied.');
  assert.deepEqual([(await desk.show(first)).status, (await desk.show(second)).status], ['pending', 'denied']);
  terminal.type('n');
  await terminal.waitFor('a: approve once');
  await sleep(settleMs);
  terminal.type('a');
  await terminal.waitFor('Approved.');
  assert.equal((await desk.show(first)).status, 'approved');
  terminal.type('q');
  assert.equal(await terminal.exitCode(), 0);
});

test('tables show the beginning of an id, and commands take it in place of the whole', async () => {
  const taskId = await ask('short.txt');
  const listed = runSallyport(daemon.place, ['approvals', 'list'], { COLUMNS: '80' }).stdout;
  const [line = ''] = listed.split('\n').filter((row) => row.includes('files.delete'));
  const [shown = ''] = line.split(' ');
  assert.ok(taskId.startsWith(shown) && shown.length < 36, line);
  assert.match(
    runSallyport(daemon.place, ['approvals', 'show', shown]).stdout,
    /short\.txt[^]*decides +director \(operator\)/,
  );
  const { status } = runSallyport(daemon.place, ['approvals', 'deny', shown]);
  assert.deepEqual([status, (await desk.show(taskId)).status], [0, 'denied']);
  const many = runSallyport(daemon.place, ['approvals', 'show', taskId.slice(0, 4)]);
  assert.equal(many.status, 1);
  assert.match(many.stderr, /is the beginning of \d+ ids: which approval is meant\?/);
});

test('what is critical asks for a word, and what was decided elsewhere leaves the table', async (t) => {
  const taskId = await ask('f.txt');
  const terminal = openTerminal(t, ['approvals', 'watch']);
  await terminal.waitFor('f.txt');
  await terminal.waitFor('a: approve once  c: ask for changes');
  await sleep(settleMs);
  terminal.type('a');
  await terminal.waitFor('Type approve: ');
  terminal.type('yes\n');
  await sleep(settleMs);
  assert.equal((await desk.show(taskId)).status, 'pending');
  terminal.type('a');
  await terminal.waitFor('Type approve: ');
  terminal.type('approve\n');
  await terminal.waitFor('Approved.');
  const next = await ask('g.txt');
  await terminal.waitFor('g.txt');
  await desk.decide(next, false);
  await terminal.waitFor('operator decided.');
  terminal.type('\u0003');
  assert.equal(await terminal.exitCode(), 0);
});

test('nobody agrees to a part of an effect: the keys wait for the last page', async (t) => {
  const names = Array.from({ length: 60 }, (_, at) => `long-${String(at).padStart(2, '0')}.log`);
  for (const name of names) writeWorkspaceFile(daemon, name);
  const input = { from: '.', patterns: ['long-*.log'], to: 'target' };
  const { taskId } = ApprovalDesk.ticketOf(await daemon.call('files.move_glob', input, { token }));
  const terminal = openTerminal(t, ['approvals', 'watch']);
  await terminal.waitFor('more lines');
  await sleep(settleMs);
  terminal.type('a');
  await sleep(200);
  assert.equal((await desk.show(taskId)).status, 'pending');
  while (!terminal.screen.includes('long-59.log')) {
    terminal.type(' ');
    await sleep(settleMs);
  }
  terminal.type('a');
  await terminal.waitFor('Approved.');
  terminal.type('q');
  await terminal.exitCode();
});

test('for a script each event is a line of JSON', async (t) => {
  const child = spawn(process.execPath, [program, 'approvals', 'watch', '--json'], {
    env: environmentOf(daemon.place),
  });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const taskId = await ask('h.txt');
  const next = async () =>
    JSON.parse(String((await lines.next()).value)) as { event: string; approval: { id: string } };
  const first = await next();
  assert.deepEqual([first.event, first.approval.id], ['pending', taskId]);
  await desk.decide(taskId, false);
  assert.equal((await next()).event, 'decided');
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
});

test('a plan is shown and approved in part; a confirm token is issued and revoked', async () => {
  for (const name of ['i.txt', 'j.txt']) writeWorkspaceFile(daemon, name);
  const calls = ['i.txt', 'j.txt'].map((path) => ({ tool: 'files.delete', inputJson: JSON.stringify({ path }) }));
  const { hostname: host, port } = new URL(daemon.address);
  const body = { summary: 'Tidy up.', calls };
  const { json } = await postJson({ host, port }, 'sallyport.v1.PlanService/ProposePlan', body, token);
  const { id } = json['plan'] as { id: string };
  const shown = runSallyport(daemon.place, ['plan', 'show', id]);
  assert.match(
    shown.stdout,
    /Tidy up\..*1\. files\.delete \(critical risk\)\n {2}Delete i\.txt.*2\. files\.delete.*Delete j\.txt/s,
  );
  const approved = runSallyport(daemon.place, ['plan', 'approve', id, '--yes', '--steps', '2']);
  assert.match(approved.stdout, /Approved {2}steps 2 of the plan of ada/);
  assert.match(runSallyport(daemon.place, ['plan', 'list']).stdout, new RegExp(`${id.slice(0, 13)}  approved  ada`));
  const revoked = runSallyport(daemon.place, ['confirm', 'revoke', id]);
  assert.equal(revoked.status, 0, revoked.stderr);
});

test('anyone who issues a confirm token sees what it is for', async (t) => {
  writeWorkspaceFile(daemon, 'k.txt');
  const { sessionId: session } = outputOf(await daemon.call('sessions.create', { agent: 'bob' }));
  const terminal = openTerminal(t, [
    ...['confirm', 'issue', 'files.delete', 'path=k.txt'],
    ...['--session', String(session), '--trace', 'ab'.repeat(16)],
  ]);
  await terminal.waitFor('Delete k.txt');
  await terminal.waitFor('[y/N]');
  terminal.type('y\n');
  await terminal.waitFor('spct1.');
  assert.equal(await terminal.exitCode(), 0);
});

test('a call can wait for the decision: it says that it waits, and where somebody decides', async (t) => {
  writeWorkspaceFile(daemon, 'l.txt');
  const args = ['tool', 'invoke', 'files.delete', 'path=l.txt', '--wait', '60'];
  const child = spawn(process.execPath, [program, ...args], {
    env: environmentOf(daemon.place, { SALLYPORT_TOKEN: token }),
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  while (!/#\/approvals\/\S+\n/.test(said)) await once(child.stderr, 'data');
  const taskId = /approvals approve (\S+)/.exec(said)?.[1] ?? '';
  assert.match(said, new RegExp(`Waits for a person {2}files\\.delete\\n.* approvals approve ${taskId}\\n`));
  assert.match(said, new RegExp(`${daemon.address}/#/approvals/${taskId}`));
  const ended = once(child, 'exit');
  await desk.approve(taskId);
  assert.deepEqual(await ended, [0, null]);
});

test('a wait that nobody ends is over after its time, with the code of what waits', () => {
  writeWorkspaceFile(daemon, 'm.txt');
  const args = ['tool', 'invoke', 'files.delete', 'path=m.txt', '--wait', '1'];
  const { status, stderr } = runSallyport(daemon.place, args, { SALLYPORT_TOKEN: token });
  assert.equal(status, 5);
  assert.match(stderr, /decide +http:\S+#\/approvals\//);
  const json = runSallyport(daemon.place, [...args, '--json'], { SALLYPORT_TOKEN: token });
  assert.deepEqual([json.status, json.stderr], [5, '']);
  assert.equal((JSON.parse(json.stdout) as { status: string }).status, 'pending_approval');
});

test('a call with a confirm token is made in the trace that the token names', async () => {
  for (const name of ['n.txt', 'o.txt']) writeWorkspaceFile(daemon, name);
  const { token: own, sessionId: session } = outputOf(await daemon.call('sessions.create', { agent: 'carl' }));
  const input = {
    session_id: session,
    trace_id: 'cd'.repeat(16),
    calls: [{ tool: 'files.delete', arguments: { path: 'n.txt' } }],
  };
  const { denied } = await daemon.call('confirm.issue', input);
  const confirmBinding = denied?.approval?.binding;
  const { confirmToken: confirm } = outputOf(await daemon.call('confirm.issue', input, { confirmBinding }));
  const invoke = (name: string, ...more: string[]) =>
    runSallyport(
      daemon.place,
      ['tool', 'invoke', 'files.delete', `path=${name}`, '--json', '--confirm-token', String(confirm), ...more],
      { SALLYPORT_TOKEN: String(own) },
    );
  const codeOf = ({ stdout }: { stdout: string }) =>
    (JSON.parse(stdout) as { denied?: { rationale_code: string } }).denied?.rationale_code;
  assert.equal(codeOf(invoke('o.txt')), 'CONFIRM_TOKEN_SCOPE');
  assert.equal(codeOf(invoke('n.txt', '--trace', 'ef'.repeat(16))), 'CONFIRM_TOKEN_TRACE');
  const done = invoke('n.txt');
  assert.equal(done.status, 0, done.stdout);
  assert.equal((JSON.parse(done.stdout) as { trace_id: string }).trace_id, 'cd'.repeat(16));
  assert.equal(codeOf(invoke('n.txt')), 'CONFIRM_TOKEN_USED');
  const wrong = invoke('n.txt', '--trace', 'zz');
  assert.deepEqual([wrong.status, /32 hexadecimal digits/.test(wrong.stdout)], [1, true]);
});

test('plans are followed: whole at a terminal, a line each for a script', async (t) => {
  writeWorkspaceFile(daemon, 'p.txt');
  const terminal = openTerminal(t, ['plan', 'watch']);
  const child = spawn(process.execPath, [program, 'plan', 'watch', '--json'], { env: environmentOf(daemon.place) });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await terminal.waitFor('Plans appear here.');
  const body = { summary: 'Watched.', calls: [{ tool: 'files.delete', inputJson: '{"path":"p.txt"}' }] };
  const { json } = await daemon.post('sallyport.v1.PlanService/ProposePlan', body, token);
  const { id } = (json as { plan: { id: string } }).plan;
  await terminal.waitFor('1. files.delete (critical risk)');
  await terminal.waitFor('Delete p.txt');
  await terminal.waitFor(`plan approve ${id}`);
  const next = async () => JSON.parse(String((await lines.next()).value)) as { event: string; plan: PlanJson };
  const first = await next();
  assert.deepEqual([first.event, first.plan.id, first.plan.status], ['pending', id, 'pending']);
  await desk.send('PlanService/DecidePlan', { id, note: 'No.' });
  const second = await next();
  assert.deepEqual([second.event, second.plan.status, second.plan.note], ['decided', 'denied', 'No.']);
  await terminal.waitFor(`decided  ${id}  denied`);
  terminal.type('\u0003');
  assert.equal(await terminal.exitCode(), 0);
});
