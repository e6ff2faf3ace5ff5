import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInput, InvalidOutput } from './run-tool.ts';
import { choice, integer, object, optional, string } from './schema.ts';
import { testTool } from './test-tool.ts';
import { defineTool, ToolError } from './tool.ts';
import { requirement } from '../../../test/requirement.ts';

const repeat = defineTool({
  name: 'text.repeat',
  version: '1.2.3',
  description: 'Repeats a text.',
  tags: ['text'],
  input: object({ text: string(), times: integer({ minimum: 1, default: 2 }), by: optional(choice([' ', '-'])) }),
  output: object({ text: string() }),
  run: ({ text, times, by }) => {
    if (text === '') throw new ToolError('There is nothing to repeat.');
    return { text: Array.from({ length: times }, () => text).join(by ?? '') };
  },
});

test('a tool is called in memory as the program would be: defaults, schema, JSON', async () => {
  requirement('BIN-5');
  const { call } = testTool(repeat);
  assert.deepEqual(await call({ text: 'ab' }), { text: 'abab' });
  assert.equal((await call({ text: 'ab', times: 3, by: '-' })).text, 'ab-ab-ab');
  await assert.rejects(call({ text: '' }), new ToolError('There is nothing to repeat.'));
  await assert.rejects(call({ times: 0 }), (error) => {
    assert.ok(error instanceof InvalidInput);
    assert.equal(error.message, 'The input does not fit: times must be at least 1; text is required.');
    return true;
  });
});

test('the definition has the names of the wire, and only what was said', () => {
  const { name, version, description, tags, input, output } = repeat.spec;
  assert.deepEqual(testTool(repeat).schema, {
    name,
    version,
    description,
    tags,
    input_schema: input,
    output_schema: output,
  });
  const needy = defineTool({
    ...repeat.spec,
    risk: 'medium',
    confirmation: 'if_destructive',
    mutates: true,
    idempotent: false,
    timeoutMs: 1000,
    paths: { read: ['/etc/hosts'] },
    hosts: ['api.example.com'],
    environment: ['TZ'],
    secrets: ['api-key'],
    limits: { cpuMs: 10, memoryBytes: 20, openFiles: 30 },
    warm: false,
  });
  const { tags: _, ...requests } = needy.schema;
  assert.deepEqual(
    { ...requests, input_schema: undefined, output_schema: undefined },
    {
      name,
      version,
      description,
      input_schema: undefined,
      output_schema: undefined,
      risk: 'medium',
      confirmation: 'if_destructive',
      mutates: true,
      idempotent: false,
      timeout_ms: 1000,
      paths: { read: ['/etc/hosts'] },
      hosts: ['api.example.com'],
      environment: ['TZ'],
      secrets: ['api-key'],
      limits: { cpu_ms: 10, memory_bytes: 20, open_files: 30 },
      warm: false,
    },
  );
});

test('plain JSON Schema does as well, and then nothing is known about types', async () => {
  const { call, schema } = testTool({
    name: 'plain',
    version: '1',
    description: 'Says what it got.',
    input: { type: 'object', properties: { a: { type: 'integer', default: 4 } } },
    run: (input) => ({ got: input }),
  });
  assert.deepEqual(await call({ b: [true] }), { got: { a: 4, b: [true] } });
  assert.deepEqual([schema['tags'], schema['output_schema']], [[], {}]);
});

test('an output that is no JSON or breaks its own schema is a defect of the tool', async () => {
  const returning = (output: unknown) =>
    testTool({ ...repeat.spec, run: () => output as { text: string } }).call({ text: 'a' });
  await assert.rejects(
    returning({ text: 1 }),
    new InvalidOutput('The output does not fit its schema: output.text must be string.'),
  );
  await assert.rejects(returning({ text: 1n }), InvalidOutput);
  await assert.rejects(
    returning(() => 1),
    /it is a function/,
  );
  await assert.rejects(returning(undefined), /output\.text is required/);
  assert.deepEqual(await returning({ text: new Date(0) }), { text: '1970-01-01T00:00:00.000Z' });
  const { output: _, ...silent } = repeat.spec;
  assert.deepEqual(await testTool({ ...silent, run: () => undefined }).call({ text: 'a' }), {});
});

test('a definition that cannot work is refused when it is made', () => {
  const define = (change: object) => () => defineTool({ ...repeat.spec, ...change });
  for (const name of ['', 'Text', 'a b', '../x', 'a..b', '.a', 'a.', '1a', 'a'.repeat(65)]) {
    assert.throws(define({ name }), /cannot be the name of a tool/);
  }
  assert.throws(define({ version: 'one two' }), /needs a version such as 1\.2\.0/);
  assert.throws(define({ description: '' }), /needs a description/);
  assert.throws(define({ input: string() }), /must be an object/);
  assert.throws(define({ output: { typo: 1 } }), /output\.typo is not supported/);
});
