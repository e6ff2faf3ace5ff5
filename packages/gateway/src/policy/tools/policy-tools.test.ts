import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type {
  Explanation,
  InJson,
  JsonObject,
  LogSpan,
  PolicyDraft,
  ReplayedCall,
  TriedRule,
} from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { AppliedRules } from '../files/applied-rules.ts';
import { makeFolder, world, writeRules } from '../test-world.ts';
import type { Progress, ToolContext } from '../../call/tool.ts';
import type { ActivityKind } from '../../audit/search/activity.ts';
import { Registry } from '../../registry/registry.ts';
import { operator, still } from '../../stages/facts.test-kit.ts';
import { createTestSession, openTestStore } from '../../stages/store.test-kit.ts';
import { fileTools } from '../../catalogue/files/index.ts';
import { policyTools } from './policy-tools.ts';
import { walkRecords } from '../replay/walk-records.ts';
import { ownText } from '../../call/redacted.ts';
import { WorkspaceBook } from '../../workspaces/workspace-book.ts';

const allowReading = '  - { id: read, effect: allow, tools: [files.read, files.list] }\n';
const head = 'version: 1\nrules:\n';

interface RecordedCall {
  readonly tool?: string;
  readonly agent?: string;
  readonly path: string;
  /** The arguments were not kept. */
  readonly isLong?: boolean;
  readonly effect?: string;
  readonly rule?: string;
  readonly shadow?: JsonObject;
  readonly timeMs?: number;
  readonly sessionId?: string;
}

const noEndings = { succeeded: 0, denied: 0, asked: 0, failed: 0 };
const totals = [
  { kind: 'rule', name: 'read', ...noEndings, succeeded: 3, denied: 1, lastMs: 1000 },
  { kind: 'own-rule', name: 'read', ...noEndings, succeeded: 1, lastMs: 2000 },
] as const;

const key = { secret: 'a key that lies elsewhere', isNew: false };

async function openPolicy(t: TestContext, tools: string, files: { readonly roles?: string } = {}) {
  const folder = writeRules({ tools: `${head}${tools}`, ...files });
  const store = await openTestStore(t);
  const registry = new Registry();
  const applied: string[] = [];
  const rules = new AppliedRules({ ...world, findFolder: () => folder }, join(makeFolder(), 'applied'), key);
  const parts = {
    rules,
    registry,
    store,
    index: {
      readTotals: async (kinds: readonly ActivityKind[]) => totals.filter(({ kind }) => kinds.includes(kind)),
      search: async () => ({ entries: [], indexedSize: 7 }),
    },
    workspace: world.workspace,
    workspaceOf: new WorkspaceBook({ index: store, own: world.workspace, userHome: world.userHome }).of,
    onApplied: () => applied.push(rules.current.hash),
  };
  for (const tool of [...fileTools(), ...policyTools(parts)]) registry.register(tool);
  const progress: Progress[] = [];
  const context = { session: operator, signal: still, reportProgress: (news: Progress) => progress.push(news) };
  const call = async (name: string, args: JsonObject = {}, more: Partial<ToolContext> = {}): Promise<JsonObject> => {
    const found = registry.find(`policy.${name}`) ?? assert.fail(name);
    assert.deepEqual(found.input.check(args), []);
    const output = (await found.tool.run(args, { ...context, ...more } as unknown as ToolContext)) as JsonObject;
    assert.deepEqual(found.output.check(output), []);
    return output;
  };
  const record = async (recorded: RecordedCall): Promise<string> => {
    const { tool = 'files.read', agent = 'ada', path, effect = 'allow', rule = 'read', shadow } = recorded;
    const said = shadow === undefined ? {} : { shadow };
    const known = {
      tool,
      agent,
      principal: 'agent',
      mode: 'NORMAL',
      arguments: recorded.isLong === true ? 'too long' : { path },
    };
    const decided =
      effect === 'deny'
        ? { refusal: { stage: 'judge-call', rule_id: rule, ...said } }
        : { decision: { effect, rule_id: rule, ...said } };
    const callId = randomUUIDv7();
    await store.append({
      // What was allowed may be refused by a later gate, and needs no outcome then.
      kind: 'refusal',
      result: 'none',
      timeMs: recorded.timeMs ?? Date.now(),
      callId,
      ...(recorded.sessionId === undefined ? {} : { sessionId: recorded.sessionId }),
      payload: ownText(JSON.stringify({ ...known, ...decided })),
    });
    return callId;
  };
  const file = join(folder, 'tools.yaml');
  return { store, folder, file, rules, applied, call, record, progress };
}

const namesOf = (calls: unknown): string[] =>
  (calls as InJson<ReplayedCall>[]).map(
    ({ tool, was, would }) => `${tool} ${was?.effect} → ${would?.effect} (${would?.ruleId})`,
  );

test('a file beside the rules that nobody reads is named, and so is no rule about what clients do by themselves', async (t) => {
  const own = '\n  - { id: edits, effect: allow, tools: [client.edit], origins: [client] }';
  const { call, folder } = await openPolicy(t, `${allowReading}${own}`);
  const found = async () => (await call('check'))['findings'] as { kind: string; message: string }[];
  const kinds = async () => new Set((await found()).map(({ kind }) => kind));
  assert.deepEqual(await kinds(), new Set(['unreachable-tool']));
  for (const name of ['own.yaml', 'providers.yaml', 'notes.txt']) writeFileSync(join(folder, name), 'version: 1\n');
  const unread = (await found()).filter(({ kind }) => kind === 'unread-file');
  assert.deepEqual(
    unread.map(({ message }) => message.split('.')[0]),
    ['The file "own'],
  );
});

test('recorded calls are decided again by rules that the caller sends along', async (t) => {
  const { call, record, rules } = await openPolicy(t, allowReading);
  await record({ path: 'a.txt' });
  await record({ path: 'secret/b.txt' });
  await record({ path: 'c', tool: 'files.ensure_dir', effect: 'deny', rule: 'default-deny' });
  const files = {
    'tools.yaml': `${head}${allowReading}
  - { id: no-secrets, effect: deny, tools: ['files.*'], paths: ['$WORKSPACE/secret/**'] }
  - { id: make, effect: allow, tools: [files.ensure_dir], approval: waived }`,
  };
  const { hash } = rules.current;
  const replayed = await call('replay', { rules: { folder: '/home/ada/next', files } });
  assert.deepEqual(namesOf(replayed['calls']), [
    'files.read allow → deny (no-secrets)',
    'files.ensure_dir deny → allow (make)',
  ]);
  assert.deepEqual(replayed['ways'], [
    { was: 'allow', would: 'deny', count: 1 },
    { was: 'deny', would: 'allow', count: 1 },
  ]);
  assert.deepEqual([replayed['decided'], replayed['changed'], replayed['undecidable']], [3, 2, 0]);
  assert.equal(rules.current.hash, hash);
  const bad = { folder: '/home/ada/next', files: { 'tools.yaml': 'version: 1\nrules: [{ id: a }]' } };
  await assert.rejects(call('replay', { rules: bad }), /\/home\/ada\/next\/tools\.yaml:2:9/);
});

test('how far back is said in records or in time, and what was left out is told', async (t) => {
  const { call, record } = await openPolicy(t, allowReading);
  const startMs = Date.parse('2026-03-01T10:00:00Z');
  for (let minute = 0; minute < 30; minute++) await record({ path: 'a.txt', timeMs: startMs + minute * 60_000 });
  const nothing = { folder: '/x', files: { 'tools.yaml': 'version: 1\n' } };
  const changedBy = async (span: JsonObject) => {
    const { changed, span: looked } = await call('replay', { rules: nothing, ...span });
    const { records, cut } = looked as unknown as InJson<LogSpan>;
    return [changed, records, cut];
  };
  assert.deepEqual(await changedBy({}), [30, 30, false]);
  assert.deepEqual(await changedBy({ last: 4 }), [4, 4, true]);
  assert.deepEqual(await changedBy({ since: '2026-03-01T10:20:00Z' }), [10, 10, false]);
  assert.deepEqual(await changedBy({ since: '2026-03-01T10:20:00Z', last: 3 }), [3, 3, true]);
  assert.deepEqual(await changedBy({ since: '2027-01-01' }), [0, 0, false]);
  await assert.rejects(changedBy({ since: 'yesterday' }), /not a time/);
});

test('roles, teams and permissions of the organisation count, and not those of roles.yaml only', async (t) => {
  const { store, call, record } = await openPolicy(
    t,
    `${allowReading}  - { id: web-only, effect: deny, tools: [files.list], teams: [web] }\n`,
    { roles: 'version: 1\nroles: { reader: { tools: [files.read] }, all: { tools: ["*"] } }\n' },
  );
  const explain = async (agent: string, tool: string): Promise<unknown[]> => {
    const answer = await call('explain', { tool, agent, arguments: { path: 'a' } });
    const { effect, decidedBy } = answer as unknown as InJson<Explanation>;
    return [effect, decidedBy?.rule?.id, decidedBy?.stage];
  };
  await store.changeOrganisation({ kind: 'put-team', team: { name: 'web' } });
  const put = (name: string, more: object) =>
    store.changeOrganisation({ kind: 'put-member', member: { kind: 'agent', name, addedAtMs: 0, ...more } });
  await put('narrow', { role: 'reader' });
  await put('webby', { team: 'web' });
  await store.changeOrganisation({
    kind: 'put-permission',
    permission: { level: 'agent', subject: 'barred', tools: 'files.read', effect: 'revoked', by: 'o', atMs: 0 },
  });
  assert.deepEqual(await explain('ada', 'files.list'), ['allow', 'read', 'judge-call']);
  assert.deepEqual(await explain('narrow', 'files.list'), ['deny', 'outside-role', 'judge-call']);
  assert.deepEqual(await explain('webby', 'files.list'), ['deny', 'web-only', 'judge-call']);
  assert.deepEqual(await explain('barred', 'files.read'), ['deny', 'permission-revoked', 'check-permission']);
  for (const agent of ['ada', 'narrow', 'webby', 'barred']) {
    await record({ agent, tool: 'files.list', path: '.' });
    await record({ agent, path: 'a' });
  }
  const { calls } = await call('replay', {});
  assert.deepEqual(
    (calls as InJson<ReplayedCall>[]).map(({ agent, would }) => [agent, would?.ruleId]),
    [
      ['narrow', 'outside-role'],
      ['webby', 'web-only'],
      ['barred', 'permission-revoked'],
    ],
  );
});

test('what a session called before counts when a call is decided again, as far as the records tell', async (t) => {
  const { store, call, record, file } = await openPolicy(t, allowReading);
  writeFileSync(
    file,
    `${head}${allowReading}  - { id: not-after-list, effect: deny, tools: [files.read], after: [files.list] }\n`,
  );
  const session = await createTestSession(store, { createdAtMs: Date.now() });
  const intent = (tool: string) =>
    store.admit({
      sessionId: session.id,
      basedOn: Number.MAX_SAFE_INTEGER,
      leaseId: session.lease.id,
      tool: 'files.read',
      reservations: [],
      intent: {
        kind: 'intent',
        result: 'none',
        timeMs: Date.now(),
        callId: randomUUIDv7(),
        sessionId: session.id,
        payload: ownText(
          JSON.stringify({
            ...{ tool, agent: 'ada', principal: 'agent', mode: 'NORMAL', arguments: { path: 'a' } },
            decision: { effect: 'allow', rule_id: 'read' },
          }),
        ),
      },
    });
  for (const tool of ['files.read', 'files.list', 'files.read']) await intent(tool);
  const { calls } = await call('replay', {});
  assert.deepEqual(
    (calls as InJson<ReplayedCall>[]).map(({ index }) => index),
    ['2'],
  );
  // Of somebody whose earlier calls are not known, a denial takes the worst.
  await record({ path: 'a' });
  assert.equal(((await call('replay', { last: 1 }))['calls'] as unknown[]).length, 1);
});

test('calls that are alike are decided by their own time where a rule looks at it', async (t) => {
  const { call, record } = await openPolicy(t, allowReading);
  const at = (hour: number): number => new Date(2026, 2, 2, hour).getTime();
  for (const hour of [9, 10, 23]) await record({ path: 'a', timeMs: at(hour) });
  const daytime = `${head}${allowReading}  - { id: by-night, effect: deny, tools: [files.read], hours: ['22:00-06:00'] }\n`;
  const { decided, calls } = await call('replay', { rules: { folder: '/x', files: { 'tools.yaml': daytime } } });
  assert.equal(decided, 3);
  assert.deepEqual(
    (calls as { index: string; calledAtMs: string }[]).map(({ index, calledAtMs }) => [index, calledAtMs]),
    [['2', String(at(23))]],
  );
});

test('each of many calls that are alike is counted and told, with its own place and id', async (t) => {
  const { call, record } = await openPolicy(t, allowReading);
  for (let times = 0; times < 3; times++) await record({ path: 'a' });
  await record({ path: 'a', agent: 'bea' });
  await record({ path: 'a', tool: 'files.ensure_dir' });
  const nothing = { folder: '/x', files: { 'tools.yaml': 'version: 1\n' } };
  const { decided, changed, ways, calls } = await call('replay', { rules: nothing });
  assert.deepEqual([decided, changed, ways], [5, 5, [{ was: 'allow', would: 'deny', count: 5 }]]);
  const told = calls as { index: string; callId: string; agent: string; tool: string }[];
  assert.equal(new Set(told.map(({ callId }) => callId)).size, 5);
  assert.deepEqual(
    told.map(({ index, agent, tool }) => `${index} ${agent} ${tool}`),
    ['0 ada files.read', '1 ada files.read', '2 ada files.read', '3 bea files.read', '4 ada files.ensure_dir'],
  );
});

test('a tried-out rule is told with what it would have done, and since when', async (t) => {
  const { call, record, progress } = await openPolicy(
    t,
    `${allowReading}  - { id: no-docs, effect: deny, tools: [files.read], shadow: true }
  - { id: unused, effect: allow, tools: [files.write], shadow: true }\n`,
  );
  const at = (minute: number): number => Date.parse('2026-03-01T10:00:00Z') + minute * 60_000;
  const denied = { effect: 'deny', rule_id: 'no-docs' };
  await record({ path: 'a', timeMs: at(0) });
  await record({ path: 'docs/a', shadow: denied, timeMs: at(1) });
  await record({ path: 'docs/b', shadow: denied, timeMs: at(2) });
  await record({ path: 'docs/c', effect: 'deny', rule: 'other', shadow: denied, timeMs: at(3) });
  await record({ path: 'x', effect: 'deny', shadow: { effect: 'allow', rule_id: 'gone' }, timeMs: at(4) });
  const { rules, span } = await call('shadow', {});
  assert.deepEqual(span, { records: 5, fromAtMs: String(at(0)), cut: false });
  const [first, second, third] = rules as unknown as InJson<TriedRule>[];
  const counts = { wouldDeny: 0, wouldAsk: 0, wouldAllow: 0, same: 0 };
  const { rule: noDocs, ...done } = first ?? assert.fail();
  assert.equal(noDocs?.id, 'no-docs');
  assert.deepEqual(done, {
    ...{ effect: 'deny', ...counts, wouldDeny: 2, same: 1 },
    ...{ firstAtMs: String(at(1)), lastAtMs: String(at(3)) },
  });
  assert.deepEqual([second?.rule?.id, second?.wouldAllow, second?.firstAtMs], ['unused', 0, undefined]);
  assert.deepEqual([third?.rule?.id, third?.effect, third?.wouldAllow], ['gone', '', 1]);
  const since = await call('shadow', { since: '2026-03-01T10:02:00Z' });
  assert.equal((since['rules'] as unknown as InJson<TriedRule>[])[0]?.wouldDeny, 1);
  assert.deepEqual(progress[0], { kind: 'step', done: 5, total: 5, message: 'records' });
});

test('a long look at the log tells how far it is, and ends when nobody waits for it', async (t) => {
  const { store } = await openPolicy(t, allowReading);
  for (let i = 0; i < 1200; i++) {
    void store.append({ kind: 'event', result: 'none', timeMs: i + 1, payload: ownText('{}') });
  }
  await store.append({ kind: 'event', result: 'none', timeMs: 5000, payload: ownText('{}') });
  const gone = new AbortController();
  const done: number[] = [];
  const walk = async (): Promise<number> => {
    let seen = 0;
    const reportProgress = (news: Progress) => news.kind === 'step' && done.push(news.done);
    const context = { signal: gone.signal, reportProgress };
    for await (const page of walkRecords(store, { from: 0, to: 1201, isCut: false }, context)) seen += page.length;
    return seen;
  };
  assert.equal(await walk(), 1201);
  assert.deepEqual(done, [200, 400, 600, 800, 1000, 1200, 1201]);
  gone.abort();
  await assert.rejects(walk(), { name: 'AbortError' });
});

test('rules that were edited after somebody agreed to them are not applied', async (t) => {
  requirement('APPR-6');
  const { file, rules, call } = await openPolicy(t, allowReading);
  writeFileSync(file, `${head}${allowReading.replace('files.list', 'files.search')}`);
  const { hash } = rules.preview();
  writeFileSync(file, `${head}${allowReading.replace('files.list', 'files.ensure_dir')}`);
  await assert.rejects(call('apply', {}, { shownBasis: hash }), /has changed since the call was approved/);
  assert.notEqual(rules.current.hash, rules.preview().hash);
  await call('apply', {}, { shownBasis: rules.preview().hash });
});

test('promoting writes the file, applies it, and says so', async (t) => {
  const { call, record, file, rules, applied } = await openPolicy(
    t,
    `${allowReading}  - id: no-docs   # on trial
    effect: deny
    tools: [files.read]
    paths: ['$WORKSPACE/docs/**']
    shadow: true\n`,
  );
  await record({ path: 'docs/a' });
  await record({ path: 'src/a' });
  const before = readFileSync(file, 'utf8');
  await record({ path: 'src/b', effect: 'deny', rule: 'one-of-before' });
  const { changed, calls } = await call('replay', { promote: 'no-docs', against: 'in-force' });
  assert.deepEqual([changed, namesOf(calls)], [1, ['files.read allow → deny (no-docs)']]);
  assert.equal(readFileSync(file, 'utf8'), before);

  const { hash } = rules.current;
  await assert.rejects(call('promote', { rule: 'read' }), /in force already/);
  const promoted = await call('promote', { rule: 'no-docs' });
  assert.deepEqual([promoted['before'], promoted['changed']], [hash, true]);
  assert.equal(readFileSync(file, 'utf8'), before.replace('    shadow: true\n', ''));
  assert.deepEqual(applied, [rules.current.hash]);
  assert.deepEqual([rules.inspect().files, rules.current.tried.length], ['applied', 0]);
});

test('nothing is promoted on top of edits that nobody applied, or in the rules that came with the program', async (t) => {
  const tried = '  - { id: a, effect: deny, tools: [x], shadow: true }\n';
  const { call, file } = await openPolicy(t, tried);
  const edited = `${head}${tried}${allowReading}`;
  writeFileSync(file, edited);
  await assert.rejects(call('promote', { rule: 'a' }), /differ from those in force/);
  assert.equal(readFileSync(file, 'utf8'), edited);
  const folder = writeRules({ tools: `${head}${tried}` });
  const shipped = new AppliedRules(
    { ...world, findFolder: () => folder, programFolder: folder },
    join(makeFolder(), 'applied'),
    key,
  );
  assert.throws(() => shipped.promote('a'), /came with the program/);
});

test('every gate that a call meets is told in its order, and which of them decides', async (t) => {
  const { store, call } = await openPolicy(t, allowReading);
  const explain = async (more: JsonObject) => {
    const explained = await call('explain', { tool: 'read_file', arguments: { path: 'a' }, ...more });
    const answer = explained as unknown as InJson<Explanation>;
    const { stages } = answer;
    return { answer, stages, says: new Map(stages.map(({ stage, says }) => [stage, says])) };
  };
  const plain = await explain({});
  assert.deepEqual(
    plain.stages.map(({ stage }) => stage),
    [
      ...['resolve-tool', 'check-arguments', 'check-lease', 'check-permission', 'check-mode', 'judge-call'],
      ...['check-sandbox', 'break-loop', 'reuse-result', 'check-limits', 'seek-approval'],
    ],
  );
  assert.deepEqual(
    [plain.answer.tool, plain.answer.effect, plain.says.get('check-lease')],
    [...['files.read', 'allow', 'depends']],
  );
  assert.match(plain.stages[0]?.why ?? '', /read_file is files\.read/);
  const { says, answer } = await explain({ mode: 'LOCKDOWN' });
  assert.deepEqual(
    [says.get('check-mode'), answer.effect, answer.decidedBy?.stage, answer.decidedBy?.rule?.id],
    [...['denies', 'deny', 'check-mode', 'mode-lockdown']],
  );
  const session = await createTestSession(store, { agent: 'bob', lease: { id: randomUUIDv7(), tools: ['git.*'] } });
  const leased = await explain({ session: session.id });
  assert.deepEqual(
    [leased.answer.agent, leased.answer.effect, leased.answer.decidedBy?.stage, leased.answer.decidedBy?.code],
    ['bob', 'deny', 'check-lease', 'OUTSIDE_LEASE'],
  );
  await assert.rejects(explain({ session: 'nobody' }), /No session, or more than one/);
  const operatorsOnly = await explain({ tool: 'policy.status', arguments: {} });
  assert.deepEqual([operatorsOnly.answer.effect, operatorsOnly.answer.decidedBy?.stage], ['deny', 'resolve-tool']);
});

test('cases are held against all gates, and one that cannot be judged is one that fails', async (t) => {
  const { call } = await openPolicy(t, allowReading);
  const path = { path: 'a' };
  const tested = await call('test', {
    cases: [
      { tool: 'files.read', arguments: path, expect: 'allow', rule: 'read' },
      { tool: 'files.ensure_dir', arguments: { path: 'a' }, expect: 'deny' },
      { name: 'wishful', tool: 'files.read', arguments: path, expect: 'allow', mode: 'LOCKDOWN' },
      { tool: 'files.raed', expect: 'deny' },
    ],
  });
  assert.deepEqual([tested['passed'], tested['failed']], [2, 2]);
  const [wishful, unknown] = tested['failures'] as string[];
  assert.equal(wishful, 'wishful: expected allow, but it is deny by mode-lockdown');
  assert.match(unknown ?? '', /^case 4: expected deny, but it is error \(There is no tool named files\.raed/);
});

const denied = { effect: 'deny', rule: 'default-deny' };

test('a denied call is allowed by the narrowest rule, which opens nothing else', async (t) => {
  requirement('UI-4');
  const { call, record, rules, file, applied } = await openPolicy(t, allowReading);
  const writing = { tool: 'files.ensure_dir', ...denied };
  const id = await record({ ...writing, path: 'notes/a.txt' });
  await record({ ...writing, path: 'notes/a.txt' });
  await record({ ...writing, path: 'notes/a.txt', agent: 'bob' });
  await record({ ...writing, path: 'notes/b.txt' });
  await record({ ...writing, path: 'notes/a.txt', isLong: true });
  const draft = (await call('draft', { call: id })) as unknown as InJson<PolicyDraft>;
  assert.deepEqual([draft.tool, draft.agent, draft.file], ['files.ensure_dir', 'ada', file]);
  // Both calls of the same kind are listed; the agent next door and the file next door stay closed.
  assert.deepEqual(
    draft.replay?.calls.map(({ index, agent }) => [index, agent]),
    [
      ['0', 'ada'],
      ['1', 'ada'],
    ],
  );
  assert.equal(draft.undecidableDenials, 1);
  assert.equal(applied.length, 0);
  const before = readFileSync(file, 'utf8');

  await call('allow', { call: id, shown: draft.shown });
  assert.equal(readFileSync(file, 'utf8'), `${before}\n${draft.rule.replaceAll(/^(?=.)/gm, '  ')}`);
  assert.deepEqual(applied, [rules.current.hash]);
  const again = await call('explain', {
    tool: 'files.ensure_dir',
    agent: 'ada',
    arguments: { path: 'notes/a.txt' },
  });
  assert.notEqual(again['effect'], 'deny');
  for (const [agent, path] of [
    ['bob', 'notes/a.txt'],
    ['ada', 'notes/b.txt'],
  ]) {
    const other = await call('explain', { tool: 'files.ensure_dir', agent, arguments: { path } } as JsonObject);
    assert.equal(other['effect'], 'deny', `${agent} ${path}`);
  }
});

test('a call that is denied after the draft was shown, and would be opened with it, keeps the rule from being applied', async (t) => {
  const { call, record, rules, file } = await openPolicy(t, allowReading);
  const id = await record({ tool: 'files.ensure_dir', path: 'a.txt', ...denied });
  const { shown } = await call('draft', { call: id });
  await record({ tool: 'files.ensure_dir', path: 'a.txt', ...denied });
  const before = [rules.current.hash, readFileSync(file, 'utf8')];
  await assert.rejects(call('allow', { call: id, shown: shown ?? '' }), /changed since the draft was shown/);
  assert.deepEqual([rules.current.hash, readFileSync(file, 'utf8')], before);
});

test('no rule is drafted where it could not help, or could not be exact', async (t) => {
  const { call, record } = await openPolicy(
    t,
    `${allowReading}  - { id: no-secrets, effect: deny, tools: ['*'], paths: ['$WORKSPACE/secret/**'] }\n`,
  );
  const drafting = async (recorded: Parameters<typeof record>[0]) => call('draft', { call: await record(recorded) });
  await assert.rejects(
    drafting({ path: 'secret/a', effect: 'deny', rule: 'no-secrets' }),
    /rule no-secrets \(.*tools\.yaml:\d+\) denies/,
  );
  await assert.rejects(drafting({ path: 'a.txt' }), /allow it already/);
  const writing = { tool: 'files.ensure_dir', ...denied };
  await assert.rejects(drafting({ ...writing, path: 'x/[redacted]' }), /without its secrets/);
  await assert.rejects(drafting({ ...writing, path: 'a', isLong: true }), /does not keep enough/);
  await assert.rejects(drafting({ ...writing, path: 'a', agent: 'ada*' }), /alone/);
  await assert.rejects(call('draft', { call: randomUUIDv7() }), /Nothing is on record/);
});

test('rules are listed with their conditions and how often they decided, for agents and people together', async (t) => {
  const { call } = await openPolicy(
    t,
    `${allowReading}  - { id: idle, effect: deny, tools: ['files.*'], paths: ['$WORKSPACE/x/**'], reason: 'Not yet.' }\n`,
  );
  const { rules = [], indexedSize } = (await call('list')) as {
    rules?: Record<string, unknown>[];
    indexedSize?: string;
  };
  assert.equal(indexedSize, '7');
  const [read, idle] = [rules[0], rules.at(-1)];
  assert.deepEqual([read?.['succeeded'], read?.['denied'], read?.['lastAtMs']], ['4', '1', '2000']);
  assert.deepEqual([idle?.['succeeded'], idle?.['lastAtMs'], idle?.['reason']], ['0', undefined, 'Not yet.']);
  assert.deepEqual(idle?.['conditions'], ['paths: $WORKSPACE/x/**']);
});
