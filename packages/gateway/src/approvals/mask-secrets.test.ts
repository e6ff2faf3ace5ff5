import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../audit/redact.ts';
import { markOf, maskSecrets } from './mask-secrets.ts';

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
    { number: 1, characters: 16, name: 'GITHUB_TOKEN' },
    { number: 2, characters: 16 },
  ]);
  assert.deepEqual(values, secrets);
});

test('what a caller wrote to look like a mark is none: no mark stands anywhere but in the place of its secret', () => {
  requirement('APPR-2');
  const forged = fc.constantFrom(
    '[secret 1:',
    '[secret 1: 16 characters]',
    '[secret 2: x]',
    '[secret 1: GITHUB_TOKEN, ',
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
