import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { definitionOf } from '../stages/facts.test-kit.ts';
import { hashDefinition } from './hash-definition.ts';
import { ShownDefinitions } from './shown-definitions.ts';

const secret = 'Zq7-vTx93kLmPw2RbNd8';
const number = 4_829_105_673;

const foreign = definitionOf({
  name: 'demo.tool',
  origin: 'upstream',
  description: `Connects with ${secret}.`,
  tags: ['net', secret],
  inputSchema: {
    type: 'object',
    required: ['to', `key ${secret}`],
    properties: {
      to: { type: 'string', default: secret, enum: ['a', secret], examples: [{ [secret]: [secret] }] },
      [`key ${secret}`]: { $ref: `#/$defs/${secret}` },
      size: { type: 'integer', maximum: number, default: number, enum: [1, number] },
      code: { type: 'string', pattern: `^[${secret}]+$`, minLength: 2 },
      list: { type: 'array', items: { anyOf: [{ const: secret }, true] } },
    },
    patternProperties: { [secret]: true, '^x-': { type: 'string' } },
    $defs: { [secret]: { description: secret } },
  },
  outputSchema: { type: 'object', properties: { host: { const: secret } } },
});

test('what the author of a tool wrote is shown without secrets, and its schema stays one', () => {
  requirement('AUD-4');
  const before = hashDefinition(foreign);
  const shown = new ShownDefinitions(new Redactor([secret, String(number)])).of(foreign);
  const text = JSON.stringify(shown);
  assert.ok(!text.includes('vTx93kLm') && !text.includes(String(number)), text);
  assert.deepEqual(shown.inputSchema, {
    type: 'object',
    required: ['to', 'key [redacted]'],
    properties: {
      to: {
        type: 'string',
        default: '[redacted]',
        enum: ['a', '[redacted]'],
        examples: [{ '[redacted]': ['[redacted]'] }],
      },
      'key [redacted]': { $ref: '#/$defs/[redacted]' },
      size: { type: 'integer', default: '[redacted]', enum: [1, '[redacted]'] },
      code: { type: 'string', minLength: 2 },
      list: { type: 'array', items: { anyOf: [{ const: '[redacted]' }, true] } },
    },
    patternProperties: { '^x-': { type: 'string' } },
    $defs: { '[redacted]': { description: '[redacted]' } },
  });
  // A client would hold results to it, and they are not redacted.
  assert.deepEqual(shown.outputSchema, {});
  assert.equal(hashDefinition(foreign), before, 'what is pinned is the original');
});

test('a secret that is a word of JSON Schema breaks no schema', () => {
  const redactor = new Redactor(['properties', 'string', 'object', 'pattern']);
  const { inputSchema } = new ShownDefinitions(redactor).of(foreign);
  assert.equal(inputSchema['type'], 'object');
  assert.deepEqual((inputSchema['properties'] as Record<string, object>)['code'], {
    type: 'string',
    pattern: `^[${secret}]+$`,
    minLength: 2,
  });
});

test('a definition is redacted once, and again when the gate has learned another secret', () => {
  const redactor = new Redactor();
  const definitions = new ShownDefinitions(redactor);
  const first = definitions.of(foreign);
  assert.match(first.description, /vTx93kLm/);
  assert.equal(definitions.of(foreign), first);
  const { version } = definitions;
  redactor.learn(secret);
  assert.notEqual(definitions.version, version);
  const second = definitions.of(foreign);
  assert.equal(second.description, 'Connects with [redacted].');
  assert.equal(definitions.of(foreign), second);
  redactor.learn(secret);
  assert.equal(definitions.of(foreign), second, 'it knew that one');
});

test('built-in definitions are our own words and stay as they are', () => {
  const builtIn: ToolDefinition = definitionOf({ description: 'Reads a password file.' });
  assert.equal(new ShownDefinitions(new Redactor(['password'])).of(builtIn), builtIn);
});
