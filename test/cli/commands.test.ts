import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InJson, ReadAuditResponse, ToolDescriptor } from '@sallyport/contract';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
before(async () => {
  // The same call over and over is what some of these tests are about.
  daemon = await TestDaemon.start(liftLimits(newPlace()));
  writeFileSync(join(daemon.place.workspace, 'notes.md'), 'remember the milk\n');
});
after(() => daemon.remove());

/** A command that must succeed, for a person. */
function say(...args: string[]): string {
  const { status, stdout, stderr } = runSallyport(daemon.place, args);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(stderr, '');
  return stdout;
}

/** The same for a script: one JSON object on one line, whatever the exit code. */
function ask(args: readonly string[], environment: Record<string, string> = {}, input = '') {
  const { status, stdout, stderr } = runSallyport(daemon.place, [...args, '--json'], environment, input);
  assert.equal(stderr, '');
  assert.match(stdout, /^\{.*\}\n$/, 'one object on one line');
  return { status, json: JSON.parse(stdout) as Record<string, unknown> & { output?: Record<string, unknown> } };
}

test('status tells how the daemon is doing, in words and as JSON', () => {
  const text = say('status');
  assert.match(text, /^Sallyport \d+\.\d+\.\d+ {2}serving\n/);
  assert.match(text, new RegExp(`workspace {2}${daemon.place.workspace}`));
  assert.match(text, / install .*\n? .*(advisory|separated)/s);
  const { json } = ask(['status']);
  assert.equal(json['health'], 'serving');
  assert.equal(json['pid'], daemon.process.pid);
  assert.equal(json['address'], daemon.address);
  assert.match(String(json['logSize']), /^\d+$/);
});

test('tool list shows name, risk, status and description; --json has the schemas too', () => {
  requirement('UI-1');
  assert.match(
    say('tool', 'list'),
    /^NAME +RISK +ORIGIN +STATUS +DESCRIPTION\n(.*\n)*files\.read +low +builtin +ready +\S/,
  );
  const { json } = ask(['tool', 'list']);
  const tools = json['tools'] as InJson<ToolDescriptor>[];
  assert.match(tools.find(({ name }) => name === 'files.read')?.inputSchemaJson ?? '', /^\{"type":"object"/);
  assert.equal(json['mode'], 'NORMAL');
});

test('tool show explains the arguments and ends with a call that works', () => {
  requirement('UI-1');
  const text = say('tool', 'show', 'files.list');
  assert.match(text, /^files\.list\n/);
  assert.match(text, /\nArguments\n {2}path +string/);
  const example = /Example\n.*npx sallyport (tool invoke .*)\n/.exec(text)?.[1] ?? '';
  say(...example.split(' '));
  assert.equal(ask(['tool', 'show', 'read_file']).json['name'], 'files.read');
});

test('tool invoke takes key=value, JSON, a file or standard input', () => {
  requirement('UI-1');
  assert.match(say('tool', 'invoke', 'files.read', 'path=notes.md'), /\ncontent:\nremember the milk\n$/);
  const file = join(daemon.place.folder, 'input.json');
  writeFileSync(file, '{"path":"notes.md"}');
  const ways: [string[], string?][] = [
    [['path=notes.md']],
    [['--input', '{"path":"notes.md"}']],
    [['--input-file', file]],
    [['--input-file', '-'], '{"path":"notes.md"}'],
  ];
  for (const [way, input] of ways) {
    const { status, json } = ask(['tool', 'invoke', 'files.read', ...way], {}, input);
    assert.equal(status, 0);
    assert.equal(json['status'], 'success');
    assert.equal(json.output?.['content'], 'remember the milk\n');
  }
});

test('tool invoke passes on what the caller says about the call and gives it back', async () => {
  const options = ['--request-id', 'r-1', '--task-id', 't-1', '--correlation-id', 'c-1', '--timeout-ms', '4000'];
  const { json } = ask(['tool', 'invoke', 'files.read', 'path=notes.md', ...options]);
  assert.equal(json['request_id'], 'r-1');
  assert.deepEqual(json['context'], { task_id: 't-1', correlation_id: 'c-1' });
  assert.match(String(json['call_id']), /^[0-9a-f-]{36}$/);
  assert.match(String(json['trace_id']), /^[0-9a-f]{32}$/);
  assert.equal(typeof json['duration_ms'], 'number');
  assert.ok(!('denied' in json) && !('error' in json), 'what does not apply is absent');
  const records = await daemon.records();
  assert.ok(records.some(({ payload }) => payload['request_id'] === 'r-1' && payload['task_id'] === 't-1'));
});

test('a dedupe key makes the second call return the first result', () => {
  const write = (content: string) =>
    ask(['tool', 'invoke', 'files.write', 'path=once.txt', `content=${content}`, '--dedupe-key', 'k']);
  const first = write('one').json;
  assert.deepEqual(write('one').json.output, first.output);
  const other = write('two');
  assert.equal(other.status, 3);
  assert.equal((other.json['denied'] as { rationale_code: string }).rationale_code, 'DEDUPE_CONFLICT');
});

test('the life of a session: created with its token, used by its agent, listed, ended', () => {
  const created = ask(['session', 'create', 'scout', '--tools', 'files.read', '--max-calls', '5']).json;
  const token = String(created['token']);
  const id = String(created['sessionId']);
  const asAgent = { SALLYPORT_TOKEN: token };
  assert.equal(ask(['tool', 'invoke', 'files.read', 'path=notes.md'], asAgent).status, 0);
  assert.deepEqual(
    (ask(['tool', 'list'], asAgent).json['tools'] as { name: string }[]).map(({ name }) => name),
    ['files.read'],
  );
  const tokenFile = join(daemon.place.folder, 'token');
  writeFileSync(tokenFile, `${token}\n`);
  assert.equal(
    ask(['--token-file', tokenFile, 'tool', 'invoke', 'files.list', 'path=.']).status,
    3,
    'outside its lease',
  );

  assert.match(say('session', 'list'), new RegExp(`${id.slice(0, 13)} +scout +active +\\d of 5 `));
  assert.match(say('session', 'end', id), /have ended/);
  assert.equal(ask(['tool', 'invoke', 'files.read', 'path=notes.md'], asAgent).status, 3);
  assert.ok(!say('session', 'list').includes(id));
  const all = ask(['session', 'list', '--all']).json['sessions'] as { sessionId: string; status: string }[];
  assert.equal(all.find(({ sessionId }) => sessionId === id)?.status, 'ended');
});

test('a person sees the token once, with the address and how to use it', () => {
  const text = say('session', 'create', 'helper', '--expires-in-minutes', '10');
  const token = /^ {2}(sp_\S+)$/m.exec(text)?.[1] ?? '';
  assert.match(text, new RegExp(`address +${daemon.address}`));
  assert.match(text, /expires +\d{4}-\d\d-\d\d /);
  assert.match(text, new RegExp(`SALLYPORT_TOKEN=${token} .*sallyport tool list`));
});

test('audit show has all that is on record about a call; of a denial also what the caller was told to do', () => {
  const denied = ask(['tool', 'invoke', 'files.read', 'path=/etc/passwd']).json;
  const { remedy } = denied['denied'] as { remedy: string };
  assert.notEqual(remedy, '');
  const { records } = ask(['audit', 'show', String(denied['call_id'])]).json as unknown as InJson<ReadAuditResponse>;
  assert.deepEqual(
    records.map(({ payloadJson }) => (JSON.parse(payloadJson) as { refusal: { remedy: string } }).refusal.remedy),
    [remedy],
  );
  const shown = say('audit', 'show', String(records[0]?.index));
  assert.match(shown, /^\d+ {2}refusal, denied\n/);
  assert.match(shown, /tool +files\.read\n.*code +NO_RULE_ALLOWS\n.*remedy +\S/s);
  const ran = ask(['tool', 'invoke', 'files.read', 'path=notes.md']).json;
  const both = ask(['audit', 'show', String(ran['call_id'])]).json['records'] as { kind: string }[];
  assert.deepEqual(
    both.map(({ kind }) => kind),
    ['intent', 'outcome'],
  );
  const byStart = ask(['audit', 'show', String(ran['call_id']).slice(0, 23)]).json['records'] as { kind: string }[];
  assert.deepEqual(byStart, both);
  assert.equal(ask(['audit', 'show', 'ffffffff-ffff']).status, 1);
  assert.equal(ask(['audit', 'show', '999999']).status, 1);
  assert.equal(ask(['audit', 'show', 'nonsense']).status, 1);
});

test('audit tail shows one line a record, and the last ones first asked for', () => {
  say('tool', 'invoke', 'files.read', 'path=notes.md');
  const lines = say('audit', 'tail', '-n', '2').trimEnd().split('\n');
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', / begins +files\.read +operator$/);
  assert.match(lines[1] ?? '', / ok +files\.read +operator +.* {2}\d+ ms$/);
  const { json } = ask(['audit', 'tail', '-n', '3']);
  const { records, logSize } = json as unknown as InJson<ReadAuditResponse>;
  assert.match(records.at(-1)?.payloadJson ?? '', /"tool":"files\.read"/);
  assert.equal(Number(records.at(-1)?.index), Number(logSize) - 1);
  assert.equal(say('audit', 'tail', '-n', '0'), '');
});

test('a tool that returns terminal commands reaches the terminal as text, and scripts as it is', () => {
  const hostile = 'a\u001b]0;owned\u0007b\u202ec';
  writeFileSync(join(daemon.place.workspace, 'hostile.txt'), hostile);
  const args = ['tool', 'invoke', 'files.read', 'path=hostile.txt'];
  assert.match(say(...args), /a\\e\]0;owned\\u0007b\\u202ec/);
  const { stdout } = runSallyport(daemon.place, [...args, '--json']);
  assert.ok(!/[\u001b\u0007\u202e]/.test(stdout));
  assert.equal((JSON.parse(stdout) as { output: { content: string } }).output.content, hostile);
});
