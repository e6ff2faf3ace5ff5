import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { Executed, Execution } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import { Registry } from '../registry/registry.ts';
import { checkResult } from './check-result.ts';
import { clock, toolOf, runStage } from './facts.test-kit.ts';

const tool = toolOf({
  outputSchema: {
    type: 'object',
    required: ['lines'],
    properties: { lines: { type: 'integer' } },
    additionalProperties: false,
  },
});
const registry = new Registry();
registry.register(tool);

const executionOf = (output: Json): Execution => ({
  result: { ok: true, output },
  usage: { bytesRead: 1 },
  changes: [{ path: '/workspace/a', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } }],
  hasBegun: false,
});

function check(execution: Execution): Execution {
  return (runStage(checkResult(registry), { tool, execution }, clock) as Executed).execution;
}

test('a result that fits its schema goes on as it is', () => {
  const execution = executionOf({ lines: 3 });
  assert.equal(check(execution), execution);
});

test('a result that does not fit is a failure; what was used and replaced stays on record', () => {
  for (const [output, why] of [
    [{ lines: 'three' }, 'lines must be integer'],
    [{}, 'lines is required'],
    [{ lines: 1, token: 'x' }, 'token is not in the schema'],
    ['text', 'the result must be object'],
    [undefined as unknown as Json, 'the result must be object'],
  ] as const) {
    const checked = check(executionOf(output));
    if (checked.result.ok) assert.fail(`passed: ${JSON.stringify(output)}`);
    assert.equal(checked.result.failure.code, 'INVALID_RESULT');
    assert.ok(
      checked.result.failure.message.startsWith('notes.read returned a result that violates its output schema: '),
    );
    assert.ok(checked.result.failure.message.includes(why), checked.result.failure.message);
    assert.deepEqual(checked.usage, { bytesRead: 1 });
    assert.equal(checked.changes.length, 1);
  }
});

test('a failure of the tool is not held against the schema', () => {
  const failed: Execution = {
    ...executionOf(null),
    result: { ok: false, failure: new ToolFailure('NOT_FOUND', 'Gone.') },
  };
  assert.equal(check(failed), failed);
});

test('a tool that is not in the registry does not get its result out unchecked', () => {
  requirement('PIPE-2');
  const stage = checkResult(new Registry());
  assert.throws(() => runStage(stage, { tool, execution: executionOf({ lines: 1 }) }, clock), /not registered/);
});
