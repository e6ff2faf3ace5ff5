import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from './fault.ts';
import { refuse } from './refusal.ts';
import { StageLine } from './stage-line.ts';
import type { Closer, Context, Ending, Stage } from './stage.ts';

interface Start {
  readonly a: number;
}
interface Doubled {
  readonly b: number;
}

const context: Context = { nowMs: () => 0 };
const double: Stage<Start, Doubled> = { name: 'double', run: (call) => void (call.b = call.a * 2) };
const refuseLarge: Stage<Doubled> = {
  name: 'refuse-large',
  run: async ({ b }) => (b > 10 ? refuse('RULE_DENIES', 'large', 'too large') : undefined),
};
const ignore = (): void => undefined;

function remember<Facts>(endings: Ending<Facts>[], required = true): Closer<Facts> {
  return { name: 'remember', required, run: (ending) => Promise.resolve(void endings.push(ending)) };
}

test('each stage sees the facts of those before it', async () => {
  const ending = await StageLine.from<Start>(ignore).stage(double).stage(refuseLarge).run({ a: 4 }, context);
  assert.deepEqual(ending, { kind: 'completed', call: { a: 4, b: 8 } });
});

test('a refusal ends the call, names its stage, and the closers see how far it came', async () => {
  const endings: Ending<Start & Doubled>[] = [];
  const never: Stage<Start> = { name: 'never', run: () => assert.fail('a refused call went on') };
  const line = StageLine.from<Start>(ignore).stage(double).stage(refuseLarge).stage(never).closer(remember(endings));
  const ending = await line.run({ a: 6 }, context);
  assert.equal(ending.kind, 'refused');
  assert.equal(ending.kind === 'refused' && ending.stage, 'refuse-large');
  assert.equal(endings[0]?.call.b, 12);
});

test('a stage that throws is a fault, not a crash', async () => {
  const broken: Stage<Start> = { name: 'broken', run: () => Promise.reject(new Error('inside')) };
  const endings: Ending<Start>[] = [];
  const ending = await StageLine.from<Start>(ignore).stage(broken).closer(remember(endings)).run({ a: 1 }, context);
  assert.equal(ending.kind, 'faulted');
  assert.equal(ending.kind === 'faulted' && ending.fault.message, 'inside');
  assert.equal(endings.length, 1);
});

test('when a required closer fails the call has failed, and the later closers still run', async () => {
  const endings: Ending<Start>[] = [];
  const failing: Closer<Start> = {
    name: 'record',
    required: true,
    run: () => Promise.reject(new Fault('SEALED', 'no log')),
  };
  const ending = await StageLine.from<Start>(ignore).closer(failing).closer(remember(endings)).run({ a: 1 }, context);
  assert.ok(ending.kind === 'faulted' && ending.fault instanceof Fault && ending.fault.code === 'SEALED');
  assert.equal(endings[0]?.kind, 'faulted');
});

test('a best-effort closer that fails is reported and changes nothing', async () => {
  const reports: string[] = [];
  const failing: Closer<Start> = { name: 'watch', required: false, run: () => Promise.reject(new Error('down')) };
  const line = StageLine.from<Start>((closer) => reports.push(closer)).closer(failing);
  assert.equal((await line.run({ a: 1 }, context)).kind, 'completed');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(reports, ['watch']);
});

test('a part of the line has the same stages, and begins with the facts of its first mark', async () => {
  const add: Stage<Doubled, { readonly c: number }> = { name: 'add', run: (call) => void (call.c = call.b + 1) };
  const line = StageLine.from<Start>(ignore)
    .stage(double)
    .mark('doubled')
    .stage(refuseLarge)
    .mark('small')
    .stage(add)
    .closer({ name: 'never', required: true, run: () => assert.fail('a part has no closers') });
  const part = line.between('doubled', 'small');
  assert.deepEqual(part.names, ['refuse-large']);
  assert.deepEqual(await part.run({ a: 1, b: 3 }, context), { kind: 'completed', call: { a: 1, b: 3 } });
  // @ts-expect-error: the stage before the first mark does not run, so its fact has to be handed in
  assert.equal((await part.run({ a: 1 }, context)).kind, 'completed');
  // @ts-expect-error: the fact of a stage behind the last mark is not there
  part.stage({ name: 'late', run: ({ c }: { readonly c: number }) => ({ d: c }) });
});
