import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testTool } from '@sallyport/sdk/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { textCount } from '../../examples/tools/text-count.ts';
import { askFile, runFile } from './tool-folder.ts';

const examples = join(import.meta.dirname, '../../examples/tools');
const typescript = join(examples, 'text-count.ts');
const python = join(examples, 'csv-to-json.py');
const bash = join(examples, 'random-hex.sh');
const folder = mkdtempSync(join(tmpdir(), 'sallyport-examples-'));
const compiled = join(folder, 'number-factor');

before(() => {
  const source = join(examples, 'number-factor.c');
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', compiled, source], { stdio: 'pipe' });
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('every example prints a definition with two valid schemas', () => {
  const names = [typescript, python, bash, compiled].map((file) => {
    const { status, stdout, stderr } = runFile(file, ['--schema']);
    assert.deepEqual([status, stderr], [0, ''], file);
    const schema = JSON.parse(stdout) as Record<string, object>;
    for (const field of ['input_schema', 'output_schema']) new Ajv2020({ strict: true }).compile(schema[field] ?? {});
    assert.deepEqual([schema['risk'], schema['mutates']], ['low', false]);
    return schema['name'];
  });
  assert.deepEqual(names, ['text.count', 'csv.to_json', 'random.hex', 'number.factor']);
});

test('text.count, in TypeScript, counts what a person would count', async () => {
  assert.deepEqual(askFile(typescript, { text: 'one two\nthree 👩‍👩‍👧\n' }), { lines: 2, words: 4, characters: 16 });
  const { call } = testTool(textCount);
  assert.deepEqual(await call({ text: '' }), { lines: 0, words: 0, characters: 0 });
  assert.deepEqual(await call({ text: 'a\n\n' }), { lines: 2, words: 1, characters: 3 });
});

test('csv.to_json, in Python, reads quoted cells and names the row that is wrong', () => {
  const csv = 'name,note\nZoë,"says ""hi"",\nthen leaves"\n\n';
  const rows = [{ name: 'Zoë', note: 'says "hi",\nthen leaves' }];
  assert.deepEqual(askFile(python, { csv }), { rows });
  assert.deepEqual(askFile(python, { csv: 'a;b\n1;2', delimiter: ';' }), { rows: [{ a: '1', b: '2' }] });
  assert.deepEqual(askFile(python, { csv: '' }), { rows: [] });
  const failed = runFile(python, [], JSON.stringify({ csv: 'a,b\n1,2\n3\n' }));
  assert.deepEqual([failed.status, failed.stdout], [1, '']);
  assert.match(failed.stderr, /row 3 has 1 cells, the header has 2/);
});

test('random.hex, in Bash, gives as many bytes as asked, others each time', () => {
  const ask = (input: object): string => (askFile(bash, input) as { hex: string }).hex;
  assert.match(ask({}), /^[0-9a-f]{32}$/);
  assert.match(ask({ bytes: 100 }), /^[0-9a-f]{200}$/);
  assert.notEqual(ask({ bytes: 16 }), ask({ bytes: 16 }));
  assert.deepEqual(runFile(bash, [], '{"bytes":2000}'), {
    status: 2,
    stdout: '',
    stderr: 'bytes must be between 1 and 1024.\n',
  });
});

test('number.factor, in C, finds the primes', () => {
  assert.deepEqual(askFile(compiled, { number: 360 }), { factors: [2, 2, 2, 3, 3, 5] });
  assert.deepEqual(askFile(compiled, { number: 9_007_199_254_740_881 }), { factors: [9_007_199_254_740_881] });
  assert.deepEqual(askFile(compiled, { number: 1 }), { factors: [] });
  assert.equal(runFile(compiled, [], '{"number":0}').status, 2);
});
