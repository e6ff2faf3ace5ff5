import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerReader } from './answer-reader.ts';
import type { AnswerState } from './answer-reader.ts';

/** Gives the reader what `write` makes of its sign, in pieces of each size, and expects the same every time. */
function read(write: (sign: string) => string): { readonly state: AnswerState; readonly passed: string } {
  const results = [1, 2, 7, 64, 1 << 20].map((size) => {
    const reader = new AnswerReader();
    const bytes = Buffer.from(write(reader.sign));
    const passed: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size)
      passed.push(Buffer.from(reader.take(bytes.subarray(at, at + size))));
    const { state } = reader;
    reader.finish();
    return {
      state,
      ended: reader.state,
      passed: state === 'spoiled' ? '' : Buffer.concat(passed).toString().replace(reader.sign, 'SIGN'),
    };
  });
  for (const result of results) assert.deepEqual(result, results[0]);
  const [{ state, ended, passed } = assert.fail()] = results;
  assert.equal(ended, state === 'begun' ? 'spoiled' : state);
  return { state, passed };
}

test('an answer is complete with its last byte', () => {
  assert.deepEqual(
    read((sign) => `\u001e${sign} 10\n{"a":"ü"}`),
    { state: 'complete', passed: '{"a":"ü"}' },
  );
  assert.deepEqual(
    read((sign) => `\u001e${sign} 0\n`),
    { state: 'complete', passed: '' },
  );
  assert.equal(read((sign) => `\u001e${sign} 3\nab`).state, 'begun');
  assert.equal(read((sign) => `\u001e${sign}`).state, 'begun');
});

test('what does not begin like an answer is plain output, whatever comes later', () => {
  for (const text of ['{}', ' ', '\n\u001e'])
    assert.deepEqual(
      read(() => text),
      { state: 'plain', passed: text },
    );
  assert.equal(read((sign) => `x\u001e${sign} 1\na`).state, 'plain');
  assert.equal(read(() => '').state, 'none');
});

test('a second answer, a longer one, a sign of another or a broken head spoil it', () => {
  const spoiled: readonly ((sign: string) => string)[] = [
    (sign) => `\u001e${sign} 1\na\u001e${sign} 1\nb`,
    (sign) => `\u001e${sign} 1\na\n`,
    (sign) => `\u001e${sign} 0\n\n`,
    () => `\u001e${'0'.repeat(32)} 1\na`,
    (sign) => `\u001e${sign.toUpperCase().replaceAll(/\d/g, 'A')} 1\na`,
    (sign) => `\u001e${sign} \na`,
    (sign) => `\u001e${sign} -1\na`,
    (sign) => `\u001e${sign} 1e3\na`,
    (sign) => `\u001e${sign} 0x1\na`,
    (sign) => `\u001e${sign}  1\na`,
    (sign) => `\u001e${sign} 9999999999999\na`,
    (sign) => `\u001e${sign}1\na`,
    (sign) => `\u001e ${sign} 1\na`,
    () => '\u001e\n',
    () => `\u001e${'x'.repeat(100)}`,
  ];
  for (const write of spoiled) assert.equal(read(write).state, 'spoiled', JSON.stringify(write('SIGN')));
});

test('no two readers expect the same sign', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => new AnswerReader().sign)).size, 100);
});
