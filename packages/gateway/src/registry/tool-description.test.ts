import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { defineForeignTool, detailOf } from './define-foreign-tool.ts';
import { parseToolDescription } from './tool-description.ts';

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
  assert.throws(() => parseToolDescription({ name: 'a' }), /no input_schema/);
});
