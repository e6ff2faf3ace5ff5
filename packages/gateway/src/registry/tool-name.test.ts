import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseToolFileName } from './tool-name.ts';

test('the name of a file says the name of the tool, and its version if it has one', () => {
  assert.deepEqual(parseToolFileName('count'), { name: 'count' });
  assert.deepEqual(parseToolFileName('text.count.py'), { name: 'text.count' });
  assert.deepEqual(parseToolFileName('text.count@1.2.0'), { name: 'text.count', version: '1.2.0' });
  assert.deepEqual(parseToolFileName('text.count@1.2.0-rc.1.ts'), { name: 'text.count', version: '1.2.0-rc.1' });
  assert.deepEqual(parseToolFileName('http-probe_2.sh'), { name: 'http-probe_2' });
});

test('what is not the name of a tool is refused, however it is spelled', () => {
  for (const file of [
    '',
    '.hidden',
    'Count',
    'a b',
    'a..b',
    'a.1b',
    '1a',
    'a@',
    'a@1@2',
    'a@-1',
    'a@1/2',
    '../a',
    'a/b',
    'a\n',
    'ä',
    'a'.repeat(65),
    `a@${'1'.repeat(65)}`,
    'README.md',
    'a\u0000',
  ]) {
    assert.equal(parseToolFileName(file), undefined, JSON.stringify(file));
  }
});
