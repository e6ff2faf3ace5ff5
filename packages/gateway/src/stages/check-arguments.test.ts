import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStrictJson } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { ArgumentsChecked } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import { schemaFromParameters } from '../registry/schemas/parameter-list.ts';
import { Registry } from '../registry/registry.ts';
import { checkArguments } from './check-arguments.ts';
import { assertPassed, assertRefused, callOf, clock, sessionOf, toolOf, runStage } from './facts.test-kit.ts';

const inputSchema = schemaFromParameters([
  { name: 'path', type: 'string', description: 'Which note.' },
  { name: 'limit', type: 'number', description: 'How many lines.', default: 100 },
  { name: 'view', type: 'object', description: 'How.', default: { wrap: true, width: 80 } },
]);
const tool = toolOf({ inputSchema, timeoutMs: 5000 });
const check = checkerFor(tool);

function checkerFor(subject: AnyTool) {
  const registry = new Registry();
  registry.register(subject);
  const stage = checkArguments(registry);
  return (input: string, timeoutMs = 0): ArgumentsChecked | Refusal => {
    const decoded = { requestId: 'r', traceId: '', rawArguments: parseStrictJson(input) as JsonObject };
    const call = { ...callOf({ timeoutMs }), ...decoded, session: sessionOf(), tool: subject };
    return runStage(stage, call, clock) as ArgumentsChecked | Refusal;
  };
}

test('defaults are applied before validation, and the canonical form has them', () => {
  requirement('DEF-2', 'PIPE-3');
  const { arguments: checked } = assertPassed(check('{"path":"a"}'));
  assert.equal(checked.sha256, hash('sha256', '{"limit":100,"path":"a","view":{"width":80,"wrap":true}}'));
  assert.equal(checked.value['limit'], 100);
});

test('an argument that is its default and one that is absent are the same call', () => {
  requirement('PIPE-3');
  const { arguments: absent } = assertPassed(check('{"path":"a"}'));
  for (const input of [
    '{"path":"a","limit":100}',
    '{"limit":100.0,"path":"a"}',
    '{"view":{"wrap":true,"width":80},"path":"a","limit":1e2}',
  ]) {
    const { arguments: explicit } = assertPassed(check(input));
    assert.equal(explicit.sha256, absent.sha256);
  }
});

test('the order of keys and the space between them change nothing', () => {
  requirement('PIPE-3');
  const checkFree = checkerFor(toolOf());
  const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.integer()), { selector: ([key]) => key });
  fc.assert(
    fc.property(entries, (pairs) => {
      const spell = (list: typeof pairs, space: string) =>
        `{${list.map(([key, value]) => `${JSON.stringify(key)}:${space}${value}`).join(`,${space}`)}}`;
      const one = assertPassed(checkFree(spell(pairs, ''))).arguments;
      const other = assertPassed(checkFree(spell(pairs.toReversed(), ' '))).arguments;
      assert.equal(one.sha256, other.sha256);
    }),
  );
});

test('a tool that changes a default in its hands does not change it for the next call', () => {
  const first = assertPassed(check('{"path":"a"}')).arguments.value['view'] as { width: number };
  first.width = 1;
  assert.deepEqual(
    { ...(assertPassed(check('{"path":"a"}')).arguments.value['view'] as object) },
    {
      wrap: true,
      width: 80,
    },
  );
});

test('arguments that do not fit are refused with every violation', () => {
  requirement('PIPE-4');
  const refusal = assertRefused(check('{"limit":"many","pth":"a"}'), {
    code: 'INVALID_ARGUMENTS',
    rule: 'input-schema',
    remedy: 'See the arguments of the tool with GetToolSchema.',
  });
  assert.deepEqual(
    new Set(refusal.violations?.map(({ field, rule }) => `${field} ${rule}`)),
    new Set(['path required', 'limit type', 'pth unknown']),
  );
  for (const { message } of refusal.violations ?? []) assert.ok(refusal.message.includes(message), message);
});

test('what the arguments touch is asked of the tool, with exactly the arguments that will run', () => {
  const seen: JsonObject[] = [];
  const claiming = toolOf(
    { inputSchema },
    { claim: (args) => (seen.push(args), { paths: [{ path: '/workspace/a', access: 'read' }] }) },
  );
  const added = assertPassed(checkerFor(claiming)('{"path":"a"}'));
  assert.deepEqual(added.resources, { paths: [{ path: '/workspace/a', access: 'read' }] });
  assert.equal(seen[0], added.arguments.value);
});

test('a tool may refuse arguments that no schema can describe', () => {
  const refusal = refuse('UNSAFE_PATH', 'paths', 'The path climbs.', { remedy: 'Name it in full.' });
  const picky = toolOf({}, { claim: () => assert.fail(new ToolRefused(refusal)) });
  assert.equal(checkerFor(picky)('{}'), refusal);
});

test('a tool that fails to say what it touches stops the call', () => {
  requirement('PIPE-2');
  const broken = toolOf({}, { claim: () => assert.fail(new Error('inside')) });
  assert.throws(() => checkerFor(broken)('{}'), /inside/);
});

test('a tool that is not in the registry is not run unchecked', () => {
  requirement('PIPE-2');
  const stage = checkArguments(new Registry());
  const call = { ...callOf(), requestId: 'r', traceId: '', rawArguments: {}, session: sessionOf(), tool };
  assert.throws(() => runStage(stage, call, clock), /not registered/);
});

test('a call can shorten the time limit of its tool, never lengthen it', () => {
  for (const [asked, given] of [
    [0, 5000],
    [1, 1],
    [5000, 5000],
    [5001, 5000],
  ] as const) {
    assert.equal(assertPassed(check('{"path":"a"}', asked)).effectiveTimeoutMs, given);
  }
});
