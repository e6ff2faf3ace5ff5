import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { ExecuteToolResponseSchema } from '@sallyport/contract';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
let agent: string;

before(async () => {
  daemon = await TestDaemon.start();
  agent = await daemon.newAgent('coder');
});
after(() => daemon.remove());

const outputOf = (answer: { success?: { outputJson: string } }): Record<string, unknown> =>
  JSON.parse(answer.success?.outputJson ?? 'null') as Record<string, unknown>;

test('a call is allowed by a rule, runs, and stands in the log as intent and outcome', async () => {
  requirement('AUD-1', 'AUD-2', 'PIPE-5');
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk');
  const answer = await daemon.call(
    'files.read',
    { path: 'notes.md' },
    { token: agent, requestId: 'r-1', context: { taskId: 't-1', correlationId: 'c-1' } },
  );
  assert.equal(outputOf(answer)['content'], 'remember the milk');
  assert.equal(answer.requestId, 'r-1');
  assert.deepEqual(answer.context, { taskId: 't-1', correlationId: 'c-1' });

  const records = (await daemon.records()).filter(({ callId }) => callId === answer.callId);
  assert.deepEqual(
    records.map(({ kind, result }) => [kind, result]),
    [
      ['intent', 'none'],
      ['outcome', 'ok'],
    ],
  );
  const [intent, outcome] = records.map(({ payload }) => payload);
  assert.equal(intent?.['tool'], 'files.read');
  assert.equal(intent?.['agent'], 'coder');
  assert.equal(intent?.['request_id'], 'r-1');
  assert.equal(intent?.['task_id'], 't-1');
  assert.deepEqual((intent?.['decision'] as { rule_id: string } | undefined)?.rule_id, 'workspace-read');
  assert.ok(!JSON.stringify(outcome).includes('milk'), 'content does not reach the log');
});

test('a denial names the rule, the reason and the remedy, and is on record', async () => {
  requirement('PIPE-4', 'AUD-1', 'PIPE-2');
  const outside = await daemon.call('files.read', { path: '/etc/passwd' }, { token: agent });
  assert.equal(outside.denied?.rationaleCode, 'NO_RULE_ALLOWS');
  assert.equal(outside.denied?.ruleId, 'default-deny');
  assert.ok(outside.denied?.remedy);

  writeFileSync(join(daemon.place.workspace, '.env'), 'API_KEY=verysecretvalue');
  const secret = await daemon.call('files.read', { path: '.env' }, { token: agent });
  assert.equal(secret.denied?.ruleId, 'secrets');
  assert.equal(secret.denied?.rationaleCode, 'RULE_DENIES');

  const recorded = (await daemon.records()).find(({ callId }) => callId === secret.callId);
  assert.equal(recorded?.kind, 'refusal');
  assert.equal((recorded?.payload['refusal'] as { rule_id: string } | undefined)?.rule_id, 'secrets');
});

test('a call by an alias is judged and recorded by its canonical name, and keeps both', async () => {
  requirement('CAT-11');
  const answer = await daemon.call('read_file', { path: 'notes.md' }, { token: agent });
  assert.equal(answer.tool, 'files.read');
  const intent = (await daemon.records()).find(({ callId, kind }) => callId === answer.callId && kind === 'intent');
  assert.equal(intent?.payload['tool'], 'files.read');
  assert.equal(intent?.payload['tool_as_named'], 'read_file');
});

test('an unknown tool is a denial that suggests the nearest names, and is on record', async () => {
  requirement('DEF-5');
  const answer = await daemon.call('files.raed', {}, { token: agent });
  assert.equal(answer.denied?.rationaleCode, 'UNKNOWN_TOOL');
  assert.match(answer.denied?.remedy ?? '', /files\.read/);
  assert.ok((await daemon.records()).some(({ callId, kind }) => callId === answer.callId && kind === 'refusal'));
});

test('every violation of the schema is told at once, with its field', async () => {
  const answer = await daemon.call('files.write', { paht: 'x', content: 5, append: 'yes' }, { token: agent });
  assert.equal(answer.denied?.rationaleCode, 'INVALID_ARGUMENTS');
  const fields = new Set(answer.denied?.violations?.map(({ field }) => field));
  for (const field of ['path', 'paht', 'content', 'append'])
    assert.ok(fields.has(field), `${field} of ${[...fields].join()}`);
  assert.match(answer.denied?.message ?? '', /perhaps you mean path;/);
});

test('an agent cannot reach what belongs to operators', async () => {
  const create = await daemon.call('sessions.create', { agent: 'friend' }, { token: agent });
  assert.equal(create.denied?.rationaleCode, 'UNKNOWN_TOOL');
  const status = await daemon.post('sallyport.v1.OperatorService/GetStatus', {}, agent);
  assert.equal(status.status, 403);
  const asOperator = await daemon.post('sallyport.v1.ToolService/ListAvailableTools', {}, daemon.operatorToken);
  assert.equal(asOperator.status, 401, 'the operator credential is worth nothing over TCP');
  const { json } = await daemon.post('sallyport.v1.ToolService/ListAvailableTools', {}, agent);
  const names = (json as { tools: { name: string }[] }).tools.map(({ name }) => name);
  assert.ok(names.includes('files.read') && !names.includes('sessions.create'));
});

test('no credential, a wrong one, an ended one: nothing is told apart, nothing runs', async () => {
  const doomed = await daemon.newAgent('doomed');
  const { sessions } = outputOf(await daemon.call('sessions.list', {})) as {
    sessions: { sessionId: string; agent: string }[];
  };
  const id = sessions.find((session) => session.agent === 'doomed')?.sessionId;
  assert.equal((await daemon.call('files.list', {}, { token: doomed })).success === undefined, false);
  await daemon.call('sessions.end', { session_id: id });
  for (const token of ['', 'sp_wrong', doomed]) {
    await assert.rejects(daemon.call('files.list', {}, { token }), /401/);
    const { json } = await daemon.post('sallyport.v1.ToolService/ExecuteTool', { name: 'files.list' }, token);
    const [detail] = (json as { details: { type: string; value: string }[] }).details;
    assert.equal(detail?.type, 'sallyport.v1.ExecuteToolResponse');
    const { result } = fromBinary(ExecuteToolResponseSchema, Buffer.from(detail.value, 'base64'));
    const expected = token === doomed ? 'SESSION_ENDED' : 'UNAUTHENTICATED';
    assert.equal(result.case === 'denied' && result.value.rationaleCode, expected, 'programs need not read the text');
  }
});

test('the gate is out of reach of every rule, for operators too', async () => {
  for (const path of ['sallyport.db', 'keys/audit.key', 'credentials/operator', 'governance/tools.yaml']) {
    const answer = await daemon.call('files.read', { path: join(daemon.place.home, path) });
    assert.equal(answer.denied?.rationaleCode, 'PROTECTED_PATH', path);
  }
  const program = await daemon.call('files.write', {
    path: join(import.meta.dirname, '../../package.json'),
    content: '',
  });
  assert.equal(program.denied?.rationaleCode, 'PROTECTED_PATH');
});

test('a write keeps what it replaced, and says so in the log', async () => {
  writeFileSync(join(daemon.place.workspace, 'draft.txt'), 'first');
  const answer = await daemon.call('files.write', { path: 'draft.txt', content: 'second' }, { token: agent });
  assert.ok(answer.success);
  assert.equal(readFileSync(join(daemon.place.workspace, 'draft.txt'), 'utf8'), 'second');
  const outcome = (await daemon.records()).find(({ callId, kind }) => callId === answer.callId && kind === 'outcome');
  const [change] = (outcome?.payload['changes'] ?? []) as { before: string; after: string }[];
  assert.equal(change?.before, `file ${hash('sha256', 'first')}`);
  assert.equal(change?.after, `file ${hash('sha256', 'second')}`);
  const trash = join(daemon.place.home, 'trash');
  const [kept = ''] = readdirSync(trash).filter((name) => name.startsWith(answer.callId));
  assert.equal(readFileSync(join(trash, kept), 'utf8'), 'first');
});

test('what needs a person is denied with the way to get it; an operator confirms a call of their own', async () => {
  writeFileSync(join(daemon.place.workspace, 'old.txt'), 'old');
  const byAgent = await daemon.call('files.delete', { path: 'old.txt' }, { token: agent });
  assert.equal(byAgent.denied?.rationaleCode, 'APPROVAL_REQUIRED');
  assert.equal(byAgent.denied?.approval?.effect, undefined, 'the effect is for the person who decides');
  assert.match(byAgent.denied?.remedy ?? '', /approval_task_id/);

  const asked = await daemon.call('files.delete', { path: 'old.txt' });
  const binding = asked.denied?.approval?.binding ?? '';
  assert.match(asked.denied?.approval?.effect ?? '', /old\.txt/);
  const stolen = await daemon.call('files.delete', { path: 'old.txt' }, { token: agent, confirmBinding: binding });
  assert.equal(stolen.denied?.rationaleCode, 'APPROVAL_REQUIRED');
  const other = await daemon.call('files.delete', { path: 'draft.txt' }, { confirmBinding: binding });
  assert.equal(other.denied?.rationaleCode, 'APPROVAL_MISMATCH');
  assert.ok(existsSync(join(daemon.place.workspace, 'old.txt')));

  const confirmed = await daemon.call('files.delete', { path: 'old.txt' }, { confirmBinding: binding });
  assert.ok(confirmed.success, JSON.stringify(confirmed));
  assert.ok(!existsSync(join(daemon.place.workspace, 'old.txt')));
  assert.ok(readdirSync(join(daemon.place.home, 'trash')).length > 0);
  const intent = (await daemon.records()).find(({ callId, kind }) => callId === confirmed.callId && kind === 'intent');
  assert.equal((intent?.payload['consent'] as { how: string } | undefined)?.how, 'own-call-confirmed');
});

test('the same dedupe key runs once, also when the calls come together', async () => {
  requirement('PIPE-6');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      daemon.call('files.write', { path: 'once.txt', content: 'x', append: true }, { token: agent, dedupeKey: 'k1' }),
    ),
  );
  assert.ok(answers.every(({ success }) => success !== undefined));
  assert.equal(readFileSync(join(daemon.place.workspace, 'once.txt'), 'utf8'), 'x');
  const conflict = await daemon.call(
    'files.write',
    { path: 'once.txt', content: 'y', append: true },
    { token: agent, dedupeKey: 'k1' },
  );
  assert.equal(conflict.denied?.rationaleCode, 'DEDUPE_CONFLICT');
});

test('a session over its budget is refused', async () => {
  requirement('PERM-4');
  const token = await daemon.newAgent('frugal', { max_calls: 2 });
  await daemon.call('files.list', {}, { token });
  await daemon.call('files.list', { path: '.', recursive: true }, { token });
  const spent = await daemon.call('files.read', { path: 'notes.md' }, { token });
  assert.equal(spent.denied?.rationaleCode, 'BUDGET_EXCEEDED');
  assert.match(spent.denied.message, /budget of the session is spent: 2 of 2 calls/);
  assert.match(spent.denied.remedy ?? '', /new session.* A new lease does not help/);
  // As it says: a new lease does not help, and where the lease is what was spent, it does.
  const listed = await daemon.call('sessions.list', {});
  const { sessions } = JSON.parse(listed.success?.outputJson ?? '{}') as {
    sessions: { sessionId: string; agent: string }[];
  };
  const id = sessions.find((session) => session.agent === 'frugal')?.sessionId;
  await daemon.call('leases.grant', { session_id: id, tools: ['*'] });
  assert.equal((await daemon.call('files.list', {}, { token })).denied?.rationaleCode, 'BUDGET_EXCEEDED');
});

test('a spent lease is named, and a new one helps', async () => {
  requirement('PERM-4');
  const created = await daemon.call('sessions.create', { agent: 'leased' });
  const { token, sessionId: id } = JSON.parse(created.success?.outputJson ?? '{}') as Record<string, string>;
  const grant = () => daemon.call('leases.grant', { session_id: id, tools: ['*'], max_calls: 1 });
  await grant();
  const list = () => daemon.call('files.list', {}, { token: token ?? '' });
  assert.ok((await list()).success !== undefined);
  const { denied } = await list();
  assert.match(denied?.message ?? '', /budget of the lease is spent: 1 of 1 call/);
  assert.match(denied?.remedy ?? '', /new lease with a larger budget/);
  await grant();
  assert.ok((await list()).success !== undefined);
});

test('a lease narrows what a session may use', async () => {
  requirement('PERM-2');
  const token = await daemon.newAgent('reader', { tools: ['files.read'] });
  const refused = await daemon.call('files.write', { path: 'a.txt', content: '' }, { token });
  assert.equal(refused.denied?.rationaleCode, 'OUTSIDE_LEASE');
  assert.ok((await daemon.call('files.read', { path: 'notes.md' }, { token })).success);
});

test('secrets given as arguments do not reach the log', async () => {
  requirement('AUD-4');
  const token = await daemon.newAgent('leaky');
  await daemon.call('files.write', { path: 'a.txt', content: `token is ${daemon.operatorToken}` }, { token });
  await daemon.call('files.write', { path: 'a.txt', password: 'swordfish-42', content: '' }, { token });
  const text =
    JSON.stringify(await daemon.records()) + readFileSync(join(daemon.place.home, 'log', 'daemon.log'), 'utf8');
  assert.ok(!text.includes(daemon.operatorToken));
  assert.ok(!text.includes('swordfish-42'));
  assert.ok(!text.includes(token));
});

test('the log verifies while the daemon runs', () => {
  requirement('AUD-3');
  const { status, stdout } = runSallyport(daemon.place, ['audit', 'verify', '--json']);
  assert.equal(status, 0, stdout);
});
