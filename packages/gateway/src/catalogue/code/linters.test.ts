import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linters } from './linters.ts';
import { readJunit } from './read-junit.ts';
import { testRunners } from './test-runners.ts';

test('what linters write is read: file, line, column, rule and message', () => {
  const eslint = [
    { filePath: '/p/a.js', messages: [{ ruleId: 'no-undef', severity: 2, message: "'x'", line: 3, column: 5 }] },
  ];
  assert.deepEqual(linters.eslint.read(JSON.stringify(eslint)), [
    { file: '/p/a.js', line: 3, column: 5, rule: 'no-undef', severity: 'error', message: "'x'" },
  ]);
  const syntax = [
    { filePath: 'a.js', messages: [{ ruleId: null, severity: 2, message: 'Parsing error', line: 1, column: 0 }] },
  ];
  assert.deepEqual(linters.eslint.read(JSON.stringify(syntax)), [
    { file: 'a.js', line: 1, severity: 'error', message: 'Parsing error' },
  ]);
  const ruff = [{ code: 'F401', message: '`os` unused', filename: '/p/a.py', location: { row: 1, column: 8 } }];
  assert.deepEqual(linters.ruff.read(JSON.stringify(ruff)), [
    { file: '/p/a.py', line: 1, column: 8, rule: 'F401', severity: 'error', message: '`os` unused' },
  ]);
  assert.deepEqual(linters.flake8.read('./a.py:1:80: E501 line too long (81 > 79 characters)\n'), [
    {
      file: './a.py',
      line: 1,
      column: 80,
      rule: 'E501',
      severity: 'error',
      message: 'line too long (81 > 79 characters)',
    },
  ]);
  assert.deepEqual(linters.tsc.read("src/a.ts(2,7): error TS2322: Type 'string'.\n  more\n"), [
    { file: 'src/a.ts', line: 2, column: 7, rule: 'TS2322', severity: 'error', message: "Type 'string'." },
  ]);
  const biome = '::error title=lint/suspicious/noDebugger,file=a.ts,line=1,endLine=1,col=1,endColumn=10::No debugger.';
  assert.deepEqual(linters.biome.read(`x\n${biome}\n`), [
    {
      file: 'a.ts',
      line: 1,
      column: 1,
      rule: 'lint/suspicious/noDebugger',
      severity: 'error',
      message: 'No debugger.',
    },
  ]);
  for (const name of ['oxlint', 'eslint', 'ruff'] as const) assert.throws(() => linters[name].read('Oops'), name);
});

test('reports of test runners are read, also broken ones', () => {
  const pytest = `<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="2">
    <testcase classname="tests.test_a" name="test_ok[a&gt;b]" time="0.5" />
    <testcase classname="tests.test_a" name="test_bad" time="1.25"><failure message="assert 1 == 2">def test_bad():
&gt;   assert 1 == 2</failure></testcase></testsuite></testsuites>`;
  assert.deepEqual(readJunit(pytest), [
    { name: 'test_ok[a>b]', suite: 'tests.test_a', status: 'passed', duration_ms: 500 },
    {
      ...{ name: 'test_bad', suite: 'tests.test_a', status: 'failed', duration_ms: 1250 },
      message: 'def test_bad():\n>   assert 1 == 2',
    },
  ]);
  assert.deepEqual(readJunit('<testsuites></testsuites>'), []);
  assert.equal(readJunit('nothing'), undefined);
  assert.deepEqual(readJunit('<testsuite><testcase name="a'), []);
  assert.deepEqual(readJunit('<testsuite><testcase name="a"><failure'), []);
  const jest = {
    testResults: [
      {
        name: '/p/a.test.js',
        assertionResults: [
          { fullName: 'sum adds', status: 'passed', duration: 3 },
          { fullName: 'sum breaks', status: 'failed', duration: null, failureMessages: ['Error: no'] },
          { fullName: 'sum waits', status: 'pending' },
        ],
      },
    ],
  };
  assert.deepEqual(testRunners.jest.read(JSON.stringify(jest)), [
    { name: 'sum adds', file: '/p/a.test.js', status: 'passed', duration_ms: 3 },
    { name: 'sum breaks', file: '/p/a.test.js', status: 'failed', message: 'Error: no' },
    { name: 'sum waits', file: '/p/a.test.js', status: 'skipped' },
  ]);
  assert.equal(testRunners.jest.read('{'), undefined);
  assert.equal(testRunners.unittest.read('Traceback'), undefined);
});
