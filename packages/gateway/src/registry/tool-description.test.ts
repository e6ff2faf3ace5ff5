import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { defineForeignTool, detailOf } from './define-foreign-tool.ts';
import { hashDefinition } from './hash-definition.ts';
import { parseToolDescription } from './tool-description.ts';
import { describeRequests } from './tool-requests.ts';

const plain: JsonObject = {
  name: 'text.count',
  version: '1.2.0',
  description: 'Counts words.',
  tags: ['text'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  output_schema: { type: 'object' },
};

function define(more: JsonObject = {}, options: Parameters<typeof defineForeignTool>[2] = {}) {
  const described = parseToolDescription({ ...plain, ...more });
  return defineForeignTool({ name: 'file', version: '0.0.0', ...described }, 'executable', options);
}

test('a description is taken as it is, and what it leaves out is assumed to be the worst', () => {
  requirement('DEF-6');
  const definition = define();
  assert.equal(definition.name, 'text.count');
  assert.equal(definition.version, '1.2.0');
  assert.deepEqual(definition.inputSchema, plain['input_schema']);
  assert.deepEqual([definition.risk, definition.mutates, definition.idempotent], ['high', true, false]);
  assert.equal(definition.timeoutMs, 300_000);
  assert.equal(definition.origin, 'executable');
  assert.ok(definition.requiresSandbox && !definition.allowedModes.includes('LOCKDOWN'));
});

test('what a tool asks for can make it more dangerous, never less', () => {
  requirement('DEF-6');
  const meek = define({ risk: 'low', mutates: false, idempotent: true, confirmation: 'never', timeout_ms: 3_600_000 });
  assert.deepEqual([meek.risk, meek.mutates, meek.idempotent], ['high', true, false]);
  assert.deepEqual([meek.confirmation, meek.timeoutMs], ['if_destructive', 300_000]);
  const fierce = define({ risk: 'critical', confirmation: 'always', timeout_ms: 1000, hosts: ['api.example.com'] });
  assert.deepEqual([fierce.risk, fierce.confirmation, fierce.timeoutMs], ['critical', 'always', 1000]);
  assert.deepEqual(fierce.scopes, ['network']);
});

test('an operator can say what a tool is', () => {
  const assigned = { risk: 'low', mutates: false, idempotent: true, timeoutMs: 600_000 } as const;
  const definition = define({ risk: 'critical' }, { assigned });
  assert.deepEqual([definition.risk, definition.mutates, definition.timeoutMs], ['low', false, 600_000]);
});

test('a person sees everything that a tool asks for', () => {
  const asked = {
    risk: 'low',
    mutates: false,
    paths: { read: ['/data'], write: ['/out'] },
    hosts: ['api.example.com'],
    environment: ['LANG'],
    secrets: ['token'],
    limits: { cpu_ms: 100 },
    warm: true,
  };
  const described = parseToolDescription({ ...plain, ...asked });
  assert.deepEqual(detailOf({ name: '', version: '', ...described })['asks_for'], {
    risk: 'low',
    mutates: false,
    read: ['/data'],
    write: ['/out'],
    hosts: ['api.example.com'],
    environment: ['LANG'],
    secrets: ['token'],
    limits: { cpuMs: 100 },
    warm: true,
  });
});

test('a schema without a type means an object; another type is refused', () => {
  assert.equal(define({ input_schema: {} }).inputSchema['type'], 'object');
  for (const input_schema of [{ type: 'array' }, { type: ['object', 'null'] }]) {
    assert.throws(() => define({ input_schema }), /must be of type object/);
  }
});

test('a description that hides something, or is not what it should be, is refused', () => {
  for (const more of [
    { name: 'Files.Read' },
    { name: 5 },
    { version: '' },
    { version: 'a b' },
    { description: 5 },
    { description: 'x\u0000' },
    { description: 'Safe.\u{e0049}\u{e0067}' },
    { description: 'x'.repeat(10_001) },
    { tags: 'text' },
    { tags: [5] },
    { tags: ['a\nb'] },
    { risk: 'none' },
    { mutates: 'no' },
    { timeout_ms: 0 },
    { paths: [] },
    { paths: { read: '/' } },
    { hosts: Array.from({ length: 201 }, () => 'a') },
    { limits: { cpu_ms: -1 } },
    { input_schema: 5 },
    { output_schema: { $id: 'x' } },
  ]) {
    assert.throws(() => define(more), Error, JSON.stringify(more).slice(0, 80));
  }
  assert.throws(() => parseToolDescription([]), /not one JSON object/);
  assert.throws(() => parseToolDescription({ name: 'a' }), /no input_schema, args_schema, parameters/);
});

const listed: JsonObject = {
  name: 'read_notes',
  description: 'Reads a note.',
  category: 'read_only',
  parameters: [
    { name: 'path', type: 'string', description: 'Which note.', required: true, default: null },
    { name: 'max_size_mb', type: 'number', description: 'The most to read.', default: 10 },
  ],
  risk_level: 'low',
  allowed_modes: ['NORMAL', 'ALERT', 'LOCKDOWN'],
  requires_approval: false,
  requires_sandbox: false,
  timeout_seconds: 30,
  rate_limit_per_hour: null,
};

test('a definition with a list of parameters is taken, and its defaults are in the schema', () => {
  requirement('DEF-2');
  const described = parseToolDescription(listed);
  assert.equal(described.unknownKeys, undefined);
  assert.deepEqual(JSON.parse(JSON.stringify(described.inputSchema)), {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Which note.' },
      max_size_mb: { type: 'number', description: 'The most to read.', default: 10 },
    },
    required: ['path'],
    additionalProperties: false,
  });
  const definition = defineForeignTool({ ...described, name: 'read_notes', version: '1.0.0' }, 'executable');
  assert.deepEqual([definition.category, definition.timeoutMs], ['read_only', 30_000]);
  // It says nothing that makes it stricter, but for the modes.
  assert.deepEqual(
    [definition.risk, definition.requiresSandbox, definition.rateLimitPerHour],
    ['high', true, undefined],
  );
  assert.deepEqual(definition.allowedModes, ['NORMAL', 'ALERT']);
});

test('what a definition says to be stricter holds, under each of its names', () => {
  requirement('DEF-1');
  const { input_schema: args_schema, ...rest } = plain;
  const strict = {
    ...{ risk_level: 'critical', requires_confirmation: true, requires_approval: true, rate_limit_per_hour: 3 },
    ...{ allowed_modes: ['NORMAL'], timeout_seconds: 2, timeout_ms: 60_000, scopes: ['paths', 'apps'] },
  };
  const described = parseToolDescription({ ...rest, args_schema: args_schema ?? {}, ...strict });
  const definition = defineForeignTool({ name: '', version: '', ...described }, 'executable');
  assert.deepEqual(definition.inputSchema, args_schema);
  assert.deepEqual(
    [definition.risk, definition.confirmation, definition.requiresApproval],
    ['critical', 'always', true],
  );
  assert.deepEqual([definition.allowedModes, definition.rateLimitPerHour, definition.timeoutMs], [['NORMAL'], 3, 2000]);
  assert.deepEqual(definition.scopes, ['paths', 'apps']);
  const { aliases, version, tags, outputSchema, mutates, idempotent, requiresSandbox } = definition;
  assert.deepEqual([aliases, version, tags, outputSchema], [[], '1.2.0', ['text'], { type: 'object' }]);
  assert.deepEqual([mutates, idempotent, requiresSandbox], [true, false, true]);
  const scoped = define({ scopes: { paths: ['/data'], network: ['api.example.com'] } });
  assert.deepEqual(scoped.scopes, ['paths', 'network']);
});

test('keys that mean nothing here are named, however many, and one schema is enough', () => {
  const described = parseToolDescription({ ...plain, owner: 'ops', 'odd\nkey': 1 });
  assert.deepEqual(described.unknownKeys, ['owner', 'odd\\nkey']);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-${at}`, at]));
  assert.equal(parseToolDescription({ ...plain, ...many }).unknownKeys?.at(-1), 'and 10 more');
  assert.throws(() => define({ parameters: [] }), /input_schema and parameters; one of them/);
  for (const wrong of [
    { allowed_modes: [] },
    { allowed_modes: ['QUIET'] },
    { scopes: ['everything'] },
    { scopes: { moon: [] } },
    { rate_limit_per_hour: 0 },
    { timeout_seconds: 'soon' },
    { requires_approval: 'yes' },
    { category: '' },
  ]) {
    assert.throws(() => define(wrong), { name: 'DescriptionError' }, JSON.stringify(wrong));
  }
});

test('what a tool asked for is a part of what was accepted', () => {
  requirement('DEF-6');
  const hashOf = (more: JsonObject) => {
    const { requests, ...described } = parseToolDescription({ ...plain, ...more });
    return hashDefinition({ name: '', ...described }, describeRequests(requests));
  };
  assert.equal(hashOf({}), hashOf({ requires_sandbox: true }), 'nothing was asked for');
  for (const more of [{ requires_approval: true }, { risk: 'critical' }, { rate_limit_per_hour: 3 }]) {
    assert.notEqual(hashOf({}), hashOf(more), JSON.stringify(more));
  }
});
