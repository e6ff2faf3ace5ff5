import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes, describeCode } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { assertDescribed, isDescribed, openApi } from './openapi.test-kit.ts';

const names = Object.keys(openApi.components.schemas);

test('every schema compiles, and every example fits its schema', () => {
  assert.ok(names.length > 5);
  let examples = 0;
  for (const name of names) {
    isDescribed(name, {});
    for (const example of openApi.components.schemas[name]?.examples ?? []) {
      assertDescribed(name, example);
      examples++;
    }
  }
  assert.equal(examples, 6);
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(openApi).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  assert.ok(references.length > 10);
  for (const [, name = ''] of references) assert.ok(names.includes(name), name);
});

test('every status that a code can have is described', () => {
  const described = Object.keys(openApi.paths['/v1/calls']?.['post']?.responses ?? {}).map(Number);
  const possible = Object.keys(codes).map((code) => describeCode(code as Code).http);
  // Beside the codes: a success, a call that waits for a person, and a compressed body.
  assert.deepEqual(
    described,
    [...new Set([200, 202, 501, ...possible])].sort((a, b) => a - b),
  );
});

test('a request of one form does not fit the other, and one with both names fits neither', () => {
  const [toolCall, execution] = [{ tool_name: 'a' }, { toolName: 'a' }];
  assert.deepEqual(
    ['ToolCall', 'ToolExecutionRequest'].map((form) => [isDescribed(form, toolCall), isDescribed(form, execution)]),
    [
      [true, false],
      [false, true],
    ],
  );
  assert.equal(isDescribed('ToolCall', { ...toolCall, ...execution }), false);
});
