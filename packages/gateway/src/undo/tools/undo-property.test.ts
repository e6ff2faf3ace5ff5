import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '@sallyport/contract';
import { howMuch } from '../../../../../test/harness/how-much.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { filesDelete } from '../../catalogue/files/files-delete.ts';
import { filesEnsureDir } from '../../catalogue/files/files-ensure-dir.ts';
import { filesMoveGlob } from '../../catalogue/files/files-move-glob.ts';
import { filesWrite } from '../../catalogue/files/files-write.ts';
import { UndoBench } from './undo-bench.test-kit.ts';

const folders = ['', 'a/', 'b/', 'a/c/'];
const path = fc.tuple(fc.constantFrom(...folders), fc.constantFrom('x', 'y')).map((parts) => parts.join(''));
const folder = fc.constantFrom('a', 'b', 'a/c', 'd');
const content = fc.constantFrom('', 'one', 'two', 'three\nlines\n');

type Action = readonly [AnyTool, JsonObject] | 'undo';

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant(filesWrite), fc.record({ path, content })) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant(filesWrite), fc.record({ path, content, create_parents: fc.constant(true) })),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant(filesWrite), fc.record({ path, content, append: fc.constant(true) })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant(filesEnsureDir), fc.record({ path: folder })) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant(filesDelete),
      fc.record({ path: fc.oneof(path, folder), recursive: fc.constant(true) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(folder, folder, fc.boolean())
      .filter(([from, to]) => from !== to)
      .map(([from, to, overwrite]): Action => [filesMoveGlob, { from, to, overwrite, patterns: ['*'] }]),
  },
  { weight: 4, arbitrary: fc.constant<Action>('undo') },
);

/** Undefined: the call failed, as it does when there is nothing to delete. */
async function tryCall(bench: UndoBench, tool: AnyTool, args: JsonObject): Promise<string | undefined> {
  try {
    return await bench.call(tool, args);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

test('any sequence of changes and undos, taken back, ends where it began', async () => {
  const changesSomething = { count: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 14 }), fc.boolean(), async (actions, atOnce) => {
      using bench = new UndoBench();
      bench.put('x', 'start');
      bench.put('a/y', 'in a');
      bench.put('b/x', 'in b');
      const start = bench.snapshot();
      /** Calls that can be undone next, the newest last, each with the files as they were before it. */
      const calls: { readonly id: string; readonly before: Record<string, string> }[] = [];
      for (const each of actions) {
        const before = bench.snapshot();
        const last = calls.at(-1);
        if (each !== 'undo') {
          const id = await tryCall(bench, ...each);
          if (bench.entries.some(({ callId }) => callId === id)) calls.push({ id: id ?? '', before });
        } else if (last !== undefined) {
          const id = await bench.undo(last.id);
          assert.deepEqual(bench.snapshot(), last.before);
          calls.push({ id, before });
        }
      }
      if (calls.length > 0) changesSomething.count++;
      if (atOnce && calls.length > 0) await bench.call(bench.undoTool, { trace_id: bench.traceId });
      else for (const { id } of calls.toReversed()) await bench.undo(id);
      assert.deepEqual(bench.snapshot(), start);
    }),
    { numRuns: howMuch({ usually: 60, long: 800 }) },
  );
  assert.ok(changesSomething.count > 20, 'hardly any sequence changed something');
});
