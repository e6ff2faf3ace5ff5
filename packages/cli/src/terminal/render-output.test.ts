import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderOutput } from './render-output.ts';
import type { Terminal } from './terminal.ts';
import { makeVisible } from './visible-text.ts';

const plain = { columns: 80, paint: (_tone, text) => text, untrusted: makeVisible } as Pick<
  Terminal,
  'columns' | 'paint' | 'untrusted'
> as Terminal;
const render = (output: unknown): string => renderOutput(output, plain).join('\n');

test('single values stand beside their names, long text below them as it is', () => {
  assert.equal(
    render({ path: 'a.md', size: 12, content: 'one\n  two\n' }),
    ['path  a.md', 'size  12', '', 'content:', 'one', '  two'].join('\n'),
  );
});

test('a list of like things is a table', () => {
  const entries = [
    { name: 'a', size: 1 },
    { name: 'long', size: 20, link: true },
  ];
  assert.equal(render({ entries }), ['name  size  link', 'a     1', 'long  20    true'].join('\n'));
  assert.equal(render({ names: ['x', 'y'] }), 'x\ny');
});

test('groups of values are indented below their name, and a few numbers stand in one line', () => {
  const output = { at: 'now', cpu: { cores: 2, load: [1.5, 2], parts: { a: 1 } }, disks: [{ path: '/', free: 3 }] };
  assert.equal(
    render(output),
    'at  now\n\ncpu:\n  cores  2\n  load   1.5, 2\n  parts:\n    a  1\n\ndisks:\npath  free\n/     3',
  );
  assert.equal(render({ gate: { mode: 'NORMAL' } }), 'gate:\n  mode  NORMAL');
});

test('like things that hold lists, or that a table has no room for, stand one below the other', () => {
  const processes = [
    { name: 'node', matches: [{ pid: 1 }, { pid: 20 }] },
    { name: 'none', matches: [] },
  ];
  assert.equal(
    render({ scope: 'all', processes }),
    'scope  all\n\nprocesses:\n  name  node\n  matches:\n  pid\n  1\n  20\n\n  name  none\n  matches:\n  (none)',
  );
  const long = 'x '.repeat(45).trim();
  const checks = [{ name: 'limits', message: long, remedy: 'Do it.' }];
  const lines = render({ checks }).split('\n');
  assert.ok(lines.every((line) => line.length <= 80) && lines.at(-1) === '  remedy   Do it.', lines.join('\n'));
});

test('rows of a database stand under the names of their columns', () => {
  const columns = [{ name: 'id', type: 'int4' }, { name: 'note' }];
  const rows = [
    [1, null],
    [20, 'two'],
  ];
  assert.equal(render({ truncated: false, columns, rows }), 'truncated  false\n\nrows:\nid  note\n1   null\n20  two');
  assert.match(render({ columns, rows: [] }), /columns:\nname  type\n/);
  assert.match(render({ columns: [{ name: 'a' }, { name: 'a' }], rows }), /^columns:/);
});

test('everything else is JSON, and nothing from a tool reaches the terminal as a control character', () => {
  assert.equal(render([1, { a: [2] }]), JSON.stringify([1, { a: [2] }], null, 2));
  const hostile = {
    'k\u001b[2J': '\u001b[2J',
    text: 'x\n\u001b[2J',
    rows: [{ 'c\u001b': '\u001b' }],
    deep: [[['\u009b']]],
  };
  assert.ok(!/[\u001b\u009b]/.test(render(hostile)));
});

test('an empty result is said to be empty', () => {
  assert.equal(render({}), '(nothing)');
  assert.equal(render({ entries: [] }), '(none)');
});
