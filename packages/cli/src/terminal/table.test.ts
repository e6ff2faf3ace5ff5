import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitColumns, renderFields, renderTable, renderWrappedTable } from './table.ts';

test('columns are aligned and the last one is cut at the edge of the terminal', () => {
  const rows = [
    ['files.read', 'low', 'Reads a text file from the workspace'],
    ['git', 'medium', 'Runs git'],
  ];
  assert.deepEqual(renderTable(rows, 40), ['files.read  low     Reads a text file f…', 'git         medium  Runs git']);
});

test('the last column can wrap instead', () => {
  assert.deepEqual(renderWrappedTable([['path', 'string', 'The file to read, relative to the workspace']], 38), [
    'path  string  The file to read,',
    '              relative to the',
    '              workspace',
  ]);
});

test('a last column that has no room goes below the others', () => {
  const rows = [['a-rule-with-a-long-name', 'deny', 'it is about other paths']];
  assert.deepEqual(renderWrappedTable(rows, 40), ['a-rule-with-a-long-name  deny', '      it is about other paths']);
  const path = [['rule', 'deny', 'not about /srv/notes/of/the/whole/year']];
  assert.deepEqual(renderWrappedTable(path, 36), [
    'rule  deny',
    '      not about',
    '      /srv/notes/of/the/whole/year',
  ]);
});

test('cells that have no room beside each other keep their indent, and are not aligned with others', () => {
  const rows = [
    ['', 'source', '"auto" | "journal" | "syslog"', '= "auto"', 'Which log to read.'],
    ['', 'n', 'integer', '', ''],
  ];
  assert.deepEqual(renderWrappedTable(rows, 30), [
    '  source "auto" |',
    '      "journal" | "syslog" =',
    '      "auto"',
    '      Which log to read.',
    '  n  integer',
  ]);
});

test('columns that can be spared are left out where the lines would be too long, and only as many as need be', () => {
  const rows = [
    ['TOOL', 'VERSION', 'CALLS', 'P99'],
    ['files.read', '1.0.0', '9', '5 ms'],
  ];
  assert.equal(fitColumns(rows, 32, ['VERSION', 'CALLS']), rows);
  assert.deepEqual(fitColumns(rows, 31, ['VERSION', 'CALLS']), [
    ['TOOL', 'CALLS', 'P99'],
    ['files.read', '9', '5 ms'],
  ]);
  assert.deepEqual(fitColumns(rows, 8, ['VERSION', 'CALLS']), [
    ['TOOL', 'P99'],
    ['files.read', '5 ms'],
  ]);
});

test('nothing is cut where nobody looks', () => {
  const long = 'x'.repeat(500);
  assert.deepEqual(renderTable([['a', long]], Infinity), [`a  ${long}`]);
});

test('values wrap beside their label, keep their own lines, and empty ones are left out', () => {
  const fields = [
    ['address', 'http://127.0.0.1:4780'],
    ['empty', ''],
    ['why', 'because the folder is special\nsecond'],
  ] as const;
  assert.deepEqual(renderFields(fields, 34), [
    '  address  http://127.0.0.1:4780',
    '  why      because the folder is',
    '           special',
    '           second',
  ]);
});
