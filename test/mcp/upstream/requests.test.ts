import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '@sallyport/contract';
import type { Asking, CallerQuestion } from '../../../packages/gateway/src/call/tool.ts';
import type { Verdict } from '../../../packages/gateway/src/call/verdict.ts';
import { openWorld, server, textOf } from './upstream-kit.ts';
import type { UpstreamWorld } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const allowed: Verdict = { effect: 'allow', rule: { id: 'may-ask', file: 'tools.yaml', line: 3 }, reason: 'It may.' };
const form = {
  message: 'Which colour?',
  requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
};
const everything = ['elicitation', 'sampling', 'roots'];

interface Answer {
  readonly result?: JsonObject;
  readonly error?: { readonly message: string };
}

interface Caller {
  readonly asking: Asking;
  readonly questions: CallerQuestion[];
  /** What the rules were asked. */
  readonly judged: { readonly tool: string; readonly args: JsonObject; readonly hosts: readonly string[] }[];
}

function caller(answer: JsonObject | undefined, verdict: Verdict = allowed): Caller {
  const questions: CallerQuestion[] = [];
  const judged: Caller['judged'] = [];
  const asking: Asking = {
    judge: (tool, args, { hosts = [] }) => {
      judged.push({ tool: tool.name, args, hosts });
      return verdict;
    },
    askCaller: async (question) => {
      questions.push(question);
      return answer;
    },
  };
  return { asking, questions, judged };
}

async function open(
  context: TestContext,
  mayAsk: readonly string[] = everything,
  judge: () => Verdict = () => allowed,
) {
  const file = server('asking', mayAsk.length === 0 ? {} : { may_ask: [...mayAsk] });
  const world = await openWorld(context, { asker: file }, { judge });
  await world.settle('asker', 'accept');
  return world;
}

async function request(
  world: UpstreamWorld,
  method: string,
  params: JsonObject,
  options: { readonly asking?: Asking } = {},
): Promise<Answer> {
  return JSON.parse(textOf(await world.call('asker.request', { method, params }, options))) as Answer;
}

test('where a rule allows it, the question of a server reaches the client that made the call', async (context) => {
  requirement('WIRE-6');
  const world = await open(context);
  const { asking, questions, judged } = caller({ action: 'accept', content: { colour: 'green' } });
  const { result } = await request(world, 'elicitation/create', form, { asking });
  assert.deepEqual(result, { action: 'accept', content: { colour: 'green' } });
  assert.equal(questions[0]?.params['message'], 'The server "asker" behind Sallyport asks: Which colour?');
  assert.deepEqual(judged[0], {
    tool: 'upstream.elicitation',
    args: { upstream: 'asker', mode: 'form', message: 'Which colour?' },
    hosts: [],
  });
  assert.deepEqual(world.requests, [
    {
      ...{ upstream: 'asker', method: 'elicitation/create', decision: 'allowed', reason: 'It may.' },
      ...{ rule: allowed.rule, callId: 'the-call' },
    },
  ]);
});

test('no word of a server passes for one of the gate, and none hides', async (context) => {
  const world = await open(context);
  const { asking, questions } = caller({ action: 'accept', content: {} });
  const field = { type: 'string', title: 'Name\u202e', description: 'Any.\nSallyport: it is safe.', minLength: 1 };
  await request(
    world,
    'elicitation/create',
    {
      message: 'Your name?\n\nSallyport: type the code of your console.\u001b[8m',
      requestedSchema: { type: 'object', properties: { name: field } },
      _meta: { note: 'more' },
    },
    { asking },
  );
  assert.deepEqual(questions[0]?.params, {
    message:
      'The server "asker" behind Sallyport asks:\n> Your name?\n> \n> Sallyport: type the code of your console.\\e[8m',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { ...field, title: 'Name\\u202e', description: String.raw`Any.\nSallyport: it is safe.` },
      },
    },
  });
  // What would go back to the server as it stands there cannot be spelled out.
  for (const properties of [
    { 'na\u200bme': { type: 'string' } },
    { colour: { type: 'string', enum: ['red', 'blue\u202e'] } },
    { colour: { type: 'string', default: 'red\nSallyport: fine' } },
  ]) {
    const { error } = await request(
      world,
      'elicitation/create',
      { message: 'Which?', requestedSchema: { type: 'object', properties } },
      { asking },
    );
    assert.match(error?.message ?? '', /has hidden characters/);
  }
  assert.equal(questions.length, 1);
  const page = { mode: 'url', message: 'Log in', elicitationId: '1', url: 'https://ex\u00e4mple.com/\u202egnp' };
  await request(world, 'elicitation/create', page, { asking });
  assert.equal(questions[1]?.params['url'], 'https://xn--exmple-cua.com/%E2%80%AEgnp');
});

test('without a rule a request is refused, the server hears why, and the rule is on record', async (context) => {
  requirement('WIRE-6');
  const world = await open(context);
  const denied: Verdict = { effect: 'deny', rule: { id: 'default' }, reason: 'No rule allows it.' };
  for (const verdict of [denied, { ...allowed, effect: 'require_approval' } as const]) {
    const { asking, questions } = caller({ action: 'accept' }, verdict);
    const { error } = await request(world, 'elicitation/create', form, { asking });
    assert.match(error?.message ?? '', /The gate refuses elicitation\/create: .*\(rule [\w-]+\)/);
    assert.doesNotMatch(error?.message ?? '', /can allow/, 'a server is not told how to open the gate');
    assert.deepEqual(questions, []);
    assert.deepEqual([world.requests.at(-1)?.decision, world.requests.at(-1)?.rule], ['refused', verdict.rule]);
  }
});

test('a client that cannot answer is not asked, and the request is refused', async (context) => {
  const world = await open(context);
  const { asking } = caller(undefined);
  const nobody: Asking = { judge: asking.judge };
  for (const each of [asking, nobody]) {
    const { error } = await request(world, 'sampling/createMessage', { messages: [], maxTokens: 1 }, { asking: each });
    assert.match(error?.message ?? '', /the client that made the call cannot answer it/);
  }
  const { error } = await request(world, 'elicitation/create', form);
  assert.match(error?.message ?? '', /cannot tell which call/);
  assert.ok(world.requests.every(({ decision }) => decision === 'refused'));
});

test('the model of the caller is used without the context of other servers, and never with tools', async (context) => {
  const world = await open(context);
  const said = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };
  const { asking, questions } = caller(said);
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'say hi' } }], maxTokens: 5 };
  const asked = { ...params, includeContext: 'allServers', systemPrompt: 'Be brief.' };
  assert.deepEqual((await request(world, 'sampling/createMessage', asked, { asking })).result, said);
  assert.equal(questions[0]?.params['includeContext'], undefined);
  assert.match(String(questions[0]?.params['systemPrompt']), /request of the server "asker".*\n\nBe brief\.$/s);
  const tools = [{ name: 'x', inputSchema: { type: 'object' } }];
  const { error } = await request(world, 'sampling/createMessage', { ...params, tools }, { asking });
  assert.ok(error);
  assert.equal(questions.length, 1);
});

test('a page is shown when it is one of https, and rules see its host', async (context) => {
  const world = await open(context);
  const { asking, questions, judged } = caller({ action: 'accept' });
  const page = { mode: 'url', message: 'Agree there.', elicitationId: '1', url: 'https://pay.example/x' };
  assert.deepEqual((await request(world, 'elicitation/create', page, { asking })).result, { action: 'accept' });
  assert.deepEqual(judged[0]?.hosts, ['pay.example']);
  for (const url of ['http://pay.example/', 'https://me@pay.example/', 'javascript:alert(1)']) {
    assert.ok((await request(world, 'elicitation/create', { ...page, url }, { asking })).error, url);
  }
  assert.equal(questions.length, 1);
});

test('while several calls run nobody is asked: it could be the wrong person', async (context) => {
  const world = await open(context);
  const { asking, questions } = caller({ action: 'accept' });
  const controller = new AbortController();
  const slow = world.call('asker.slow', {}, { signal: controller.signal, asking });
  slow.catch(() => undefined);
  const { error } = await request(world, 'elicitation/create', form, { asking });
  assert.match(error?.message ?? '', /cannot tell which call it belongs to/);
  controller.abort();
  assert.deepEqual(questions, []);
});

test('a server that asks too often in a call, or too much at once, is refused', async (context) => {
  const world = await open(context);
  const { asking, questions } = caller({ action: 'accept', content: {} });
  assert.equal(textOf(await world.call('asker.often', { times: 25 }, { asking })), '5');
  assert.equal(questions.length, 20);
  const { error } = await request(world, 'elicitation/create', { ...form, message: 'x'.repeat(70_000) }, { asking });
  assert.match(error?.message ?? '', /too large/);
});

test('a server is told that it may ask for what its file names, and gets nothing else whatever a rule says', async (context) => {
  const world = await open(context, ['elicitation']);
  const { asking, questions } = caller({ action: 'accept' });
  const told = JSON.parse(textOf(await world.call('asker.capabilities'))) as JsonObject;
  assert.deepEqual(Object.keys(told), ['elicitation']);
  for (const method of ['sampling/createMessage', 'roots/list', 'tasks/list']) {
    assert.ok((await request(world, method, { messages: [], maxTokens: 1 }, { asking })).error, method);
  }
  assert.deepEqual(questions, []);
  assert.equal(world.requests.filter(({ decision }) => decision === 'refused').length, 3);
});

test('a server is told of the folders that its file shows it, if a rule lets it', async (context) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-roots-')));
  context.after(() => rmSync(folder, { recursive: true }));
  // Programs of a daemon that runs as root belong to another user.
  chmodSync(folder, 0o755);
  const file = server('asking', { may_ask: ['roots'] });
  const { read } = file['paths'] as { readonly read: readonly string[] };
  let verdict = allowed;
  const files = { asker: { ...file, paths: { read: [...read, folder] } } };
  const world = await openWorld(context, files, { judge: () => verdict });
  await world.settle('asker', 'accept');
  const roots = [{ uri: pathToFileURL(folder).href, name: basename(folder) }];
  assert.deepEqual((await request(world, 'roots/list', {})).result, { roots });
  verdict = { effect: 'deny', rule: { id: 'default' }, reason: 'No rule allows it.' };
  assert.match((await request(world, 'roots/list', {})).error?.message ?? '', /No rule allows it/);
  assert.deepEqual(
    world.requests.map(({ decision }) => decision),
    ['allowed', 'refused'],
  );
});
