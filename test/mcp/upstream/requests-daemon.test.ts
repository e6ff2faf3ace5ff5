import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { newPlace, TestDaemon } from '../../harness/daemon.ts';
import { ownRules } from '../../harness/own-rules.ts';
import { runSallyport } from '../../harness/run-sallyport.ts';
import { serverScript } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const shipped = readFileSync(join(import.meta.dirname, '../../../config/governance/tools.yaml'), 'utf8');
const rules = shipped.replace(
  /^rules:\n/m,
  `rules:
  - { id: demo, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
  - id: demo-asks
    effect: allow
    tools: [upstream.elicitation, upstream.sampling]
    arguments: [{ pointer: /upstream, equals: demo }]
`,
);
const form = {
  message: 'Which colour?',
  requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
};

test('a rule lets a server behind the gate ask the person in front of it, and every request is on record', async (context) => {
  requirement('WIRE-6');
  const place = newPlace();
  const script = join(place.folder, 'server.mjs');
  cpSync(serverScript, script);
  const daemon = await TestDaemon.start(ownRules(place, { 'tools.yaml': rules }));
  context.after(() => daemon.remove());
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = runSallyport(place, args);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  };
  run(
    'upstream',
    'add',
    'demo',
    '--yes',
    '--may-ask',
    'elicitation',
    'sampling',
    '--read',
    script,
    '--',
    'node',
    script,
    'asking',
  );
  run('upstream', 'test', 'demo');
  run('upstream', 'accept', 'demo', '--yes');
  const token = await daemon.newAgent('tester');
  const asked: string[] = [];
  const call = async (
    method: string,
    params: object,
    { capabilities, era = 'legacy' }: { readonly capabilities: ClientCapabilities; readonly era?: 'legacy' | 'auto' },
  ): Promise<Answer> => {
    const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: era } });
    if (capabilities.elicitation !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
        asked.push(message);
        return { action: 'accept', content: { colour: 'green' } };
      });
    }
    if (capabilities.sampling !== undefined) {
      client.setRequestHandler('sampling/createMessage', async () => {
        return { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };
      });
    }
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', daemon.address), { requestInit }));
    try {
      const { content } = await client.callTool({ name: 'demo_request', arguments: { method, params } });
      const [said] = content;
      assert.ok(said?.type === 'text');
      return JSON.parse(said.text) as Answer;
    } finally {
      await client.close();
    }
  };
  const elicitation = { form: {} };
  const answered = await call('elicitation/create', form, { capabilities: { elicitation } });
  assert.deepEqual(answered.result, { action: 'accept', content: { colour: 'green' } }, JSON.stringify(answered));
  assert.deepEqual(asked, ['The server "demo" behind Sallyport asks: Which colour?']);
  const sampling = { messages: [], maxTokens: 3 };
  const sampled = await call('sampling/createMessage', sampling, { capabilities: { sampling: {} } });
  assert.match(JSON.stringify(sampled), /"text":"hi"/);
  const cannot = await call('sampling/createMessage', sampling, { capabilities: { elicitation } });
  assert.match(cannot.error?.message ?? '', /the client that made the call cannot answer it/);
  const newer = await call('elicitation/create', form, { capabilities: { elicitation }, era: 'auto' });
  assert.deepEqual(newer.result, { action: 'accept', content: { colour: 'green' } }, JSON.stringify(newer));
  assert.equal(asked.length, 2, 'a client of the newer protocol is asked between two requests');
  const sampledBetween = await call('sampling/createMessage', sampling, {
    capabilities: { sampling: {} },
    era: 'auto',
  });
  assert.match(JSON.stringify(sampledBetween), /"text":"hi"/);
  const cannotBetween = await call('sampling/createMessage', sampling, { capabilities: { elicitation }, era: 'auto' });
  assert.match(cannotBetween.error?.message ?? '', /the client that made the call cannot answer it/);
  const events = (await daemon.records())
    .map(({ payload }) => payload)
    .filter(({ event }) => String(event).startsWith('upstream_request'));
  assert.deepEqual(
    events.map(({ event, upstream, method, rule }) => [event, upstream, method, rule]),
    [
      ['upstream_request_allowed', 'demo', 'elicitation/create', 'demo-asks'],
      ['upstream_request_allowed', 'demo', 'sampling/createMessage', 'demo-asks'],
      ['upstream_request_refused', 'demo', 'sampling/createMessage', 'demo-asks'],
      ['upstream_request_allowed', 'demo', 'elicitation/create', 'demo-asks'],
      ['upstream_request_allowed', 'demo', 'sampling/createMessage', 'demo-asks'],
      ['upstream_request_refused', 'demo', 'sampling/createMessage', 'demo-asks'],
    ],
  );
  assert.ok(events.every(({ call_id: id }) => typeof id === 'string'));
  assert.match(run('policy', 'explain', 'upstream.elicitation', 'upstream=demo'), /demo-asks/);
  const direct = await daemon.call('upstream.elicitation', { upstream: 'demo' }, { token });
  assert.equal(direct.denied?.rationaleCode, 'UNKNOWN_TOOL');
});
