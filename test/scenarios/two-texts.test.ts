import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Code } from '@sallyport/contract';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

/** How the gate would be opened: commands, rule files and lines of them, and their paths. */
const recipe =
  /sallyport [a-z]|\.yaml|\$WORKSPACE|Rule \S+ covers|effect: |hosts: \[|- \{ ?id|governance|\brestart\b|environment in the rule/;

let daemon: TestDaemon;
let agent: string;
before(async () => {
  const limits = `version: 1
rates: [{ tools: [files.search], per_minute: 1 }]
repeats: { warn_at: 99, refuse_at: 100, refuse_changes_at: 2, window_minutes: 10 }
quarantine: { at: 1000, window_minutes: 10, denied: 1, error: 0, timeout: 2 }
max_argument_bytes: 65536
`;
  const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');
  const asking = shipped.replace('accept_new: true', 'accept_new: false');
  const place = ownRules(newPlace(), { 'limits.yaml': limits, 'tools.yaml': asking });
  writeFileSync(join(place.workspace, '.env'), 'x');
  writeFileSync(join(place.workspace, 'there'), 'a a');
  writeFileSync(join(place.workspace, 'bytes'), Buffer.from([0xff, 0xfe, 0x00]));
  mkdirSync(join(place.workspace, 'folder'));
  mkdirSync(join(place.home, 'tools', 'bin'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'tools', 'bin', 'hello'), '#!/bin/sh\necho 1\n', { mode: 0o755 });
  daemon = await TestDaemon.start(place);
  agent = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const textOf = (answer: object): string => JSON.stringify(answer);

function checkForAgent(answer: Answer, code: string): void {
  const { denied, error } = answer;
  assert.equal(denied?.rationaleCode ?? error?.code, code, textOf(answer));
  assert.doesNotMatch(textOf(answer), recipe);
  assert.ok(`${denied?.remedy}${error?.message}`.includes(answer.callId), textOf(answer));
}

async function setMode(mode: string): Promise<void> {
  const answer = await daemon.call('mode.set', { mode, cause: 'a test' });
  assert.ok(answer.success, textOf(answer));
}

async function manage(tool: string, input: object): Promise<void> {
  const shown = await daemon.call(tool, input);
  const binding = shown.denied?.approval?.binding ?? '';
  const answer = await daemon.call(tool, input, { confirmBinding: binding });
  assert.ok(answer.success, textOf(answer));
}

type Ask = (token?: string) => Promise<Answer>;

interface Provoked {
  /** Without a token an operator asks. */
  readonly ask: Ask;
  /** Of the agent. Absent: one that is new. */
  readonly token?: () => Promise<string>;
  /** What the operator reads, who asks the same. Absent: nothing special. */
  readonly operator?: RegExp;
  /** Only agents are refused so. */
  readonly agentsOnly?: true;
}

const call =
  (tool: string, input: unknown, more: object = {}): Ask =>
  (token) =>
    daemon.call(tool, input, { ...more, ...(token === undefined ? {} : { token }) });

const twice =
  (first: Ask, second: Ask = first): Ask =>
  async (token) => {
    await first(token);
    return second(token);
  };

/** Whom the gate does not let in has no call to speak of at most doors; this one says the code all the same. */
const knock: Ask = async (token) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ tool_name: 'files.list', arguments: {} });
  const response = await fetch(`${daemon.address}/v1/calls`, { method: 'POST', headers, body });
  const { error, metadata } = (await response.json()) as {
    error: string;
    metadata: { code: string; remedy: string; call_id: string; rule_id: string; request_id: string };
  };
  const { code, remedy, rule_id: ruleId, call_id: callId, request_id: requestId } = metadata;
  const denied = { rationaleCode: code, message: error, remedy, ruleId };
  return { callId, requestId, traceId: '', tool: 'files.list', denied };
};

const ensureAgain = call('files.ensure_dir', { path: 'again' });

/** The tools folder is looked at while the daemon runs. */
const askHello: Ask = async (token) => {
  for (;;) {
    const answer = await call('hello', {})(token);
    if (answer.denied?.rationaleCode !== 'UNKNOWN_TOOL') return answer;
    await setTimeout(50);
  }
};

const newAgent = (more: Record<string, unknown>) => () => daemon.newAgent('eve', more);

async function endedAgent(): Promise<string> {
  const { success } = await daemon.call('sessions.create', { agent: 'eve' });
  const { token, sessionId: id } = JSON.parse(success?.outputJson ?? '{}') as { token: string; sessionId: string };
  await daemon.call('sessions.end', { session_id: id });
  return token;
}

/** Needs time, a full disk, a crash, a person or a broken program. Every door presents it in doors/two-texts.test.ts. */
const elsewhere = 'elsewhere';

const provoked: Readonly<Record<Code, Provoked | typeof elsewhere>> = {
  MALFORMED_CALL: { ask: call('files.list', {}, { requestId: 'x'.repeat(300) }), agentsOnly: true },
  MALFORMED_ARGUMENTS: { ask: call('files.list', '[]') },
  ARGUMENTS_TOO_LARGE: { ask: call('files.write', { path: 'a', content: 'x'.repeat(70_000) }) },
  UNAUTHENTICATED: { ask: knock, token: async () => 'not-a-token', agentsOnly: true },
  WRONG_DOOR: { ask: knock, token: async () => daemon.operatorToken, agentsOnly: true },
  SESSION_ENDED: { ask: knock, token: endedAgent, agentsOnly: true },
  SESSION_EXPIRED: elsewhere,
  SESSION_QUARANTINED: elsewhere,
  UNKNOWN_TOOL: { ask: call('no.such_tool_at_all', {}), operator: /`sallyport tool list`/ },
  INVALID_ARGUMENTS: { ask: call('files.read', { pth: 'x' }), operator: /`sallyport tool show files\.read`/ },
  HOST_REFUSED: { ask: call('web.fetch', { url: 'http://user@127.0.0.1/' }) },
  OUTSIDE_LEASE: {
    ask: call('files.read', { path: 'a' }),
    token: newAgent({ tools: ['files.list'] }),
    agentsOnly: true,
  },
  MODE_FORBIDS: elsewhere,
  NO_RULE_ALLOWS: {
    ask: call('files.read', { path: '/etc/hostname' }),
    operator: /Rule \S+ covers .*`sallyport policy apply`: - \{id: allow-files-read/,
  },
  RULE_DENIES: { ask: call('files.read', { path: '.env' }), operator: /\(.*tools\.yaml:\d+\)/ },
  PROTECTED_PATH: {
    ask: async (token) => call('files.read', { path: join(daemon.place.home, 'sallyport.db') })(token),
  },
  UNSAFE_PATH: { ask: call('files.read', { path: '../x' }) },
  CALL_REPEATED: { ask: twice(twice(ensureAgain), twice(ensureAgain)), agentsOnly: true },
  DEDUPE_CONFLICT: {
    ask: twice(
      call('files.write', { path: 'k', content: '1' }, { dedupeKey: 'k' }),
      call('files.write', { path: 'k', content: '2' }, { dedupeKey: 'k' }),
    ),
  },
  DEDUPE_UNKNOWN: elsewhere,
  BUDGET_EXCEEDED: { ask: twice(call('files.list', {})), token: newAgent({ max_calls: 1 }), agentsOnly: true },
  RATE_LIMITED: { ask: twice(call('files.search', { name: 'x' })), operator: /`sallyport policy apply`/ },
  TOO_MANY_CALLS: elsewhere,
  APPROVAL_REQUIRED: { ask: call('files.delete', { path: 'there' }), operator: /confirm it/ },
  APPROVAL_MISMATCH: {
    ask: call('files.delete', { path: 'there' }, { approvalTaskId: '01900000-0000-7000-8000-000000000001' }),
    agentsOnly: true,
  },
  APPROVAL_UNSEEN: elsewhere,
  APPROVAL_OUTDATED: elsewhere,
  APPROVAL_DENIED: elsewhere,
  APPROVAL_EXPIRED: elsewhere,
  APPROVAL_USED: elsewhere,
  NO_APPROVER: elsewhere,
  TOO_MANY_APPROVALS: elsewhere,
  CONFIRM_TOKEN_INVALID: { ask: call('files.delete', { path: 'there' }, { confirmToken: 'x' }), agentsOnly: true },
  CONFIRM_TOKEN_USED: elsewhere,
  CONFIRM_TOKEN_TRACE: elsewhere,
  CONFIRM_TOKEN_SCOPE: elsewhere,
  CONFIRM_TOKEN_EXPIRED: elsewhere,
  STANDING_CHANGED: elsewhere,
  DISK_NEARLY_FULL: elsewhere,
  TOOL_NOT_ACCEPTED: { ask: askHello, operator: /`sallyport tool accept hello/ },
  TOOL_STARTING: elsewhere,
  TOOL_MISSING: elsewhere,
  COMMAND_UNCLEAR: { ask: call('shell.run', { command: 'ls $(pwd)' }) },
  SANDBOX_UNAVAILABLE: elsewhere,
  FOLDER_BUSY: elsewhere,
  LIMIT_UNENFORCEABLE: elsewhere,
  SEALED: elsewhere,
  STOPPING: elsewhere,
  NOT_FOUND: { ask: call('files.read', { path: 'nowhere' }) },
  ALREADY_EXISTS: { ask: call('files.write', { path: 'there', content: 'x', create_only: true }) },
  NOT_A_FILE: { ask: call('files.read', { path: 'folder' }) },
  NOT_A_FOLDER: { ask: call('files.list', { path: 'there' }) },
  NOT_TEXT: { ask: call('files.read', { path: 'bytes' }) },
  TOO_LARGE: elsewhere,
  NO_MATCH: { ask: call('files.edit', { path: 'there', old_content: 'not in it', new_content: 'b' }) },
  MULTIPLE_MATCHES: { ask: call('files.edit', { path: 'there', old_content: 'a', new_content: 'b' }) },
  FILE_CHANGED: elsewhere,
  CONTENT_MISMATCH: elsewhere,
  CONTENT_CORRUPTED: elsewhere,
  DISK_FULL: elsewhere,
  TIMEOUT: elsewhere,
  CANCELLED: elsewhere,
  EFFECT_UNKNOWN: elsewhere,
  CPU_LIMIT: elsewhere,
  MEMORY_LIMIT: elsewhere,
  PROCESS_LIMIT: elsewhere,
  FILE_SIZE_LIMIT: elsewhere,
  DISK_LIMIT: elsewhere,
  OUTPUT_LIMIT: elsewhere,
  EXECUTOR_LOST: elsewhere,
  UPSTREAM_UNAVAILABLE: elsewhere,
  UPSTREAM_FAILED: elsewhere,
  EXECUTION_ERROR: elsewhere,
  STEP_FAILED: elsewhere,
  INVALID_RESULT: elsewhere,
  INTERNAL: elsewhere,
  OUTCOME_UNRECORDED: elsewhere,
};

for (const [code, how] of Object.entries(provoked)) {
  if (how === elsewhere) continue;
  test(`${code}: an agent reads no recipe; an operator reads what to change`, async () => {
    requirement('PIPE-9');
    const token = await (how.token?.() ?? daemon.newAgent('eve'));
    const answer = await how.ask(token);
    const { denied, error } = answer;
    assert.equal(denied?.rationaleCode ?? error?.code, code, textOf(answer));
    assert.doesNotMatch(textOf(answer), recipe);
    assert.ok(answer.callId !== '' && (denied?.message ?? error?.message) !== '', textOf(answer));
    const isWaiting = (denied?.approval as { taskId?: string } | undefined)?.taskId !== undefined;
    if (denied !== undefined && !isWaiting) assert.ok(denied.remedy?.includes(answer.callId), textOf(answer));
    if (denied !== undefined) assert.notEqual(denied.remedy ?? '', '', textOf(answer));
    if (how.agentsOnly === true) return;
    const told = await how.ask();
    assert.equal(told.denied?.rationaleCode ?? told.error?.code, code, textOf(told));
    const text = `${told.denied?.message} ${told.denied?.remedy} ${told.error?.message}`;
    assert.doesNotMatch(text, /give them call/);
    if (how.operator !== undefined) assert.match(text, how.operator);
  });
}

test('a person who looks up the call of an agent reads which rule it was and what to change', async () => {
  const { callId } = await daemon.call('files.read', { path: '/etc/hostname' }, { token: agent });
  const { stdout } = runSallyport(daemon.place, ['audit', 'show', callId]);
  assert.match(stdout.replaceAll(/\s+/g, ' '), /`sallyport policy apply`: - \{id: allow-files-read/);
  const asAgent = runSallyport(daemon.place, ['tool', 'invoke', 'files.read', 'path=/etc/hostname'], {
    SALLYPORT_TOKEN: agent,
  });
  assert.match(asAgent.stderr, /NO_RULE_ALLOWS/);
  assert.match(asAgent.stderr.replaceAll(/\s+/g, ' '), /give them call [0-9a-f-]{36}/);
  assert.doesNotMatch(asAgent.stdout + asAgent.stderr, recipe);
});

test('an agent reads no recipe in another mode, or where the organisation says no', async () => {
  requirement('PIPE-9');
  const unknown = await daemon.post('sallyport.v1.ToolService/ExecuteTool', { name: 'files.list' }, 'not-a-token');
  assert.equal(unknown.status, 401);
  assert.doesNotMatch(textOf(unknown), recipe);

  await setMode('LOCKDOWN');
  checkForAgent(await daemon.call('files.write', { path: 'a', content: 'b' }, { token: agent }), 'MODE_FORBIDS');
  await setMode('RECOVERY');
  await setMode('NORMAL');

  await manage('permissions.revoke', { level: 'agent', subject: 'ada', tools: 'files.list' });
  checkForAgent(await daemon.call('files.list', {}, { token: agent }), 'RULE_DENIES');
  await manage('system.configure', { setting: 'profile', value: 'team' });
  checkForAgent(await daemon.call('files.read', { path: 'a' }, { token: agent }), 'RULE_DENIES');
  await manage('system.configure', { setting: 'profile', value: 'personal' });
});

test('every door speaks to agents in the same way', async () => {
  const headers = { authorization: `Bearer ${agent}`, 'content-type': 'application/json' };
  const send = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${daemon.address}${path}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
  const post = async (path: string, body: object, more: Record<string, string> = {}): Promise<string> =>
    (await send(path, body, more)).text();
  const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
  const clientInfo = { name: 'test', version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const welcome = await send('/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello }, mcp);
  const inSession = { ...mcp, 'mcp-session-id': welcome.headers.get('mcp-session-id') ?? '' };
  await welcome.text();
  const input = { path: '/etc/hostname' };
  const answers = [
    await post('/v1/calls', { tool_name: 'files.read', arguments: input }),
    await post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'files.read', arguments: input } },
      inSession,
    ),
    await post('/sallyport.v1.ToolProtocolService/Execute', {
      requestId: 'a',
      sessionToken: agent,
      fileRead: { path: '/etc/hostname' },
    }),
  ];
  for (const answer of answers) {
    assert.match(answer, /No rule allows/);
    assert.doesNotMatch(answer, recipe);
    assert.match(answer, /give them call [0-9a-f-]{36}/);
  }
  const listed = await post('/sallyport.v1.ToolService/ListAvailableTools', {});
  assert.doesNotMatch(listed, /`sallyport |\.yaml/);
});

test('no remedy for everyone names a command of operators or a rule file', () => {
  const source = join(import.meta.dirname, '../../packages/gateway/src');
  // What these say goes to the person at the terminal or into the log of the daemon.
  const forPeople = /^(cli|daemon|storage|policy\/language)\//;
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts') || forPeople.test(name)) continue;
    const text = readFileSync(join(source, name), 'utf8');
    assert.doesNotMatch(text, /remedy[:?]?\s*=?\s*[^,;]*?(sallyport [a-z]|\.yaml)/, name);
  }
});
