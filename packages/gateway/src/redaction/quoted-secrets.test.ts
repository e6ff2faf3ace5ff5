import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { redactQuotes } from './quoted-secrets.ts';
import { Redactor } from './redact.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
const [, line = ''] = key.split('\n');
/** What stands between slashes and signs is told apart. */
const [piece = ''] = /[A-Za-z0-9]{8,}/.exec(line) ?? [];

test('a text that quotes one line of a key shows nothing of it', () => {
  requirement('AUD-4');
  const redactor = new Redactor();
  const message = `${JSON.stringify(line)} is not a program in /usr/bin or /bin.`;
  assert.ok(redactor.redactText(message).includes(piece), 'the line alone looks like nothing');
  for (const input of [JSON.stringify({ command: `true\n${key}` }), JSON.stringify({ [key]: [1, null] }), key]) {
    const shown = redactQuotes(input, redactor)(message);
    assert.ok(!shown.includes(piece), shown);
    assert.match(shown, /^"\[redacted\].* is not a program in \/usr\/bin or \/bin\.$/);
  }
});

test('a text about a call without secrets stays as it is', () => {
  const text = 'No rule lets this agent read /etc/passwords.';
  assert.equal(redactQuotes(JSON.stringify({ path: '/etc/passwords' }), new Redactor())(text), text);
  assert.equal(redactQuotes(undefined, new Redactor())(text), text);
});

test('what is a secret as a whole is one mark, not one for each of its words', () => {
  const token = `sl.${'aB3dE6gH'.repeat(4)}-x_DKN5-${'q7W9e1R3'.repeat(12)}`;
  const input = JSON.stringify({ path: token });
  assert.equal(redactQuotes(input, new Redactor([token]))(`No ${token} here.`), 'No [redacted] here.');
});
