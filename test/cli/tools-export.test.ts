import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newPlace());
});
after(() => daemon.remove());

interface Created {
  readonly sessionId: string;
  readonly token: string;
}

async function newSession(agent: string, scope: object = {}): Promise<Created> {
  const { success } = await daemon.call('sessions.create', { agent, ...scope });
  return JSON.parse(success?.outputJson ?? assert.fail('no session')) as Created;
}

const run = (token: string | undefined, ...args: string[]) =>
  runSallyport(daemon.place, ['tool', 'export', ...args], token === undefined ? {} : { SALLYPORT_TOKEN: token });

test('the tools of a session are printed as OpenAI, Anthropic and MCP clients take them', async () => {
  const { token, sessionId } = await newSession('ada', { tools: ['files.read', 'files.delete', 'shell.run'] });
  const openai = JSON.parse(run(token, '--format', 'openai').stdout) as { function: { name: string } }[];
  // No rule allows commands, so the model is not told of them.
  assert.deepEqual(openai.map((tool) => tool.function.name).toSorted(), ['files_delete', 'files_read']);
  const anthropic = JSON.parse(run(token, '--format', 'anthropic', '--json').stdout) as {
    tools: { name: string; input_schema: { type: string } }[];
    names: Record<string, string>;
  };
  assert.deepEqual(anthropic.names, { files_delete: 'files.delete', files_read: 'files.read' });
  assert.ok(anthropic.tools.every(({ input_schema: schema }) => schema.type === 'object'));
  const mcp = run(undefined, '--format', 'mcp', '--session', sessionId.slice(0, 18));
  assert.equal(mcp.status, 0, mcp.stderr);
  const hints = new Map(
    (JSON.parse(mcp.stdout) as unknown[]).map((tool) => {
      const { name, annotations } = ToolSchema.parse(tool);
      return [name, annotations];
    }),
  );
  const closed = { idempotentHint: true, openWorldHint: false };
  assert.deepEqual(hints.get('files_read'), { readOnlyHint: true, destructiveHint: false, ...closed });
  const destroying = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
  assert.deepEqual(hints.get('files_delete'), destroying);
});

test('only operators ask about the session of somebody else, and they have to say which', async () => {
  const [ada, bob] = [await newSession('ada-2'), await newSession('bob-2')];
  const foreign = run(ada.token, '--format', 'openai', '--session', bob.sessionId);
  assert.notEqual(foreign.status, 0);
  assert.match(foreign.stderr, /own tools only/);
  assert.match(run(undefined, '--format', 'openai').stderr, /give the id of a session/);
  assert.match(run(undefined, '--format', 'openai', '--session', 'nobody').stderr, /no active session/);
  assert.equal(run(ada.token, '--format', 'cohere').status, 1);
  await daemon.call('sessions.end', { session_id: bob.sessionId });
  assert.match(run(undefined, '--format', 'mcp', '--session', bob.sessionId).stderr, /no active session/);
});
