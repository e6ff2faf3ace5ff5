import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanTexts } from './clean-texts.ts';
import { Redactor } from './redact.ts';

test('what was clean is looked at again once another secret is known', () => {
  const redactor = new Redactor(['first-secret-7f3a']);
  const text = 'the value is correct-horse-9b1d';
  assert.equal(redactor.redactText(text), text);
  assert.equal(redactor.redactText(text), text);
  redactor.learn('correct-horse-9b1d');
  assert.equal(redactor.redactText(text), 'the value is [redacted]');
});

test('texts that come again and again are kept while others pass through', () => {
  const texts = new CleanTexts();
  texts.add('often');
  for (let n = 0; n < 10_000; n++) {
    texts.add(`once ${n}`);
    if (n % 500 === 0) assert.ok(texts.has('often'));
  }
  assert.ok(texts.has('often'));
  assert.ok(!texts.has('once 0'));
});

test('a long text is not kept', () => {
  const texts = new CleanTexts();
  const long = 'x'.repeat(257);
  texts.add(long);
  assert.ok(!texts.has(long));
});
