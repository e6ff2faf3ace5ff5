import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readForm } from './arguments-form.ts';

const effectOf = (json: string): string => `arguments: ${json}\ngiven to the program: node\nWhat it does is not known.`;

describe('arguments as a form', () => {
  it('take the place of the line that says the same, in any order', () => {
    const form = readForm(effectOf('{"a":1,"b":["x"]}'), '{"b":["x"],"a":1}', false);
    assert.deepEqual(form?.value, { a: 1, b: ['x'] });
    assert.equal(form.rest, 'given to the program: node\nWhat it does is not known.');
  });

  it('leave the line where a form would say less, or something else', () => {
    const json = '{"a":1}';
    assert.equal(readForm(effectOf(json), json, true), undefined);
    assert.equal(readForm(effectOf(json), '{"a":2}', false), undefined);
    assert.equal(readForm(effectOf('{"a":1'), json, false), undefined);
    assert.equal(readForm(effectOf('[1]'), '[1]', false), undefined);
    assert.equal(readForm('sends: GET https://a.example', json, false), undefined);
    const long = JSON.stringify({ a: 'x'.repeat(601) });
    assert.equal(readForm(effectOf(long), long, false), undefined);
    const tall = JSON.stringify({ a: 'x\n'.repeat(20) });
    assert.equal(readForm(effectOf(tall), tall, false), undefined);
  });
});
