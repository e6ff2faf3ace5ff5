import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { integer, object, string } from './schema.ts';
import { answerProcess } from './serve-tool.ts';
import { defineTool, ToolError } from './tool.ts';

const half = defineTool({
  name: 'number.half',
  version: '1.0.0',
  description: 'Halves a number.',
  input: object({ number: integer({ description: 'An even one', minimum: 2 }), unit: string({ default: 'm' }) }),
  output: object({ half: integer() }),
  run: ({ number }) => {
    if (number === 13) throw new RangeError('oops');
    if (number % 2 === 1) throw new ToolError('The number is odd.');
    return { half: number === 4 ? 2.5 : number / 2 };
  },
});

async function run(input: string | Uint8Array, ...args: string[]) {
  let [out, err] = ['', ''];
  const exitCode = await answerProcess(half, {
    args,
    stdin: Readable.from([Buffer.from(input)]),
    writeOutput: async (text) => void (out += text),
    writeError: async (text) => void (err += text),
  });
  return { exitCode, out, err };
}

test('one JSON object in, one out, exit code 0', async () => {
  assert.deepEqual(await run('{"number": 8}'), { exitCode: 0, out: '{"half":4}\n', err: '' });
  assert.deepEqual(await run('\ufeff {"number":8}\n'), { exitCode: 0, out: '{"half":4}\n', err: '' });
});

test('--schema prints the definition on one line', async () => {
  const { exitCode, out, err } = await run('', '--schema');
  assert.deepEqual([exitCode, err], [0, '']);
  assert.match(out, /^\{.*\}\n$/);
  assert.deepEqual(JSON.parse(out), half.schema);
});

test('--help explains the input, with an example that works', async () => {
  const { exitCode, out } = await run('', '--help');
  assert.equal(exitCode, 0);
  assert.match(out, /number: integer +An even one\n +unit: string, "m" if absent\n/);
  const example = /echo '(.*)' \| number\.half/.exec(out)?.[1] ?? '';
  assert.deepEqual(await run(example), { exitCode: 0, out: '{"half":1}\n', err: '' });
});

test('what the caller did wrong is exit code 2', async () => {
  const wrong: [string | Uint8Array, RegExp][] = [
    ['', /number is required/],
    ['{', /not JSON/],
    ['[]', /one JSON object/],
    ['{"number": "8"}', /number must be integer/],
    ['{"number": 8, "half": 1}', /half is not known; use number, unit/],
    [Uint8Array.of(0x22, 0xff, 0x22), /not UTF-8/],
  ];
  for (const [input, message] of wrong) {
    const { exitCode, out, err } = await run(input);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(err, message);
  }
  const { exitCode, err } = await run('', '--what', 'x');
  assert.equal(exitCode, 2);
  assert.match(err, /^number\.half does not know --what x\.\n\nnumber\.half 1\.0\.0\n/);
});

test('a ToolError is exit code 3 with its message alone; anything else is a defect, with the place', async () => {
  assert.deepEqual(await run('{"number": 7}'), { exitCode: 3, out: '', err: 'The number is odd.\n' });
  const crashed = await run('{"number": 13}');
  assert.deepEqual([crashed.exitCode, crashed.out], [1, '']);
  assert.match(crashed.err, /^Unexpected: RangeError: oops\n +at .*serve-tool\.test\.ts/);
  const broken = await run('{"number": 4}');
  assert.deepEqual([broken.exitCode, broken.out], [1, '']);
  assert.match(broken.err, /output\.half must be integer/);
});
