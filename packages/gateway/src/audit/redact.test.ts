import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor, secretsOfEnvironment } from './redact.ts';

test('values under telling names are taken out at any depth', () => {
  requirement('AUD-4');
  const redacted = new Redactor().redactJson({
    password: 'p1',
    nested: [{ apiKey: 'k1', 'Access-Token': 't1', client_secret: 's1', keep: 'visible' }],
    max_tokens: 5,
    path: 'notes.md',
  });
  const text = JSON.stringify(redacted);
  for (const secret of ['p1', 'k1', 't1', 's1']) assert.ok(!text.includes(secret), secret);
  assert.match(text, /visible/);
  assert.match(text, /"max_tokens":5/);
  assert.match(text, /notes\.md/);
});

test('a known secret is taken out wherever it stands, in its usual encodings too', () => {
  requirement('AUD-4');
  const secret = 'hunter2/"quoted"+value';
  const redactor = new Redactor([secret]);
  const forms = [secret, JSON.stringify(secret), encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
  for (const form of forms) {
    const text = JSON.stringify(redactor.redactJson({ note: `before ${form} after`, [`key ${form}`]: 1 }));
    assert.ok(!text.includes('hunter2') && !text.includes(Buffer.from(secret).toString('base64')), form);
    assert.match(text, /before .*after/);
  }
});

test('a secret that contains another one leaves no part of itself behind', () => {
  const redactor = new Redactor(['secret-part', 'secret-part-and-more']);
  assert.equal(redactor.redactText('x secret-part-and-more y'), 'x [redacted] y');
});

test('long texts and lists are cut with a note of their size', () => {
  const redacted = new Redactor().redactJson({ text: 'x'.repeat(5000), list: Array.from({ length: 80 }, (_, n) => n) });
  const text = JSON.stringify(redacted);
  assert.match(text, /\[5000 characters\]/);
  assert.match(text, /\[30 more\]/);
  assert.ok(text.length < 2000);
});

test('what is too short to be a secret does not blank ordinary text', () => {
  assert.equal(new Redactor(['a', '']).redactText('a banana'), 'a banana');
});

test('secrets are found in the environment by the names of variables', () => {
  const found = secretsOfEnvironment({
    GITHUB_TOKEN: 'value-one',
    AWS_SECRET_ACCESS_KEY: 'value-two',
    PATH: '/bin',
    TOKENIZER: 'x',
  });
  assert.deepEqual(found, ['value-one', 'value-two']);
});
