import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DynamicTable } from './dynamic-table.ts';
import { makeField } from './header-field.ts';

/** 32 bytes more than the text is long. */
const field = (text: string) => makeField(text, '');

describe('DynamicTable', () => {
  it('holds as many of the newest fields as fit, to the byte', () => {
    const table = new DynamicTable(70);
    for (const text of ['aaa', 'bb', 'ccccc', 'd']) table.add(field(text));
    assert.deepEqual(
      [table.at(1)?.name, table.at(2)?.name, table.at(3), table.at(0)],
      ['d', 'ccccc', undefined, undefined],
    );
    table.add(field('eeeee'));
    assert.deepEqual([table.at(1)?.name, table.at(2)?.name], ['eeeee', 'd']);
    table.resize(69);
    assert.equal(table.at(2), undefined);
  });

  it('is empty behind a field that is larger than all of it', () => {
    const table = new DynamicTable(70);
    table.add(field('a'));
    table.add(field('b'.repeat(39)));
    assert.equal(table.at(1), undefined);
    table.add(field('b'.repeat(38)));
    assert.equal(table.at(1)?.bytes, 70);
  });

  it('holds what a plain list would hold, and has another version after each change', () => {
    const change = fc.oneof(fc.string({ maxLength: 120 }), fc.nat({ max: 200 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const table = new DynamicTable(200);
        let [newestFirst, most] = [[] as string[], 200];
        for (const [at, one] of changes.entries()) {
          if (typeof one === 'number') table.resize((most = one));
          else table.add(field(one));
          if (typeof one === 'string') newestFirst = [one, ...newestFirst];
          newestFirst = newestFirst.filter(
            (_, place) => newestFirst.slice(0, place + 1).reduce((sum, text) => sum + text.length + 32, 0) <= most,
          );
          assert.deepEqual(
            Array.from({ length: newestFirst.length + 1 }, (_, index) => table.at(index + 1)?.name),
            [...newestFirst, undefined],
          );
          assert.equal(table.version, at + 1);
        }
      }),
    );
  });
});
