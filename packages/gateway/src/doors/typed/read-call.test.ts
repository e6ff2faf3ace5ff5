import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { parseStrictJson, ToolRequestSchema } from '@sallyport/contract';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { familyOf, mapRequest } from './read-call.ts';
import type { RequestedCall } from './read-call.ts';

type Tool = NonNullable<MessageInitShape<typeof ToolRequestSchema>['tool']>;

function map(tool: Tool): RequestedCall {
  return mapRequest(create(ToolRequestSchema, { tool }));
}

test('each kind of request becomes a call of its canonical tool', () => {
  requirement('WIRE-1');
  const hash = new Uint8Array(32).fill(0xab);
  const hashHex = 'ab'.repeat(32);
  const expected: readonly [Tool, string, object][] = [
    [
      { case: 'fileRead', value: { path: 'a', offset: 5n, limit: 7n } },
      'files.read',
      { path: 'a', offset: 5, limit: 7, max_size_mb: 1024, encoding: 'base64', store_above_bytes: 1024 * 1024 },
    ],
    [
      { case: 'fileWrite', value: { path: 'a', content: Buffer.from('text'), createOnly: true } },
      'files.write',
      { path: 'a', content: 'text', encoding: 'utf-8', create_only: true, append: false },
    ],
    [
      { case: 'fileEdit', value: { path: 'a', oldContent: 'b', newContent: 'c' } },
      'files.edit',
      { path: 'a', old_content: 'b', new_content: 'c' },
    ],
    [
      { case: 'shellExec', value: { command: 'ls', cwd: 'src', networkAccess: true, env: ['A=1', 'B='] } },
      'shell.run',
      { command: 'ls', cwd: 'src', network_access: true, env: { A: '1', B: '' } },
    ],
    [{ case: 'gitOp', value: { operation: 'PUSH', args: ['origin'] } }, 'git.push', { args: ['origin'] }],
    [
      {
        case: 'inference',
        value: { provider: 'p', model: 'm', promptHash: hash, maxTokens: 9n, temperatureScaled: 70 },
      },
      'inference.call',
      { provider: 'p', model: 'm', prompt_hash: hashHex, max_tokens: 9, temperature_scaled: 70 },
    ],
    [
      { case: 'artifactPublish', value: { artifactId: 'i', contentHash: hash, category: 'c', metadata: ['k=v'] } },
      'artifacts.publish',
      { artifact_id: 'i', content_hash: hashHex, category: 'c', metadata: ['k=v'] },
    ],
  ];
  for (const [tool, toolName, args] of expected)
    assert.deepEqual(map(tool), { toolName, arguments: args, timeoutMs: 0 });
});

test('the time limit of a command is the limit of its call', () => {
  assert.equal(map({ case: 'shellExec', value: { command: 'ls', timeoutMs: 3_600_000n } }).timeoutMs, 3_600_000);
});

test('empty fields that mean the default are left to the tool', () => {
  assert.deepEqual(map({ case: 'shellExec', value: { command: 'ls' } }).arguments, {
    command: 'ls',
    network_access: false,
    env: {},
  });
  assert.deepEqual(map({ case: 'gitOp', value: { operation: 'STATUS' } }).arguments, { args: [] });
});

test('of two variables with one name the later counts, and no name is special', () => {
  const { arguments: args } = map({
    case: 'shellExec',
    value: { command: 'x', env: ['A=1', '__proto__=2', 'A=3', '='] },
  });
  assert.equal(JSON.stringify(args['env']), '{"A":"3","__proto__":"2","":""}');
});

test('the bytes of a write arrive whatever they are, as text where they are text', () => {
  requirement('PIPE-3');
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc.string({ unit: 'binary-ascii' }).map((text) => Buffer.from(`\ufeffé€😀${text}\r\n\t`)),
  );
  const encodings = new Set<string>();
  fc.assert(
    fc.property(bytes, (content) => {
      const { arguments: args } = map({ case: 'fileWrite', value: { path: 'a', content } });
      const judged = parseStrictJson(JSON.stringify(args)) as { content: string; encoding: BufferEncoding };
      encodings.add(judged.encoding);
      assert.deepEqual(Buffer.from(judged.content, judged.encoding), Buffer.from(content));
    }),
  );
  assert.deepEqual([...encodings].sort(), ['base64', 'utf-8']);
});

test('a write of nothing but zeros, each six characters in JSON, stays close to its size', () => {
  requirement('NFR-4');
  const content = new Uint8Array(10_000_000);
  const { arguments: args } = map({ case: 'fileWrite', value: { path: 'a', content } });
  assert.ok(JSON.stringify(args).length < 1.4 * content.length);
});

test('what a request is about is known without its details', () => {
  assert.equal(familyOf(create(ToolRequestSchema)), '');
  assert.equal(familyOf(create(ToolRequestSchema, { tool: { case: 'gitOp', value: { operation: '../x' } } })), 'git');
});
