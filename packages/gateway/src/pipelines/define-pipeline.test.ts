// oxlint-disable no-template-curly-in-string -- that is how pipelines refer to values
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolDefinition } from '../call/tool.ts';
import { definitionOf } from '../stages/facts.test-kit.ts';
import { definePipeline } from './define-pipeline.ts';
import { pipelineOf } from './pipeline.test-kit.ts';

const known: readonly ToolDefinition[] = [
  definitionOf({ name: 'read', risk: 'low', mutates: false }),
  definitionOf({ name: 'write', risk: 'medium', mutates: true }),
  definitionOf({ name: 'keep', risk: 'high', mutates: true, audience: 'operator', secretArguments: ['value'] }),
];
const find = (name: string) => known.find((tool) => tool.name === name);
const define = (body: string) => definePipeline(pipelineOf(body), find);
const chain = (...tools: readonly string[]) =>
  `    steps: [${tools.map((tool, at) => `{ id: s${at}, tool: ${tool} }`).join(', ')}]\n`;

test('a pipeline counts as the worst of its steps, and what is not known as bad', () => {
  const seen = (body: string) => {
    const { risk, mutates, idempotent, audience, origin, requiresSandbox } = define(body);
    assert.deepEqual([idempotent, origin, requiresSandbox], [false, 'pipeline', false]);
    return [risk, mutates, audience];
  };
  assert.deepEqual(seen(chain('read')), ['low', false, 'everyone']);
  assert.deepEqual(seen(chain('read', 'write')), ['medium', true, 'everyone']);
  assert.deepEqual(seen(chain('read', 'unknown')), ['high', true, 'everyone']);
  assert.deepEqual(seen(chain('read', 'keep')), ['high', true, 'operator']);
});

test('an operator can make it more, never less', () => {
  assert.equal(define(`${chain('read')}    risk: critical\n`).risk, 'critical');
  assert.equal(define(`${chain('write')}    risk: low\n`).risk, 'medium');
  assert.equal(define(`${chain('read')}    confirmation: always\n`).confirmation, 'always');
});

test('what goes into a secret argument of a step is as secret in the pipeline', () => {
  const body = (value: string) => `    parameters: [{ name: word, type: string }, { name: other, type: string }]
    steps: [{ id: a, tool: keep, arguments: { name: "\${input.other}", value: "${value}" } }]\n`;
  assert.deepEqual(define(body('x${input.word}y')).secretArguments, ['word']);
  assert.deepEqual(define(body('${input}')).secretArguments, ['word', 'other']);
  assert.equal(define(body('plain')).secretArguments, undefined);
});
