import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { credentialPatterns } from './credentials/index.ts';
import { fillIn } from './credentials/credential-example.test-kit.ts';
import { Redactor, secretsOfEnvironment } from './redact.ts';

const show = (value: Json, redactor = new Redactor()): string => JSON.stringify(redactor.redactJson(value));

test('values under telling names are taken out at any depth', () => {
  requirement('AUD-4');
  const text = show({
    password: 'p1',
    nested: [{ apiKey: 'k1', 'Access-Token': 't1', client_secret: 's1', keep: 'visible' }],
    pin_otp: 123456,
    credentials: { user: 'u1', list: ['l1'] },
    max_tokens: 5,
    path: 'notes.md',
  });
  for (const secret of ['p1', 'k1', 't1', 's1', '123456', 'u1', 'l1']) assert.ok(!text.includes(secret), secret);
  assert.match(text, /visible/);
  assert.match(text, /"max_tokens":5/);
  assert.match(text, /notes\.md/);
});

test('names and values in pairs, and options with their values, are recognised', () => {
  requirement('AUD-4');
  assert.equal(
    show([
      { name: 'DB_PASSWORD', value: 'v1' },
      { key: 'path', value: 'v2' },
    ]),
    '[{"name":"DB_PASSWORD","value":"[redacted]"},{"key":"path","value":"v2"}]',
  );
  assert.equal(
    show({ argv: ['mysql', '--password', 'swordfish', '--user', 'ada', '-token'] }),
    '{"argv":["mysql","--password","[redacted]","--user","ada","-token"]}',
  );
});

test('a known secret is taken out of values, keys and numbers', () => {
  requirement('AUD-4');
  const redactor = new Redactor(['hunter2/"quoted"+value', '20301231']);
  const text = show({ note: 'it is hunter2/"quoted"+value', 'hunter2/"quoted"+value': 1, date: 20301231 }, redactor);
  assert.equal(text, '{"note":"it is [redacted]","[redacted]":1,"date":"[redacted]"}');
});

test('what has the shape of a credential is taken out, whatever its name', () => {
  requirement('AUD-4');
  const { text, secrets } = fillIn('ghp_<alnum:36>');
  const seen = show({ note: `use ${text} today`, [text]: [text] });
  assert.ok(!secrets.some((secret) => seen.includes(secret)), seen);
  assert.match(seen, /"use \[redacted\] today"/);
});

test('plain arguments pass unchanged', () => {
  const plain = { path: 'src/main.ts', limit: 100, deep: { list: [1, 'two', null, true, -3.5e-7] }, empty: '' };
  assert.equal(show(plain), JSON.stringify(plain));
});

test('long texts and lists are cut with a note of their size', () => {
  const text = show({ text: 'x'.repeat(5000), list: Array.from({ length: 80 }, (_, n) => n) });
  assert.match(text, /\[5000 characters\]/);
  assert.match(text, /\[30 more\]/);
  assert.ok(text.length < 2000);
});

test('a secret on the border of what is kept leaves nothing of itself', () => {
  requirement('AUD-4');
  const secret = 'correct-horse-battery-staple-'.repeat(60);
  const redactor = new Redactor([secret]);
  for (const before of [10, 900, 985, 999, 1000]) {
    const { text: token } = fillIn('ghp_<alnum:36>');
    for (const value of [secret, token]) {
      const seen = show('-'.repeat(before) + value + '-'.repeat(5000), redactor);
      assert.ok(!seen.includes(value.slice(0, 8)), seen.slice(-100));
    }
  }
});

test('a value with more text than fits into a record is looked at only so far, and the rest is summed up', () => {
  requirement('NFR-4');
  const list = Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => 'password=hunter2 '.repeat(100)));
  const text = show(list);
  assert.ok(!text.includes('hunter2'));
  assert.match(text, /"\[1700 characters\]"/);
});

test('a text longer than anyone reads is cut with a note, and what is left holds no secret', () => {
  requirement('NFR-4');
  const { text: token, secrets } = fillIn('password: <alnum:24> ');
  const seen = new Redactor().redactText(token.repeat(60_000));
  assert.ok(!seen.includes(secrets[0] ?? ''));
  assert.match(seen, /… \[\d{7} characters\]$/);
});

const fragments = fc.oneof(
  fc.constantFrom(
    'password',
    '": "',
    '\\',
    '"',
    '\n',
    ' = ',
    '://',
    ':',
    '@',
    '-----',
    "'",
    '\\"',
    '%2F',
    'known-secret',
  ),
  fc.constantFrom(...credentialPatterns).map(({ match }) => fillIn(match[0] ?? '').text),
  fc.constantFrom(...credentialPatterns.flatMap(({ keywords }) => keywords)),
  fc.string({ maxLength: 12 }),
);

test('a redacted line of JSON is JSON, also when it is redacted once more', () => {
  requirement('AUD-4');
  const redactor = new Redactor(['known-secret', 'n-known-secret']);
  fc.assert(
    fc.property(fc.array(fc.array(fragments, { maxLength: 8 })), (texts) => {
      const line = JSON.stringify(texts.map((parts) => parts.join('')));
      const once = redactor.redactText(line);
      assert.ok(!once.includes('known-secret'));
      for (const text of [once, redactor.redactText(once)]) assert.ok(Array.isArray(JSON.parse(text)), text);
    }),
  );
});

test("a mark of one's own says of each secret what it is, and holds nothing of it", () => {
  const redactor = new Redactor([{ name: 'TOKEN', value: 'known-secret-1' }, 'nameless-secret-2']);
  const marked: [string, string | undefined][] = [];
  const text = redactor.markSecrets('a known-secret-1 b nameless-secret-2 c known-secret-1', (value, { name }) => {
    marked.push([value, name]);
    return `<${marked.length}>`;
  });
  assert.equal(text, 'a <1> b <2> c <3>');
  assert.deepEqual(marked, [
    ['known-secret-1', 'TOKEN'],
    ['nameless-secret-2', undefined],
    ['known-secret-1', 'TOKEN'],
  ]);
});

test('secrets are found in the environment by the names of variables, and folders are not secrets', () => {
  const found = secretsOfEnvironment({
    GITHUB_TOKEN: 'value-one',
    AWS_SECRET_ACCESS_KEY: 'value-two',
    PATH: '/bin',
    PWD: '/home/ada/project',
    OLDPWD: '/home/ada',
    TOKENIZER: 'x',
    DB_PASSWORD_FILE: '/run/secrets/db',
    GOOGLE_APPLICATION_CREDENTIALS: '/home/ada/key.json',
  });
  assert.deepEqual(found, [
    { name: 'GITHUB_TOKEN', value: 'value-one' },
    { name: 'AWS_SECRET_ACCESS_KEY', value: 'value-two' },
  ]);
});

test('people who have to see everything are shown all but what the gate holds', () => {
  requirement('AUD-4');
  const redactor = new Redactor([{ name: 'deploy', value: 'Zq7-vTx93kLmPw2RbNd8' }]);
  redactor.learn('chosen by a server elsewhere', undefined, { isForeign: true });
  const shaped = `ghp_${'a1B2'.repeat(9)}`;
  const text = `Zq7-vTx93kLmPw2RbNd8, chosen by a server elsewhere, ${shaped}`;
  assert.equal(redactor.hideHeld(text), `[redacted], chosen by a server elsewhere, ${shaped}`);
  assert.equal(redactor.redactText(text), '[redacted], [redacted], [redacted]');
  assert.deepEqual(redactor.hideHeldIn({ a: ['Zq7-vTx93kLmPw2RbNd8', 1, null], 'Zq7-vTx93kLmPw2RbNd8': true }), {
    a: ['[redacted]', 1, null],
    '[redacted]': true,
  });
  assert.equal(redactor.hideHeldInJson('{"a": 1}'), '{"a": 1}', 'what holds none stays byte for byte');
  assert.equal(redactor.hideHeldInJson('{"a": "Zq7-vTx93kLmPw2RbNd8"}'), '{"a":"[redacted]"}');
});
