import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { ToolRefused } from '../../call/tool.ts';
import { findPaths, startPathsIn } from './find-paths.ts';

const path = { type: 'string', format: 'path' } as const;
const target = { type: 'string', 'x-sallyport': 'path-write' } as const;

test('paths are found wherever the schema says they are', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      one: path,
      to: target,
      many: { type: 'array', items: path },
      pair: { prefixItems: [path, { type: 'string' }] },
      deep: { properties: { inner: { $ref: '#/$defs/source' } } },
      any: { anyOf: [{ type: 'number' }, path] },
      text: { type: 'string' },
    },
    patternProperties: { '^extra': path },
    $defs: { source: { allOf: [path] } },
  };
  const args = {
    one: 'a',
    to: 'b',
    many: ['c', 'd'],
    pair: ['e', 'not'],
    deep: { inner: 'f' },
    any: 'g',
    text: 'not',
    extra: 'h',
    unknown: 'h',
  };
  assert.deepEqual(
    findPaths(schema, args)
      .map(({ given, access }) => `${access} ${given}`)
      .sort(),
    ['read a', 'read c', 'read d', 'read e', 'read f', 'read g', 'read h', 'write b'],
  );
});

test('a schema that goes on for ever inside the value ends with the value', () => {
  const schema: JsonObject = { properties: { next: { $ref: '#' }, file: path } };
  assert.deepEqual(findPaths(schema, { file: 'a', next: { file: 'b', next: { file: 'c' } } }).length, 3);
});

test('branches that multiply end in a refusal', () => {
  const again = { properties: { x: { $ref: '#' } } };
  let deep: JsonObject = {};
  for (let level = 0; level < 60; level++) deep = { x: deep };
  assert.throws(() => findPaths({ anyOf: [again, again] }, deep), ToolRefused);
});

test('relative paths start in the folder, wherever they are, and nothing else changes', () => {
  const inputSchema: JsonObject = {
    properties: {
      many: { type: 'array', items: { anyOf: [path, target] } },
      deep: { properties: { to: target } },
      other: { ...path, default: '.' },
      text: { type: 'string' },
    },
  };
  const args = { many: ['a', '/b', '', '../c'], deep: { to: '.' }, text: 'd' };
  const before = structuredClone(args);
  assert.deepEqual(startPathsIn('/w/x', { inputSchema }, args), {
    many: ['/w/x/a', '/b', '', '/w/x/../c'],
    deep: { to: '/w/x' },
    text: 'd',
  });
  assert.deepEqual(args, before);
});

test('of built-in tools, an absent path that means the working directory is the folder', () => {
  const text = { type: 'string' };
  const inputSchema: JsonObject = { properties: { path: { ...text, default: '.' }, to: text, cwd: text } };
  const tool = { inputSchema, pathArguments: ['path', 'to', 'cwd'] };
  assert.deepEqual(startPathsIn('/w', tool, {}), { path: '/w', cwd: '/w' });
  assert.deepEqual(startPathsIn('/w', tool, { path: 'a', to: 3, cwd: '/b' }), { path: '/w/a', to: 3, cwd: '/b' });
});
