import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMisnested } from './find-misnested.ts';
import { readPipelines } from './pipeline.test-kit.ts';

/** `a: b c` is a pipeline a with the steps b and c. */
function misnestedOf(...chains: readonly string[]): readonly string[] {
  const lines = chains.map((chain) => {
    const [name = '', tools = ''] = chain.split(': ');
    const [plain, version = '1.0.0'] = name.split('@');
    const steps = tools.split(' ').map((tool, at) => `{ id: s${at}, tool: ${tool} }`);
    return `  - { name: ${plain}, version: ${version}, description: X., steps: [${steps.join(', ')}] }`;
  });
  const { pipelines, problems } = readPipelines(`pipelines:\n${lines.join('\n')}\n`);
  assert.deepEqual(problems, []);
  return findMisnested(pipelines).map(({ description }) => description.name);
}

test('what comes back to itself is found, however long the way, no matter who leads there', () => {
  assert.deepEqual(misnestedOf('a: a'), ['a']);
  assert.deepEqual(misnestedOf('a: files.read b', 'b: c', 'c: a', 'd: files.read a', 'e: files.read'), [
    ...['a', 'b', 'c', 'd'],
  ]);
});

test('four pipelines may be inside one another, not five', () => {
  assert.deepEqual(misnestedOf('a: b', 'b: c', 'c: d', 'd: files.read'), []);
  assert.deepEqual(misnestedOf('a: b', 'b: c', 'c: d', 'd: e', 'e: files.read'), ['a']);
});

test('another version of a pipeline is another one', () => {
  assert.deepEqual(misnestedOf('a@2.0.0: a@1.0.0', 'a@1.0.0: files.read'), []);
  assert.deepEqual(misnestedOf('a@2.0.0: a', 'a@1.0.0: files.read'), ['a']);
});
