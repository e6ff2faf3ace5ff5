import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { create, equals, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { blake3 } from '@napi-rs/blake-hash';
import { codes, ToolRequestSchema } from '@sallyport/contract';
import { validateToolRequest } from '@sallyport/contract/validation';
import { matchesName } from '../../packages/gateway/src/policy/patterns/name-pattern.ts';
import { anthropicServer } from '../../packages/gateway/src/catalogue/inference/model-servers.test-kit.ts';
import type {
  ModelServerOptions,
  SeenRequest,
} from '../../packages/gateway/src/catalogue/inference/model-servers.test-kit.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { requirement } from '../requirement.ts';
import { gitOperations } from './request-arbitraries.ts';
import { openTypedClient } from './typed-client.ts';
import type { Request, Response, TypedClient } from './typed-client.ts';
import { InMemoryDoor } from './in-memory-door.ts';

type RequestInit = MessageInitShape<typeof ToolRequestSchema>;
type Ask = (request: Request) => Promise<Response>;

let daemon: TestDaemon;
let client: TypedClient;
let modelServer: Server;

const modelKey = 'k3y-0f-the-m0del-in-this-test';
const models: ModelServerOptions & { seen: SeenRequest[] } = {
  ...{ key: modelKey, pieces: ['A small, ', 'secure door.'], inputTokens: 20, outputTokens: 5, seen: [] },
};

const modelRules = `
  - { id: models, effect: allow, tools: [inference.call], providers: [anthropic] }
  - { id: no-haiku, effect: deny, tools: [inference.call], models: [haiku] }
  - { id: no-others, effect: deny, tools: [inference.call], providers: [elsewhere] }
`;

/** It asks a person, and nobody is here. */
const shippedInference = /^ {2}- id: inference\n(?: {4}.*\n)+/m;

const harmlessCommands = `
  - id: harmless-commands
    effect: allow
    tools: [shell.run]
    commands: ['pwd', 'printenv *', 'sleep *', 'cat /proc/net/route']
    paths: ['$WORKSPACE/**', '/proc/net/route']
    approval: waived
    grants: { read: [$WORKSPACE], environment: { GREETING: hello } }
`;

before(async () => {
  const place = liftLimits(newPlace());
  const limits = join(place.home, 'governance', 'limits.yaml');
  // So few that a test can use them up.
  const rates = "rates: [{ tools: ['files.edit'], per_minute: 5 }]";
  writeFileSync(limits, readFileSync(limits, 'utf8').replace('rates: []', rates));
  // Programs that root starts run as another user.
  chmodSync(place.folder, 0o755);
  const rules = join(place.home, 'governance', 'tools.yaml');
  writeFileSync(
    rules,
    `${readFileSync(rules, 'utf8').trimEnd()}\n${harmlessCommands}${modelRules}`.replace(shippedInference, ''),
  );
  modelServer = createServer(anthropicServer(models)).listen(0, '127.0.0.1');
  await once(modelServer, 'listening');
  const { port } = modelServer.address() as AddressInfo;
  const prices = 'input_per_million: 3, output_per_million: 15';
  writeFileSync(
    join(place.home, 'governance', 'providers.yaml'),
    `inference: [{ name: anthropic, kind: anthropic, url: 'http://127.0.0.1:${port}', secret: model-key, models: [{ name: opus, ${prices} }] }]\n`,
  );
  daemon = await TestDaemon.start(place);
  await daemon.call('secrets.set', { name: 'model-key', value: modelKey });
  client = openTypedClient(Number(new URL(daemon.address).port));
});
after(async () => {
  client.close();
  await daemon.remove();
  modelServer.close();
});

/** A session of its own, so that what one test does to its agent is not felt by another. */
async function openAgent(name: string, more: Record<string, unknown> = {}): Promise<Ask> {
  const session_token = await daemon.newAgent(name, more);
  return (request) => client.execute({ request_id: 'r', session_token, ...request });
}

const fileAt = (path: string): string => join(daemon.place.workspace, path);
const write = (path: string, content: string | Uint8Array): void => writeFileSync(fileAt(path), content);
const textOf = ({ success }: Response): string => success?.inline_result.toString() ?? assert.fail('no success');

/** What a command answered. */
const outputOf = (response: Response): { stdout: string; exit_code: number } =>
  response.success === undefined || response.success === null
    ? assert.fail(JSON.stringify(response))
    : (JSON.parse(textOf(response)) as { stdout: string; exit_code: number });

/** What the gateway is asked for a valid request, without a gateway. */
async function callOf(
  tool: RequestInit['tool'],
): Promise<{ name: string; args: Record<string, unknown>; timeoutMs: number }> {
  const request = create(ToolRequestSchema, {
    requestId: 'r',
    sessionToken: 's',
    ...(tool === undefined ? {} : { tool }),
  });
  const fate = await new InMemoryDoor().receive(toBinary(ToolRequestSchema, request));
  assert.ok(fate.kind === 'submitted');
  const { toolName, input, timeoutMs } = fate.call;
  return { name: toolName, args: JSON.parse(input) as Record<string, unknown>, timeoutMs };
}

function contract(name: string, prove: (test: TestContext) => void | Promise<void>, ...more: string[]): void {
  it(name, async (test) => {
    requirement(...more);
    await prove(test);
  });
}

const example: RequestInit = {
  requestId: 'req-001',
  sessionToken: 'session-abc',
  tool: { case: 'fileRead', value: { path: '/workspace/src/main.rs' } },
};

describe('requests', () => {
  contract('CTR-0001 equal requests have equal bytes, and these', () => {
    const bytes = Buffer.from(toBinary(ToolRequestSchema, create(ToolRequestSchema, example)));
    const expected = Buffer.concat([
      Buffer.from('\x0a\x07req-001'),
      Buffer.from('\x12\x0bsession-abc'),
      Buffer.from('\x52\x18\x0a\x16/workspace/src/main.rs'),
    ]);
    assert.deepEqual(bytes, expected);
    assert.deepEqual(toBinary(ToolRequestSchema, create(ToolRequestSchema, example)), new Uint8Array(expected));
  });

  contract('CTR-0002 nothing of a request is lost by decoding and encoding', () => {
    const hash = new Uint8Array(32).fill(255);
    const tools: NonNullable<RequestInit['tool']>[] = [
      { case: 'fileRead', value: { path: '\ufeff é', offset: 2n ** 53n, limit: 2n ** 64n - 1n } },
      { case: 'fileWrite', value: { path: 'a', content: Buffer.from([0, 255]), createOnly: true, append: true } },
      { case: 'fileEdit', value: { path: 'a', oldContent: '\ufeff\0\r\n', newContent: '😀' } },
      {
        case: 'shellExec',
        value: { command: 'x', cwd: 'c', timeoutMs: 1n, networkAccess: true, env: ['', 'A=1', 'A=1'] },
      },
      { case: 'gitOp', value: { operation: 'LOG', args: ['', '-1'], cwd: 'c' } },
      {
        case: 'inference',
        value: {
          provider: 'p',
          model: 'm',
          promptHash: hash,
          maxTokens: 1n,
          temperatureScaled: 2 ** 32 - 1,
          systemPromptHash: hash,
        },
      },
      { case: 'artifactPublish', value: { artifactId: 'i', contentHash: hash, category: 'c', metadata: ['k=v'] } },
    ];
    for (const tool of tools) {
      const request = create(ToolRequestSchema, { requestId: 'r', sessionToken: 's', dedupeKey: 'd', tool });
      const bytes = toBinary(ToolRequestSchema, request);
      const decoded = fromBinary(ToolRequestSchema, bytes);
      assert.ok(equals(ToolRequestSchema, decoded, request));
      assert.deepEqual(toBinary(ToolRequestSchema, decoded), bytes);
    }
  });

  contract(
    'CTR-0003 a dedupe key returns the first result of the session again',
    async () => {
      const ask = await openAgent('repeats');
      write('dedupe.txt', 'first');
      const request = { dedupe_key: 'once', file_read: { path: 'dedupe.txt' } };
      assert.equal(textOf(await ask(request)), 'first');
      write('dedupe.txt', 'second');
      assert.equal(textOf(await ask(request)), 'first');
      assert.equal(textOf(await ask({ ...request, dedupe_key: 'twice' })), 'second');
      assert.equal(textOf(await (await openAgent('other'))(request)), 'second');
      const conflict = await ask({ ...request, file_read: { path: 'dedupe.txt', offset: 1 } });
      assert.equal(conflict.denied?.rationale_code, 'DEDUPE_CONFLICT');
    },
    'PIPE-6',
  );
});

describe('reads', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0, 10, 0xc3, 0xa9, 1, 2, 3, 4]);

  contract('CTR-0004 without a limit the whole file is read, byte for byte', async () => {
    const ask = await openAgent('reader');
    write('bytes.bin', bytes);
    const whole = await ask({ file_read: { path: 'bytes.bin', limit: 0 } });
    assert.deepEqual(whole.success?.inline_result, bytes);
    const part = await ask({ file_read: { path: 'bytes.bin', limit: 3 } });
    assert.deepEqual(part.success?.inline_result, bytes.subarray(0, 3));
  });

  contract('CTR-0005 without an offset reading begins at the beginning', async () => {
    const ask = await openAgent('reader');
    write('bytes.bin', bytes);
    const start = await ask({ file_read: { path: 'bytes.bin', offset: 0, limit: 2 } });
    assert.deepEqual(start.success?.inline_result, bytes.subarray(0, 2));
    const later = await ask({ file_read: { path: 'bytes.bin', offset: 5 } });
    assert.deepEqual(later.success?.inline_result, bytes.subarray(5));
    const beyond = await ask({ file_read: { path: 'bytes.bin', offset: '9007199254740991' } });
    assert.equal(beyond.success?.inline_result.length, 0);
  });

  contract('CTR-0006 a relative path starts at the working directory of the session', async () => {
    mkdirSync(fileAt('inner'), { recursive: true });
    write('place.txt', 'workspace');
    write('inner/place.txt', 'inner');
    const atTop = await openAgent('top');
    const inside = await openAgent('inside', { working_directory: fileAt('inner') });
    assert.equal(textOf(await atTop({ file_read: { path: 'place.txt' } })), 'workspace');
    assert.equal(textOf(await inside({ file_read: { path: 'place.txt' } })), 'inner');
    assert.equal(textOf(await inside({ file_read: { path: fileAt('place.txt') } })), 'workspace');
  });
});

describe('writes and edits', () => {
  contract('CTR-0007 create_only fails when the file exists', async () => {
    const ask = await openAgent('writer');
    const request = (content: string): Request => ({
      file_write: { path: 'new.txt', content: Buffer.from(content), create_only: true },
    });
    assert.equal((await ask(request('one'))).result, 'success');
    assert.equal((await ask(request('two'))).error?.error_code, 'ALREADY_EXISTS');
    assert.equal(readFileSync(fileAt('new.txt'), 'utf8'), 'one');
    assert.equal((await ask({ file_write: { path: 'new.txt', content: Buffer.from('three') } })).result, 'success');
    assert.equal(readFileSync(fileAt('new.txt'), 'utf8'), 'three');
  });

  contract('CTR-0008 append adds to the end, whatever the bytes are', async () => {
    const ask = await openAgent('writer');
    const parts = [Buffer.from('text\n'), Buffer.from([0, 255, 254]), Buffer.from('\ufeffé')];
    for (const content of parts) {
      assert.equal((await ask({ file_write: { path: 'log.bin', content, append: true } })).result, 'success');
    }
    assert.deepEqual(readFileSync(fileAt('log.bin')), Buffer.concat(parts));
  });

  contract('CTR-0009 an edit happens wholly or not at all', async () => {
    const ask = await openAgent('editor');
    write('edit.txt', 'one two three');
    const { mtimeMs } = statSync(fileAt('edit.txt'));
    const missed = await ask({ file_edit: { path: 'edit.txt', old_content: 'four', new_content: 'x' } });
    assert.equal(missed.error?.error_code, 'NO_MATCH');
    assert.equal(readFileSync(fileAt('edit.txt'), 'utf8'), 'one two three');
    assert.equal(statSync(fileAt('edit.txt')).mtimeMs, mtimeMs);
    const changed = await ask({ file_edit: { path: 'edit.txt', old_content: 'two', new_content: 'zwei' } });
    assert.equal(changed.result, 'success');
    assert.equal(readFileSync(fileAt('edit.txt'), 'utf8'), 'one zwei three');
  });

  contract('CTR-0010 an edit of a passage that stands there twice fails', async () => {
    const ask = await openAgent('editor-2');
    write('twice.txt', 'a b a');
    const twice = await ask({ file_edit: { path: 'twice.txt', old_content: 'a', new_content: 'x' } });
    assert.equal(twice.error?.error_code, 'MULTIPLE_MATCHES');
    assert.equal(readFileSync(fileAt('twice.txt'), 'utf8'), 'a b a');
    assert.equal(
      (await ask({ file_edit: { path: 'twice.txt', old_content: 'a b', new_content: 'x' } })).result,
      'success',
    );
  });
});

describe('commands and git', () => {
  contract('CTR-0011 without a folder a command starts in the working directory of the session', async () => {
    const ask = await openAgent('wanderer');
    mkdirSync(fileAt('inner'), { recursive: true });
    assert.equal(
      outputOf(await ask({ shell_exec: { command: 'pwd', cwd: '' } })).stdout,
      `${daemon.place.workspace}\n`,
    );
    assert.equal(outputOf(await ask({ shell_exec: { command: 'pwd', cwd: 'inner' } })).stdout, `${fileAt('inner')}\n`);
  });

  contract('CTR-0012 without a time limit the tool has its own', async () => {
    assert.equal((await callOf({ case: 'shellExec', value: { command: 'ls' } })).timeoutMs, 0);
    const ask = await openAgent('sleeper');
    assert.equal(outputOf(await ask({ shell_exec: { command: 'sleep 1', timeout_ms: 0 } })).exit_code, 0);
    const cut = await ask({ shell_exec: { command: 'sleep 60', timeout_ms: 500 } });
    assert.equal(cut.error?.error_code, 'TIMEOUT', JSON.stringify(cut));
  });

  contract('CTR-0013 asking for the network grants nothing', async () => {
    const ask = await openAgent('caller');
    // The same command, which a rule allows; only the request differs.
    const command = 'cat /proc/net/route';
    const refused = await ask({ shell_exec: { command, network_access: true } });
    assert.equal(refused.denied?.rule_id, 'network', JSON.stringify(refused));
    assert.equal(
      outputOf(await ask({ shell_exec: { command } }))
        .stdout.trim()
        .split('\n').length,
      1,
      'no route leads out',
    );
  });

  contract('CTR-0014 variables are a list of KEY=VALUE on the wire', async () => {
    const ask = await openAgent('greeter');
    const given = await ask({
      shell_exec: { command: 'printenv GREETING NO_COLOR', env: ['GREETING=good day', 'NO_COLOR=1'] },
    });
    assert.equal(outputOf(given).stdout, 'good day\n1\n', JSON.stringify(given));
    const refused = await ask({ shell_exec: { command: 'printenv PATH', env: ['PATH=/tmp'] } });
    assert.equal(refused.denied?.rule_id, 'environment', JSON.stringify(refused));
  });

  contract('CTR-0015 git has tools of its own, apart from commands', async () => {
    const names = await Promise.all(
      gitOperations.map(async (operation) => (await callOf({ case: 'gitOp', value: { operation } })).name),
    );
    assert.equal(new Set(names).size, 18);
    for (const name of names) assert.match(name, /^git\.[a-z]+$/);
    const ask = await openAgent('committer');
    execFileSync('git', ['init', '--quiet', join(daemon.place.workspace, 'repository')]);
    const status = await ask({ git_op: { operation: 'STATUS', cwd: 'repository' } });
    assert.equal(status.result, 'success', JSON.stringify(status));
    assert.equal((await ask({ shell_exec: { command: 'git status' } })).result, 'denied');
  });

  contract('CTR-0016 a lease or a rule for DIFF does not cover PUSH', async () => {
    const { name: diff } = await callOf({ case: 'gitOp', value: { operation: 'DIFF' } });
    const { name: push } = await callOf({ case: 'gitOp', value: { operation: 'PUSH' } });
    assert.ok(matchesName('git.diff', diff));
    assert.ok(!matchesName('git.diff', push));
    const ask = await openAgent('pusher', { tools: ['git.diff'] });
    assert.equal((await ask({ git_op: { operation: 'PUSH', args: ['origin'] } })).result, 'denied');
  });
});

describe('inference and artifacts', () => {
  const hash = new Uint8Array(32).fill(0xa5);
  const inference = { provider: 'anthropic', model: 'opus', promptHash: hash, maxTokens: 100n };

  /** Keeps a text where the agent can use it. */
  async function keepPrompt(text: string, token: string): Promise<Buffer> {
    const path = `${blake3(text).toString('hex')}.prompt`;
    write(path, text);
    const { success } = await daemon.call('files.read', { path, store_above_bytes: 1 }, { token });
    const { content_hash: kept } = JSON.parse(success?.outputJson ?? '{}') as { content_hash: string };
    assert.equal(kept, blake3(text).toString('hex'));
    return Buffer.from(kept, 'hex');
  }

  async function openThinker(name: string, more: Record<string, unknown> = {}) {
    const token = await daemon.newAgent(name, more);
    const prompt_hash = await keepPrompt('What is a sally port?', token);
    const ask = (fields: Record<string, unknown> = {}): Promise<Response> =>
      client.execute({
        request_id: 'r',
        session_token: token,
        inference: { provider: 'anthropic', model: 'opus', prompt_hash, max_tokens: 100, ...fields },
      });
    return { token, ask };
  }

  contract('CTR-0017 the temperature is given in hundredths', async () => {
    const { args } = await callOf({ case: 'inference', value: { ...inference, temperatureScaled: 70 } });
    assert.equal(args['temperature_scaled'], 70);
    const { ask } = await openThinker('thinker-1');
    for (const scaled of [70, 0, 100]) {
      const answer = await ask({ temperature_scaled: scaled });
      assert.equal(answer.result, 'success', JSON.stringify(answer));
      assert.equal(models.seen.at(-1)?.body['temperature'], scaled / 100);
    }
  });

  contract('CTR-0018 prompts are named by their hash, and read from the content store', async () => {
    const { name, args } = await callOf({ case: 'inference', value: inference });
    assert.equal(name, 'inference.call');
    assert.equal(args['prompt_hash'], 'a5'.repeat(32));
    assert.ok(!('system_prompt_hash' in args));
    const withSystem = await callOf({ case: 'inference', value: { ...inference, systemPromptHash: hash } });
    assert.equal(withSystem.args['system_prompt_hash'], 'a5'.repeat(32));
    const { ask, token } = await openThinker('thinker-2');
    const answer = await ask({ system_prompt_hash: await keepPrompt('Answer in one word.', token) });
    const { text } = JSON.parse(textOf(answer)) as { text: string };
    assert.equal(text, 'A small, secure door.');
    const { messages, system } = models.seen.at(-1)?.body ?? {};
    assert.deepEqual([messages, system], [[{ role: 'user', content: 'What is a sally port?' }], 'Answer in one word.']);
    const asked = models.seen.length;
    // What is not stored, and what another session stored, is the same: nothing that this one may use.
    const other = await daemon.newAgent('thinker-3');
    for (const prompt_hash of [hash, await keepPrompt('Of another session.', other)]) {
      assert.equal((await ask({ prompt_hash })).error?.error_code, 'NOT_FOUND');
    }
    assert.equal(models.seen.length, asked);
  });

  contract('CTR-0019 rules, leases and budgets restrict providers, models and cost', async () => {
    const { args } = await callOf({ case: 'inference', value: inference });
    assert.equal(args['provider'], 'anthropic');
    assert.equal(args['model'], 'opus');
    const askedBefore = models.seen.length;
    const { ask } = await openThinker('thinker-4');
    assert.equal((await ask({ model: 'haiku' })).denied?.rule_id, 'no-haiku');
    assert.equal((await ask({ provider: 'elsewhere' })).denied?.rationale_code, 'RULE_DENIES');
    const leased = await openThinker('thinker-5', { providers: ['other'] });
    assert.equal((await leased.ask()).denied?.rationale_code, 'OUTSIDE_LEASE');
    const narrow = await openThinker('thinker-6', { models: ['haiku'] });
    assert.equal((await narrow.ask()).denied?.rationale_code, 'OUTSIDE_LEASE');
    assert.equal(models.seen.length, askedBefore);
    // One answer costs 20 × 3 + 5 × 15 millionths, and the most that one can cost is about 1,800.
    const limited = await openThinker('thinker-7', { max_cost_micros: 2000 });
    assert.equal((await limited.ask()).result, 'success');
    assert.equal((await limited.ask()).result, 'success');
    const third = await limited.ask();
    assert.equal(third.denied?.rationale_code, 'BUDGET_EXCEEDED', JSON.stringify(third));
    assert.equal(models.seen.length, askedBefore + 2);
    const { success } = await daemon.call('sessions.list', {});
    assert.match(success?.outputJson ?? '', /"costMicros":"270"/);
  });

  contract(
    'a model is asked within the cost of the session, and what is published from its content stays',
    async () => {
      requirement('CAT-8');
      const { ask, token } = await openThinker('thinker-8', { max_cost_micros: 1800 });
      assert.equal((await ask({ provider: 'elsewhere' })).denied?.rationale_code, 'RULE_DENIES');
      assert.equal((await ask({ model: 'haiku' })).denied?.rule_id, 'no-haiku');
      assert.equal((await ask({ prompt_hash: hash })).error?.error_code, 'NOT_FOUND', 'no prompt is stored under it');
      assert.equal((await ask()).result, 'success');
      assert.equal((await ask()).denied?.rationale_code, 'BUDGET_EXCEEDED');
      const publish = (content_hash: Uint8Array): Promise<Response> => {
        const artifact_publish = { artifact_id: 'thoughts', content_hash, category: 'test' };
        return client.execute({ request_id: 'r', session_token: token, artifact_publish });
      };
      assert.equal((await publish(hash)).result, 'error');
      assert.equal((await publish(await keepPrompt('first thought', token))).result, 'success');
      assert.notEqual((await publish(await keepPrompt('second thought', token))).result, 'success');
    },
  );

  contract('CTR-0020 content that is not stored is not published', async () => {
    const ask = await openAgent('publisher');
    const artifact_publish = {
      artifact_id: 'report',
      content_hash: hash,
      category: 'test',
      metadata: ['format=junit'],
    };
    assert.notEqual((await ask({ artifact_publish })).result, 'success');
  });

  contract('CTR-0021 an artifact does not change once it is published', async () => {
    const session = await daemon.newAgent('publisher-2');
    const ask: Ask = (request) => client.execute({ request_id: 'r', session_token: session, ...request });
    const keep = async (letter: string): Promise<Buffer> => {
      write(`${letter}.txt`, letter.repeat(2 * 1024 * 1024));
      const { success } = await ask({ file_read: { path: `${letter}.txt`, limit: 2 * 1024 * 1024 } });
      return success?.result_hash ?? assert.fail('the content was not kept');
    };
    const [first, second] = [await keep('a'), await keep('b')];
    assert.notDeepEqual(first, second);
    const publish = (content_hash: Uint8Array): Promise<Response> =>
      ask({ artifact_publish: { artifact_id: 'report', content_hash, category: 'test', metadata: ['format=junit'] } });
    const published = await publish(first);
    assert.equal(published.result, 'success', JSON.stringify(published));
    assert.notEqual((await publish(second)).result, 'success', 'other content under the same id');
    const { success } = await daemon.call('artifacts.list', {});
    const { artifacts } = JSON.parse(success?.outputJson ?? '{}') as { artifacts: Record<string, unknown>[] };
    assert.equal(artifacts.filter((artifact) => JSON.stringify(artifact).includes('"report"')).length, 1);
    assert.ok(JSON.stringify(artifacts).includes(first.toString('hex')), 'the first one is still there');
  });
});

describe('responses', () => {
  contract(
    'CTR-0022 every request gets one response, whatever comes of it',
    async () => {
      const session_token = await daemon.newAgent('streamer');
      write('stream.txt', 'here');
      const requests: Request[] = Array.from({ length: 300 }, (_, index) => ({
        request_id: String(index),
        session_token: index % 10 === 1 ? 'unknown' : session_token,
        ...(index % 10 === 2
          ? {}
          : { file_read: { path: index % 10 === 3 ? 'missing.txt' : 'stream.txt', offset: index } }),
      }));
      const stream = client.executeStream();
      const ids: string[] = [];
      const results = new Set<string>();
      stream.on('data', (response: Response) => {
        ids.push(response.request_id);
        results.add(response.result);
      });
      for (const request of requests) stream.write(request);
      stream.end();
      await once(stream, 'end');
      assert.equal(ids.length, 300);
      assert.equal(new Set(ids).size, 300);
      assert.deepEqual([...results].sort(), ['denied', 'error', 'success']);
    },
    'PIPE-5',
  );

  contract(
    'CTR-0023 a response carries the id of its request, also when that is not valid',
    async () => {
      const ask = await openAgent('named');
      write('id.txt', 'x');
      for (const request_id of ['a', 'é'.repeat(128), 'x'.repeat(257), '']) {
        const response = await ask({ request_id, file_read: { path: 'id.txt' } });
        assert.equal(response.request_id, request_id);
        assert.equal(response.result, Buffer.byteLength(request_id) > 256 || request_id === '' ? 'denied' : 'success');
      }
    },
    'PIPE-5',
  );

  contract(
    'CTR-0024 a result above 1 MB is kept, and its BLAKE3 hash returned',
    async () => {
      const ask = await openAgent('reader-4');
      const large = Buffer.alloc(1024 * 1024 + 1, 7);
      write('large.bin', large);
      const { success } = await ask({ file_read: { path: 'large.bin' } });
      assert.equal(success?.inline_result.length, 0);
      assert.deepEqual(success?.result_hash, blake3(large));
      assert.equal(success?.result_hash.length, 32);
    },
    'WIRE-7',
  );

  contract(
    'CTR-0025 a result of up to 1 MB comes with the answer',
    async () => {
      const ask = await openAgent('reader-3');
      const content = Buffer.alloc(1024 * 1024, 'x');
      write('inline.bin', content);
      const { success } = await ask({ file_read: { path: 'inline.bin' } });
      assert.ok(success?.inline_result.equals(content));
      assert.equal(success?.result_hash.length, 0);
      assert.equal(success?.budget_consumed, '1');
      assert.match(success?.duration_ms ?? '', /^\d+$/);
      const written = await ask({ file_write: { path: 'json.txt', content: Buffer.from('x') } });
      assert.deepEqual(Object.keys(JSON.parse(textOf(written)) as object), ['bytes', 'created', 'path', 'sha256']);
    },
    'WIRE-7',
  );

  contract(
    'CTR-0026 a denial names the rule',
    async () => {
      const ask = await openAgent('curious');
      write('.env', 'KEY=1');
      assert.equal((await ask({ file_read: { path: '.env' } })).denied?.rule_id, 'secrets');
      assert.equal((await ask({ file_read: { path: '/etc/passwd' } })).denied?.rule_id, 'default-deny');
    },
    'PIPE-4',
  );

  contract(
    'CTR-0027 the code of a denial is for machines',
    async () => {
      const ask = await openAgent('curious-2');
      const denials = [
        await ask({ file_read: { path: '/etc/passwd' } }),
        await ask({ file_read: { path: 'x' }, session_token: 'unknown' }),
        await ask({ shell_exec: { command: 'ls' } }),
        await ask({}),
      ].map(({ denied }) => denied?.rationale_code ?? '');
      for (const code of denials) assert.ok(code in codes, code);
      assert.equal(denials[0], 'NO_RULE_ALLOWS');
      assert.equal(denials[1], 'UNAUTHENTICATED');
      assert.equal(denials[3], 'MALFORMED_CALL');
    },
    'PIPE-4',
  );

  contract(
    'CTR-0028 the message of a denial is for people',
    async () => {
      const ask = await openAgent('curious-3');
      const { denied } = await ask({ file_read: { path: '/etc/passwd' } });
      assert.match(denied?.message ?? '', /^[A-Z].* .*[.)]$/);
      assert.ok((denied?.remedy ?? '').length > 10);
    },
    'PIPE-4',
  );

  const useUpEdits = async (name: string): Promise<Response['error'][]> => {
    const ask = await openAgent(name);
    write(`${name}.txt`, '');
    const errors: Response['error'][] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const file_edit = { path: `${name}.txt`, old_content: `${attempt}`, new_content: 'x' };
      errors.push((await ask({ file_edit })).error);
    }
    return errors;
  };

  contract(
    'CTR-0029 an error says whether to try again',
    async () => {
      const errors = await useUpEdits('hasty');
      assert.deepEqual(
        [errors[0], errors[5]].map((error) => [error?.error_code, error?.retryable]),
        [
          ['NO_MATCH', false],
          ['RATE_LIMITED', true],
        ],
      );
    },
    'RATE-3',
  );

  contract(
    'CTR-0030 an error that passes says how long to wait',
    async () => {
      const errors = await useUpEdits('hastier');
      assert.equal(errors[0]?.retry_after_ms, '0');
      const retryAfterMs = Number(errors[5]?.retry_after_ms);
      assert.ok(retryAfterMs > 0 && retryAfterMs <= 60_000, String(retryAfterMs));
    },
    'RATE-3',
  );
});

describe('validation', () => {
  contract('CTR-0031 a violation names its field', async () => {
    const ask = await openAgent('careless');
    const { denied } = await ask({ file_read: { path: '' } });
    assert.deepEqual(
      denied?.violations.map(({ field }) => field),
      ['file_read.path'],
    );
    assert.match(denied?.message ?? '', /file_read\.path is required/);
  });

  contract('CTR-0032 a violation names its rule', async () => {
    const ask = await openAgent('careless-2');
    const rulesOf = async (request: Request) => (await ask(request)).denied?.violations.map(({ rule }) => rule);
    assert.deepEqual(await rulesOf({ file_read: { path: '' } }), ['required']);
    assert.deepEqual(await rulesOf({ file_read: { path: 'x'.repeat(4097) } }), ['max_length']);
    assert.deepEqual(await rulesOf({ git_op: { operation: 'GC' } }), ['one_of']);
  });

  contract('CTR-0033 all violations come at once', async () => {
    const ask = await openAgent('careless-3');
    const { denied } = await ask({
      request_id: '',
      dedupe_key: 'd'.repeat(257),
      file_write: { path: '../x\0', create_only: true, append: true },
    });
    assert.deepEqual(denied?.violations.map(({ field, rule }) => `${field} ${rule}`).sort(), [
      'dedupe_key max_length',
      'file_write exclusive',
      'file_write.path null_byte',
      'file_write.path path_traversal',
      'request_id required',
    ]);
  });

  contract('CTR-0034 no violation means that the request is valid', async () => {
    assert.deepEqual(validateToolRequest(create(ToolRequestSchema, example)), []);
    const ask = await openAgent('careful');
    write('valid.txt', 'x');
    assert.equal((await ask({ file_read: { path: 'valid.txt' } })).result, 'success');
  });

  it('a request that is not valid is on record, under its agent, before it is answered', async () => {
    requirement('PIPE-5', 'AUD-1');
    const ask = await openAgent('recorded');
    await ask({ request_id: 'climbing', file_read: { path: '../../etc/passwd' } });
    const record = (await daemon.records()).find(({ payload }) => payload['request_id'] === 'climbing');
    assert.equal(record?.kind, 'refusal');
    assert.equal(record?.payload['agent'], 'recorded');
    assert.equal(record?.payload['tool'], 'files.read');
    assert.equal((record?.payload['refusal'] as { code: string } | undefined)?.code, 'MALFORMED_CALL');
  });
});

it('every invariant and every contract of the protocol is proved by a test that is named after it', () => {
  requirement('WIRE-2');
  const namesIn = (file: string): readonly string[] =>
    [
      ...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(
        /^\s*(?:invariant|contract)\(\s*'([A-Z]{3}-\d{4}) /gm,
      ),
    ].map(([, name = '']) => name);
  const wanted = (letters: string) =>
    Array.from({ length: 34 }, (_, at) => `${letters}-${String(at + 1).padStart(4, '0')}`);
  assert.deepEqual(namesIn('invariants.test.ts').toSorted(), wanted('INV'));
  assert.deepEqual(namesIn('contracts.test.ts').toSorted(), wanted('CTR'));
});
