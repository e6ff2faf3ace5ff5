import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { Progress, ToolContext, ToolUsage } from '../../call/tool.ts';
import { Redactor } from '../../redaction/redact.ts';
import { endsWith, TestWorkspace } from '../files/test-workspace.ts';
import type { InferenceProvider } from '../providers/provider-settings.ts';
import { parseWebAddress } from '../web/web-address.ts';
import { serve } from '../web/web.test-kit.ts';
import { inferenceCall } from './inference-call.ts';
import { anthropicServer, openAiServer } from './model-servers.test-kit.ts';
import type { ModelServerOptions, SeenRequest } from './model-servers.test-kit.ts';

type Kind = InferenceProvider['kind'];
const key = 'k3y-of-the-m0del-service';
const servers = { anthropic: anthropicServer, openai: openAiServer } as const;
const kinds: readonly Kind[] = ['anthropic', 'openai'];
const price = { inputPerMillion: 3, outputPerMillion: 15 };

class TestModel implements Disposable {
  readonly workspace = new TestWorkspace();
  readonly used: ToolUsage[] = [];
  readonly progress: Progress[] = [];
  readonly warnings: string[] = [];
  readonly tool;

  constructor(kind: Kind, port: number, secret = key) {
    const redactor = new Redactor([{ value: key, name: 'model-key' }]);
    const provider: InferenceProvider = {
      ...{ name: kind, kind, secret: 'model-key', address: parseWebAddress(`http://127.0.0.1:${port}`) },
      models: new Map([
        ['priced', price],
        ['unpriced', undefined],
      ]),
    };
    this.tool = inferenceCall({
      providers: { current: { search: [], inference: [provider] }, problem: undefined },
      readKey: () => secret,
      hide: redactor.hideHeld,
      readSession: async () => undefined,
      wayOut: {
        resolve: () => Promise.reject(new Error('a provider that is named by its address is not resolved')),
        dial: (_, to) => connect({ host: '127.0.0.1', port: to, allowHalfOpen: true }),
      },
    });
  }

  call(
    args: JsonObject,
    { session = {}, ...more }: Partial<Omit<ToolContext, 'session'>> & { session?: Partial<Session> } = {},
  ) {
    return this.workspace.call(this.tool, args, {
      countUsage: (usage) => void this.used.push(usage),
      reportProgress: (progress) => void this.progress.push(progress),
      warn: (message) => void this.warnings.push(message),
      session: { ...this.workspace.session, ...session },
      ...more,
    });
  }

  get spent(): { tokens: number; costMicros: number } {
    const sum = (name: 'tokens' | 'costMicros') => this.used.reduce((total, each) => total + (each[name] ?? 0), 0);
    return { tokens: sum('tokens'), costMicros: sum('costMicros') };
  }

  [Symbol.dispose](): void {
    this.workspace[Symbol.dispose]();
  }
}

function optionsOf(more: Partial<ModelServerOptions> = {}): ModelServerOptions & { seen: SeenRequest[] } {
  return { key, pieces: ['Hel', 'lo ', 'wörld'], inputTokens: 20, outputTokens: 5, seen: [], ...more };
}

test('both kinds of services are asked as they expect it, and their streams become one answer with its cost', async () => {
  for (const kind of kinds) {
    const options = optionsOf({ pieces: ['Hel', 'lo ', `wörld ${key}`] });
    await using server = await serve(servers[kind](options));
    using model = new TestModel(kind, server.port);
    const answer = await model.call({
      provider: kind,
      model: 'priced',
      prompt: 'Say hello',
      system_prompt: 'Be brief',
      max_tokens: 50,
      temperature_scaled: 70,
    });
    assert.deepEqual(answer, {
      provider: kind,
      model: 'priced',
      text: 'Hello wörld [redacted]',
      stop_reason: kind === 'anthropic' ? 'end_turn' : 'stop',
      input_tokens: 20,
      output_tokens: 5,
      cost_micros: 20 * 3 + 5 * 15,
      untrusted: true,
    });
    assert.deepEqual(model.spent, { tokens: 25, costMicros: 135 });
    const [{ path, body }] = options.seen as [SeenRequest];
    assert.deepEqual(
      [path, body['model'], body['max_tokens'], body['temperature']],
      [kind === 'anthropic' ? '/v1/messages' : '/chat/completions', 'priced', 50, 0.7],
    );
    const user = { role: 'user', content: 'Say hello' };
    assert.deepEqual(body['messages'], kind === 'anthropic' ? [user] : [{ role: 'system', content: 'Be brief' }, user]);
    assert.equal(body['system'], kind === 'anthropic' ? 'Be brief' : undefined);
  }
});

test('a prompt is read from the content store by its hash', async () => {
  const options = optionsOf();
  await using server = await serve(servers.anthropic(options));
  using model = new TestModel('anthropic', server.port);
  const keep = async (text: string) =>
    (
      await model.workspace.content.keep(
        (async function* () {
          yield Buffer.from(text);
        })(),
      )
    ).hash;
  const [prompt, system] = [await keep('stored question'), await keep('stored rules')];
  await model.call({ provider: 'anthropic', model: 'priced', prompt_hash: prompt, system_prompt_hash: system });
  assert.deepEqual(
    [options.seen[0]?.body['messages'], options.seen[0]?.body['system']],
    [[{ role: 'user', content: 'stored question' }], 'stored rules'],
  );
  const ask = (args: JsonObject) => model.call({ provider: 'anthropic', model: 'priced', ...args });
  await assert.rejects(ask({ prompt_hash: 'a'.repeat(64) }), endsWith('NOT_FOUND'));
  await assert.rejects(ask({}), endsWith('INVALID_ARGUMENTS', /neither/));
  await assert.rejects(ask({ prompt: 'x', prompt_hash: prompt }), endsWith('INVALID_ARGUMENTS', /both/));
  const bytes = await model.workspace.content.keep(
    (async function* () {
      yield Buffer.from([255, 254]);
    })(),
  );
  await assert.rejects(ask({ prompt_hash: bytes.hash }), endsWith('NOT_TEXT'));
  assert.equal(options.seen.length, 1);
});

test('what has come so far is told while the model speaks', async () => {
  await using server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (text: string) =>
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\r\n\r\n`);
    const tell = async (): Promise<void> => {
      for (const text of ['one ', 'two ', 'three']) {
        say(text);
        await sleep(250);
      }
      response.end('data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: [DONE]\n\n');
    };
    void tell();
  });
  using model = new TestModel('openai', server.port);
  const { text } = await model.call({ provider: 'openai', model: 'priced', prompt: 'count' });
  assert.equal(text, 'one two three');
  assert.equal(model.progress.map((each) => (each.kind === 'step' ? each.message : '')).join(''), 'one two three');
  assert.ok(model.progress.length > 1);
});

const spent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };

test('a call that could use more than is left of a budget does not leave the gate', async () => {
  const options = optionsOf();
  await using server = await serve(servers.openai(options));
  using model = new TestModel('openai', server.port);
  const ask = (session: Partial<Session>, more: JsonObject = {}) =>
    model.call({ provider: 'openai', model: 'priced', prompt: 'x', max_tokens: 100, ...more }, { session });
  const { lease } = model.workspace.session;
  await assert.rejects(ask({ budget: { costMicros: 1000 } }), endsWith('BUDGET_EXCEEDED', /budget of the session/));
  await assert.rejects(
    ask({ budget: { tokens: 200 }, spent: { ...spent, tokens: 100 } }),
    endsWith('BUDGET_EXCEEDED', /100 tokens are left/),
  );
  await assert.rejects(
    ask({ lease: { ...lease, budget: { costMicros: 10 } } }),
    endsWith('BUDGET_EXCEEDED', /budget of the lease/),
  );
  await assert.rejects(ask({ budget: { costMicros: 1e9 } }, { model: 'unpriced' }), endsWith('LIMIT_UNENFORCEABLE'));
  assert.deepEqual([options.seen.length, model.spent], [0, { tokens: 0, costMicros: 0 }]);
  assert.equal((await ask({ budget: { costMicros: 1e6, tokens: 1000 } }))['text'], 'Hello wörld');
  assert.ok(!('cost_micros' in (await ask({}, { model: 'unpriced' }))));
});

test('nobody is asked about a call that the budget cannot pay for', async () => {
  using model = new TestModel('openai', 9);
  const { session } = model.workspace;
  const args = { provider: 'openai', prompt: 'x', max_tokens: 1000 };
  const preview = (budget: object, name = 'priced') =>
    model.workspace.preview(model.tool, { ...args, model: name }, { session: { ...session, budget } });
  await assert.rejects(preview({ costMicros: 10 }), endsWith('BUDGET_EXCEEDED'));
  await assert.rejects(preview({ tokens: 10 }), endsWith('BUDGET_EXCEEDED'));
  await assert.rejects(preview({ costMicros: 10 }, 'unpriced'), endsWith('LIMIT_UNENFORCEABLE'));
  assert.match((await preview({ costMicros: 1_000_000 })).summary, /^Send 1 byte/);
});

test('calls at the same time do not spend the same money twice', async () => {
  const options = optionsOf();
  await using server = await serve(servers.openai(options));
  using model = new TestModel('openai', server.port);
  // Enough for one, and not for two.
  const session = { budget: { tokens: 250 } };
  const calls = Array.from({ length: 5 }, () =>
    model.call({ provider: 'openai', model: 'priced', prompt: 'x', max_tokens: 100 }, { session }),
  );
  const ends = await Promise.allSettled(calls);
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(options.seen.length, 1);
  // What was held is given back.
  await model.call({ provider: 'openai', model: 'priced', prompt: 'x', max_tokens: 100 }, { session });
});

test('an answer that breaks off, or does not say what it used, is charged with the most it can be', async () => {
  for (const kind of kinds) {
    for (const [more, code] of [
      [{ breaksOff: true }, 'UPSTREAM_UNAVAILABLE'],
      [{ countsNothing: true }, undefined],
    ] as const) {
      const options = optionsOf(more);
      await using server = await serve(servers[kind](options));
      using model = new TestModel(kind, server.port);
      const call = model.call({ provider: kind, model: 'priced', prompt: 'x', max_tokens: 100 });
      if (code === undefined) await call;
      else await assert.rejects(call, endsWith(code, /broke off|could not be reached/));
      assert.ok(model.spent.tokens >= 100, JSON.stringify(model.spent));
      assert.equal(model.warnings.length, 1);
    }
  }
});

test('a refused key, an error in the stream and an answer in another form are failures; a key is in none of them', async () => {
  for (const kind of kinds) {
    await using server = await serve(servers[kind](optionsOf({ key: 'another-k3y-than-the-one' })));
    using model = new TestModel(kind, server.port);
    await assert.rejects(model.call({ provider: kind, model: 'priced', prompt: 'x' }), (error: unknown) => {
      assert.ok(error instanceof ToolFailure);
      assert.equal(error.code, 'UPSTREAM_FAILED');
      assert.doesNotMatch(error.textForOperators, /m0del|k3y/);
      return true;
    });
    assert.deepEqual(model.spent, { tokens: 0, costMicros: 0 });
  }
  for (const [body, code] of [
    [
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      'UPSTREAM_UNAVAILABLE',
    ],
    ['data: no json\n\n', 'EXECUTION_ERROR'],
    ['<html>', 'UPSTREAM_UNAVAILABLE'],
    [`data: ${'x'.repeat(5 * 1024 * 1024)}`, 'TOO_LARGE'],
  ] as const) {
    await using server = await serve((request, response) => {
      request.resume();
      response.writeHead(200).end(body);
    });
    using model = new TestModel('anthropic', server.port);
    await assert.rejects(model.call({ provider: 'anthropic', model: 'priced', prompt: 'x' }), endsWith(code));
  }
});

test('a call that is stopped before the answer begins is charged, because nobody knows what the provider did', async () => {
  await using server = await serve(() => undefined);
  using model = new TestModel('anthropic', server.port);
  const stop = new AbortController();
  setTimeout(() => stop.abort(new ToolFailure('CANCELLED', 'The call was cancelled.')), 200);
  const call = model.call(
    { provider: 'anthropic', model: 'priced', prompt: 'x', max_tokens: 100 },
    { signal: stop.signal },
  );
  await assert.rejects(call, endsWith('CANCELLED'));
  assert.ok(model.spent.tokens >= 100);
});

test('only what an operator set up can be used, and agents read no more than that', async () => {
  using model = new TestModel('openai', 1);
  await assert.rejects(
    model.call({ provider: 'openai', model: 'other', prompt: 'x' }),
    endsWith('NOT_FOUND', /There are: priced, unpriced/),
  );
  await assert.rejects(
    model.call({ provider: 'nobody', model: 'priced', prompt: 'x' }),
    endsWith('NOT_FOUND', /There are: openai/),
  );
  const none = inferenceCall({
    providers: { current: { search: [], inference: [] }, problem: undefined },
    readKey: () => '',
    readSession: async () => undefined,
    hide: (text) => text,
  });
  const args = { provider: 'openai', model: 'priced', prompt: 'x' };
  for (const attempt of [() => model.workspace.call(none, args), () => model.workspace.preview(none, args)]) {
    await assert.rejects(attempt(), (error: unknown) => {
      assert.ok(error instanceof ToolFailure);
      assert.equal(error.message, 'No provider for inference is set up at this gate.');
      assert.match(error.textForOperators, /providers\.yaml.*sallyport secret set/);
      return true;
    });
  }
});

test('a person sees the model, the most it can cost and both prompts', async () => {
  using model = new TestModel('openai', 1);
  const { summary, detail } = await model.workspace.preview(model.tool, {
    provider: 'openai',
    model: 'priced',
    prompt: 'line one\nline two',
    system_prompt: 'rules',
    max_tokens: 1000,
  });
  assert.match(summary, /^Send 17 bytes to priced of openai$/);
  assert.match(detail, /at most: 1000 tokens in the answer, 0\.015\d+ in cost\n/);
  assert.match(detail, /system prompt:\n {2}\| rules\nprompt:\n {2}\| line one\n {2}\| line two\n/);
});
