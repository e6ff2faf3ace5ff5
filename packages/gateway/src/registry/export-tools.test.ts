import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool as AnthropicSdkTool } from '@anthropic-ai/sdk/resources/messages';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { definitionOf as newDefinition } from '../stages/facts.test-kit.ts';
import { Redactor } from '../redaction/redact.ts';
import { exportFormats, exportForAnthropic, exportForMcp, exportForOpenAi, exportUsable } from './export-tools.ts';
import { ShownDefinitions } from './shown-definitions.ts';

const definitions = new ShownDefinitions(new Redactor());
const definitionOf = (more: Partial<ToolDefinition>) => definitions.of(newDefinition(more));

const inputSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: { path: { type: 'string' }, limit: { type: 'integer', default: 10 } },
};
const outputSchema: JsonObject = { type: 'object', properties: { lines: { type: 'integer' } } };
const read = definitionOf({ name: 'files.read', aliases: ['read_file'], inputSchema, outputSchema, scopes: ['paths'] });
const post = definitionOf({
  name: 'web.http_post',
  mutates: true,
  risk: 'high',
  idempotent: false,
  scopes: ['network'],
});

test('OpenAI gets function tools', () => {
  requirement('DEF-4');
  const { tools, canonicalNames } = exportForOpenAi([read, post]);
  assert.deepEqual(tools[0], {
    type: 'function',
    function: { name: 'files_read', description: 'Reads a note.', parameters: inputSchema },
  });
  assert.equal(tools[1]?.function.name, 'web_http_post');
  assert.equal(canonicalNames.get('files_read'), 'files.read');
});

test('Anthropic gets tools with an input schema', () => {
  requirement('DEF-4');
  const { tools, canonicalNames } = exportForAnthropic([read]);
  assert.deepEqual(tools, [{ name: 'files_read', description: 'Reads a note.', input_schema: inputSchema }]);
  assert.deepEqual([...canonicalNames], [['files_read', 'files.read']]);
});

test('MCP gets descriptors with the canonical name as title and both schemas', () => {
  requirement('DEF-4');
  assert.deepEqual(exportForMcp([read]).tools, [
    {
      name: 'files_read',
      title: 'files.read',
      description: 'Reads a note.',
      inputSchema,
      outputSchema,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
  ]);
});

test('the hints follow from the definition, and doubt counts as danger', () => {
  requirement('DEF-4');
  const hints = (more: Partial<ToolDefinition>) => exportForMcp([definitionOf(more)]).tools[0]?.annotations;
  const harmless = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  assert.deepEqual(hints({}), harmless);
  assert.deepEqual(hints({ risk: 'critical' }), harmless);
  for (const risk of ['medium', 'high', 'critical'] as const) {
    assert.deepEqual(hints({ mutates: true, risk }), { ...harmless, readOnlyHint: false, destructiveHint: true });
  }
  assert.deepEqual(hints({ mutates: true, risk: 'low' }), { ...harmless, readOnlyHint: false });
  assert.deepEqual(hints({ idempotent: false }), { ...harmless, idempotentHint: false });
  assert.deepEqual(hints({ scopes: ['paths'] }), harmless);
  for (const scope of ['network', 'apps', 'commands'] as const) {
    assert.deepEqual(hints({ scopes: ['paths', scope] }), { ...harmless, openWorldHint: true });
  }
});

test('conditions at the top of a schema are left out, because models refuse them; deeper ones stay', () => {
  const anyOf = [{ required: ['name'] }, { required: ['content'] }];
  const search = definitionOf({
    inputSchema: { properties: { name: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, anyOf, not: {}, enum: [] },
  });
  const widened = { type: 'object', properties: { name: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
  assert.deepEqual(exportForOpenAi([search]).tools[0]?.function.parameters, widened);
  assert.deepEqual(exportForAnthropic([search]).tools[0]?.input_schema, widened);
  assert.deepEqual(exportForMcp([search]).tools[0]?.inputSchema, widened);
});

test('an output that is no object is not promised to MCP clients', () => {
  const text = definitionOf({ outputSchema: { type: 'string' } });
  assert.ok(!('outputSchema' in (exportForMcp([text]).tools[0] ?? {})));
});

test('strict is said only where nothing is optional and every object is closed', () => {
  const strictOf = (schema: JsonObject) =>
    exportForOpenAi([definitionOf({ inputSchema: schema })]).tools[0]?.function.strict;
  const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  });
  const text = { type: 'string' };
  for (const schema of [
    closed({}),
    closed({ a: text, b: { type: 'integer' } }),
    closed({ a: closed({ b: { type: 'array', items: closed({ c: text }) } }) }),
    closed({ a: { type: 'string', enum: ['x'], description: 'One.' } }),
  ]) {
    assert.equal(strictOf(schema), true, JSON.stringify(schema));
  }
  for (const schema of [
    closed({ a: text }, []),
    { ...closed({ a: text }), additionalProperties: true },
    { type: 'object', properties: {}, required: [] },
    closed({ a: { type: 'string', pattern: 'x' } }),
    closed({ a: { type: 'string', default: 'x' } }),
    closed({ a: { type: 'object' } }),
    closed({ a: { type: 'array' } }),
    closed({ a: {} }),
    closed({ a: true }),
    { ...closed({ a: text }), anyOf: [] },
  ]) {
    assert.equal(strictOf(schema), undefined, JSON.stringify(schema));
  }
});

const exports = { exportForOpenAi, exportForAnthropic, exportForMcp };

for (const [name, exportTools] of Object.entries(exports)) {
  test(`${name} leads back to every tool, whatever the names`, () => {
    requirement('DEF-4');
    const part = fc.string({ minLength: 1, maxLength: 10, unit: fc.constantFrom('a', 'Z', '0', '-') });
    const dotted = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.uniqueArray(dotted, { maxLength: 20 }), (names) => {
        const { tools, canonicalNames } = exportTools(names.map((toolName) => definitionOf({ name: toolName })));
        assert.equal(tools.length, names.length);
        assert.deepEqual([...canonicalNames.values()], names);
        for (const exported of canonicalNames.keys()) assert.match(exported, /^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });

  test(`${name} refuses two tools under one name, and names that no model takes`, () => {
    requirement('DEF-4');
    const clash = [definitionOf({ name: 'files.read_text' }), definitionOf({ name: 'files_read.text' })];
    assert.throws(() => exportTools(clash), {
      name: 'ConfigError',
      message: 'The tools files.read_text and files_read.text would both be called files_read_text.',
    });
    for (const bad of ['', 'a b', 'a/b', 'naïve', 'x'.repeat(65), 'a\n']) {
      assert.throws(() => exportTools([definitionOf({ name: bad })]), /models do not accept/, bad);
    }
    assert.equal(exportTools([definitionOf({ name: 'x'.repeat(64) })]).tools.length, 1);
  });
}

test('no tools are no tools', () => {
  for (const exportTools of Object.values(exports)) assert.deepEqual(exportTools([]).tools, []);
});

test('the SDKs of OpenAI, Anthropic and MCP take what is exported', () => {
  requirement('DEF-4');
  // That this compiles is the proof: their clients take lists of these types.
  const forOpenAi: ChatCompletionFunctionTool[] = [...exportForOpenAi([read, post]).tools];
  const forAnthropic: AnthropicSdkTool[] = [...exportForAnthropic([read, post]).tools];
  assert.deepEqual([forOpenAi.length, forAnthropic.length], [2, 2]);
  for (const tool of exportForMcp([read, post]).tools) assert.deepEqual(ToolSchema.parse(tool), tool);
});

test('a tool that no model could name is left out alone, and so are two that would have one name', () => {
  const long = definitionOf({ name: `a.${'b'.repeat(70)}` });
  const twins = [definitionOf({ name: 'notes.read_all' }), definitionOf({ name: 'notes.read.all' })];
  for (const format of exportFormats) {
    const { canonicalNames } = exportUsable([read, long, ...twins, post], format);
    assert.deepEqual([...canonicalNames.values()], ['files.read', 'web.http_post']);
  }
});
