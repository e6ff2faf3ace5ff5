import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { deriveUseId } from '@sallyport/gateway';
import { readTranscripts } from './read-transcripts.ts';

const home = mkdtempSync(join(tmpdir(), 'sallyport-transcripts-'));
after(() => rmSync(home, { recursive: true, force: true }));

function put(file: string, ...lines: readonly (object | string)[]): void {
  const path = join(home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
}

const at = '2026-11-18T09:00:00.000Z';
const read = (client: string, sinceMs = 0) => readTranscripts(client, home, {}, sinceMs);
const brief = (client: string) => read(client).map(({ useId, tool, what, blocked }) => [useId, tool, what, blocked]);

test('Claude Code: each use once, with what it was about and whether the hook blocked it', () => {
  const use = (id: string, name: string, input: object) => ({
    ...{ type: 'assistant', sessionId: 's', version: '2.1.326', timestamp: at },
    message: {
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id, name, input },
      ],
    },
  });
  const result = { tool_use_id: 'b', type: 'tool_result', content: 'Sallyport blocks this: the gate does not run.' };
  put(
    '.claude/projects/-srv-app/s.jsonl',
    use('a', 'Bash', { command: 'ls' }),
    use('a', 'Bash', { command: 'ls' }),
    use('b', 'Read', { file_path: '/x' }),
    { type: 'user', message: { content: [result] } },
    use('c', 'mcp__sallyport__files_read', {}),
  );
  assert.deepEqual(brief('claude-code'), [
    ['a', 'Bash', 'ls', false],
    ['b', 'Read', '/x', true],
  ]);
  assert.equal(read('claude-code')[0]?.version, '2.1.326');
  assert.deepEqual(read('claude-code', Date.parse(at) + 1), []);
});

test('Codex and Gemini CLI: as their sessions are kept', () => {
  const call = { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' };
  put(
    '.codex/sessions/2026/11/18/rollout-x.jsonl',
    { timestamp: at, type: 'session_meta', payload: { id: 's', cli_version: '0.169.0' } },
    { timestamp: at, type: 'response_item', payload: call },
    {
      timestamp: at,
      type: 'response_item',
      payload: { type: 'custom_tool_call', name: 'apply_patch', input: '*** x', call_id: 'c2' },
    },
    { timestamp: at, type: 'response_item', payload: { ...call, name: 'update_plan', call_id: 'c3' } },
  );
  assert.deepEqual(brief('codex'), [
    ['c1', 'exec_command', 'ls', false],
    ['c2', 'apply_patch', '*** x', false],
  ]);
  const args = { command: 'ls', description: 'd' };
  put(
    '.gemini/tmp/w/chats/session-x.jsonl',
    { sessionId: 's', projectHash: 'x' },
    { type: 'gemini', timestamp: at, toolCalls: [{ id: 'x', name: 'run_shell_command', args, timestamp: at }] },
  );
  assert.deepEqual(brief('gemini'), [[deriveUseId('s', 'run_shell_command', args), 'run_shell_command', 'ls', false]]);
});

test('opencode: from its database', () => {
  const file = join(home, '.local/share/opencode/opencode.db');
  mkdirSync(dirname(file), { recursive: true });
  using database = new DatabaseSync(file);
  database.exec(
    'CREATE TABLE part (session_id TEXT, time_created INTEGER, data TEXT); CREATE TABLE session (id TEXT, version TEXT)',
  );
  const insert = database.prepare('INSERT INTO part VALUES (?, ?, ?)');
  const part = {
    type: 'tool',
    tool: 'bash',
    callID: 't1',
    state: { input: { command: 'ls' }, error: 'Sallyport blocks this: x' },
  };
  insert.run('s', Date.parse(at), JSON.stringify(part));
  insert.run('s', Date.parse(at), 'not json');
  assert.deepEqual(brief('opencode'), [['t1', 'bash', 'ls', true]]);
});

test('whatever is in transcripts, they are read within bounds and never followed elsewhere', () => {
  put(
    '.claude/projects/bad/x.jsonl',
    'x'.repeat(2_000_000),
    '[]',
    'null',
    '{"message":7}',
    '{"message":{"content":[7,{"type":"tool_use"}]}}',
  );
  writeFileSync(
    join(home, 'secret'),
    '{"message":{"content":[{"type":"tool_use","id":"z","name":"Bash"}]},"timestamp":"2026-01-01"}',
  );
  symlinkSync(join(home, 'secret'), join(home, '.claude/projects/bad/link.jsonl'));
  symlinkSync('/', join(home, '.claude/projects/root'));
  assert.deepEqual(
    read('claude-code').map(({ useId }) => useId),
    ['a', 'b'],
  );
  writeFileSync(join(home, '.local/share/opencode/opencode.db'), 'not a database');
  assert.deepEqual(read('opencode'), []);
  assert.deepEqual(read('zed'), []);
});
