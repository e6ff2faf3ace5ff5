import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { DesktopSession, explainMissingDesktop } from '../desktop/desktop-session.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { openTypedClient } from '../protocol/typed-client.ts';
import { gitOperations } from '../protocol/request-arbitraries.ts';

/** A tool as one of the published documents names it. */
interface NamedTool {
  readonly name: string;
  /** Absent: those of the first example of its definition. */
  readonly args?: JsonObject;
  /** How a call may end: `success`, `asks`, or a code. Absent: in success. */
  readonly ends?: readonly string[];
}

const page = 'http://SITE/page';
const desktop = explainMissingDesktop() === false ? ['success'] : ['EXECUTION_ERROR'];
/** A person decides, at whichever door it is asked for. */
const asks = ['asks', 'APPROVAL_REQUIRED'];

/** Each with `{ tool_name, arguments }`, answered by `{ tool_name, success, output, error }`. */
const toolCalls: readonly NamedTool[] = [
  { name: 'read_file', args: { path: 'notes.md', max_size_mb: 10 } },
  { name: 'list_directory', args: { path: '.' } },
  { name: 'write_file', args: { path: 'new.md', content: 'new' } },
  { name: 'delete_file', args: { path: 'old.md' }, ends: asks },
  { name: 'system_metrics_snapshot' },
  { name: 'check_process_health' },
  { name: 'read_system_logs', ends: ['success', 'NOT_FOUND', 'EXECUTION_ERROR'] },
  // The rules of this test open no machine but this one.
  { name: 'web_search', args: { query: 'milk' }, ends: ['NO_RULE_ALLOWS'] },
  { name: 'fetch_url', args: { url: page } },
  // The project has none.
  { name: 'run_linter', args: { path: '.' }, ends: ['INVALID_ARGUMENTS'] },
  { name: 'run_tests', args: { path: '.' } },
  { name: 'git_status', args: {} },
];

/** Each with `{ id, agentId, toolName, arguments, requestedAt }`, answered by `{ requestId, status, data, … }`. */
const executionRequests: readonly NamedTool[] = [
  { name: 'read_file', args: { path: 'notes.md' } },
  { name: 'list_directory', args: { path: '.' } },
  { name: 'search_code', args: { query: 'milk' } },
  { name: 'get_definition', args: { symbol: 'greet' } },
  { name: 'get_documentation', args: { symbol: 'greet' } },
  { name: 'http_get', args: { url: page } },
  { name: 'database_read', args: { database: 'shop', sql: 'SELECT name FROM goods' } },
  { name: 'log_search', args: { query: 'started' } },
  { name: 'write_file', args: { path: 'more.md', content: 'more' } },
  { name: 'delete_file', args: { path: 'old.md' }, ends: asks },
  { name: 'run_command', args: { argv: ['echo', 'hello'] } },
  { name: 'http_post', args: { url: page } },
  { name: 'http_put', args: { url: page } },
  { name: 'http_delete', args: { url: page } },
  {
    name: 'database_write',
    args: { database: 'shop', sql: "INSERT INTO goods VALUES ('tea')" },
    ends: ['success', ...asks],
  },
];

/** The same, by a director: here the first operator. */
const administration: readonly NamedTool[] = [
  { name: 'system_config_change', args: { setting: 'organisation_name', value: 'Acme' }, ends: asks },
  { name: 'grant_permission', args: { level: 'organisation', tools: 'files.read' }, ends: asks },
  { name: 'create_agent', args: { name: 'ada' }, ends: asks },
  { name: 'delete_agent', args: { name: 'ada' }, ends: asks },
  { name: 'modify_system_prompt', args: { name: 'ada', system_prompt: 'Be kind.' }, ends: asks },
];

/** Each with `{ type: 'tool.execute', call_id, tool, args }`, answered by `tool.results`. */
const messages: readonly NamedTool[] = [
  { name: 'clipboard.write', args: { text: 'copied' }, ends: desktop },
  { name: 'clipboard.read', args: {}, ends: desktop },
  { name: 'notify.send', args: { title: 'Done' }, ends: desktop },
  { name: 'apps.open', args: { app: 'no-such-application' }, ends: ['NOT_FOUND'] },
  { name: 'files.list_dir', args: { path: '.' } },
  { name: 'files.search', args: { name: '*.md' } },
  { name: 'files.read_text', args: { path: 'notes.md' } },
  { name: 'files.write_text', args: { path: 'third.md', content: 'third' } },
  { name: 'files.ensure_dir', args: { path: 'archive' } },
  { name: 'files.move_glob', args: { from: '.', patterns: ['third.md'], to: 'archive' } },
  { name: 'browser.open_url', args: { url: page } },
  { name: 'shell.run', args: { argv: ['echo', 'hello'] } },
];

const hash = Buffer.alloc(32, 1);
/** Variants of the typed request, with the ways in which each may end. */
const typed: readonly (readonly [variant: string, fields: JsonObject | object, ends: readonly string[]])[] = [
  ['file_read', { path: 'notes.md' }, ['success']],
  ['file_write', { path: 'typed.md', content: Buffer.from('typed') }, ['success']],
  ['file_edit', { path: 'notes.md', old_content: 'milk', new_content: 'bread' }, ['success']],
  ['shell_exec', { command: 'echo hello' }, ['success']],
  ['inference', { provider: 'none', model: 'none', prompt_hash: hash, max_tokens: 1 }, ['UPSTREAM_FAILED']],
  ['artifact_publish', { artifact_id: 'a', content_hash: hash, category: 'test' }, ['NOT_FOUND']],
  ['git_op STATUS', { operation: 'STATUS' }, ['success']],
];

test('every tool of the documents is called by its name there, in the form of that document', async (t) => {
  const site = createServer((_request, response) => response.end('<title>Page</title>text'));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.after(() => {
    site.closeAllConnections();
    site.close();
  });
  const authority = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const session = explainMissingDesktop() === false ? await DesktopSession.open(t) : undefined;
  const place = ownRules(newPlace(), { 'tools.yaml': rulesFor(authority) });
  const database = '{ name: shop, kind: sqlite, file: shop.db, access: write }';
  writeFileSync(join(place.home, 'databases.yaml'), `databases:\n  - ${database}\n`, { mode: 0o600 });
  writeProject(place.workspace);
  const daemon = await TestDaemon.start(place, { ...session?.environment });
  t.after(() => daemon.remove());
  const token = await daemon.newAgent('coder');
  const missing: string[] = [];

  const call = async (tool: NamedTool, send: (args: JsonObject) => Promise<string>): Promise<void> => {
    const example = await exampleOf(tool.name, daemon);
    if (example === undefined) {
      missing.push(tool.name);
      return;
    }
    const { args = example } = tool;
    await t.test(tool.name, async () => {
      const ended = await send(JSON.parse(JSON.stringify(args).replaceAll('SITE', authority)) as JsonObject);
      const { ends = ['success'] } = tool;
      assert.ok(ends.includes(ended), `${tool.name} ended in ${ended}, not in ${ends.join(' or ')}`);
    });
  };

  for (const tool of toolCalls) {
    await call(tool, async (args) => {
      const { json } = await daemon.post('v1/calls', { tool_name: tool.name, arguments: args }, token);
      const { success, metadata } = json as { success: boolean; metadata: { code?: string } };
      return success ? 'success' : String(metadata.code);
    });
  }
  for (const [tools, by] of [
    [executionRequests, token],
    [administration, undefined],
  ] as const) {
    for (const tool of tools) {
      await call(tool, async (args) => {
        const agentId = by === undefined ? {} : { agentId: 'coder' };
        const request = { id: tool.name, ...agentId, toolName: tool.name, arguments: args };
        const body = { ...request, requestedAt: new Date().toISOString() };
        const { json } = await daemon.post('v1/calls', body, by);
        const { status, metadata } = json as { status: string; metadata: { code?: string } };
        if (status === 'success') return status;
        return status === 'pending_approval' ? 'asks' : String(metadata.code);
      });
    }
  }
  for (const tool of messages) {
    await call(tool, async (args) => {
      const body = { type: 'tool.execute', call_id: tool.name, tool: tool.name, args };
      const { json } = await daemon.post('v1/messages', body, token);
      const [result] = (json as { results: { status: string; error?: { code: string } }[] }).results;
      return result?.status === 'ok' ? 'success' : String(result?.error?.code);
    });
  }
  await callTyped();
  assert.deepEqual(missing, [], 'no tool has these names');

  async function callTyped(): Promise<void> {
    const client = openTypedClient(Number(new URL(daemon.address).port));
    try {
      const gitCalls = gitOperations.map((operation) => ['git_op', { operation }, undefined] as const);
      for (const [variant, fields, ends] of [...typed, ...gitCalls]) {
        await t.test(`${variant} ${JSON.stringify(fields).slice(0, 40)}`, async () => {
          const [field = ''] = variant.split(' ');
          const request = { request_id: '1', session_token: token, [field]: fields };
          const { result, denied, error } = await client.execute(request);
          const ended = result === 'success' ? result : (denied?.rationale_code ?? error?.error_code ?? '');
          // A git operation without arguments may fail; it must not be unknown to the gate.
          if (ends === undefined) assert.ok(!['UNKNOWN_TOOL', 'INTERNAL', 'MALFORMED_CALL'].includes(ended), ended);
          else assert.ok(ends.includes(ended), ended);
        });
      }
    } finally {
      client.close();
    }
  }
});

const here =
  'files.* git.* shell.* code.* logs.* system.* clipboard.* notify.* apps.* database.* artifacts.* inference.*';

/** All tools; none asks at the typed door, which would wait for the answer. Of the network, nothing but this test's site. */
function rulesFor(authority: string): string {
  const grants = `{ read: ['$WORKSPACE'], write: ['$WORKSPACE'], hosts: ['${authority}'] }`;
  const give = `effect: allow, approval: waived, grants: ${grants}`;
  return `version: 1
rules:
  - { id: here, tools: [${here
    .split(' ')
    .map((name) => `'${name}'`)
    .join(', ')}], ${give} }
  - { id: no-reset, tools: [git.reset], effect: deny }
  - { id: site, tools: ['web.*', 'http.*', browser.open_url], hosts: ['${authority}'], ${give} }
`;
}

/** A repository with a note, something to delete, a database, and a test that passes. */
function writeProject(workspace: string): void {
  // Programs of a daemon that root started belong to somebody else.
  chmodSync(workspace, 0o777);
  writeFileSync(join(workspace, 'notes.md'), 'remember the milk');
  writeFileSync(join(workspace, 'old.md'), 'old');
  writeFileSync(join(workspace, 'greet.js'), '/** Greets. */\nexport function greet() {}\n');
  writeFileSync(join(workspace, 'app.log'), 'started\n');
  writeFileSync(join(workspace, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }));
  mkdirSync(join(workspace, 'test'));
  writeFileSync(join(workspace, 'test', 'a.test.js'), "import { test } from 'node:test';\ntest('one', () => {});\n");
  using database = new DatabaseSync(join(workspace, 'shop.db'));
  database.exec("CREATE TABLE goods (name TEXT); INSERT INTO goods VALUES ('milk')");
  execFileSync('git', ['init', '--quiet', workspace], { env: { PATH: '/usr/bin', HOME: workspace } });
  chmodSync(join(workspace, 'shop.db'), 0o666);
}

/** Undefined: no tool has this name. */
async function exampleOf(name: string, daemon: TestDaemon): Promise<JsonObject | undefined> {
  const { status, json } = await daemon.post('sallyport.v1.ToolService/GetToolSchema', { name });
  if (status !== 200) return undefined;
  const { tool } = json as { tool: { examplesJson?: readonly string[] } };
  return JSON.parse(tool.examplesJson?.[0] ?? '{}') as JsonObject;
}
