import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { CredentialFinder } from '../find-credentials.ts';
import { blankSpans } from '../span.ts';
import { fillIn } from './credential-example.test-kit.ts';
import { credentialPatterns } from './index.ts';
import { provePattern } from './pattern-proof.test-kit.ts';

const longestLookInVain = 600;
const all = new CredentialFinder();

test('every pattern takes the credential out of its examples, alone and among the others', () => {
  requirement('AUD-4');
  for (const pattern of credentialPatterns) {
    const alone = new CredentialFinder([pattern]);
    assert.ok(pattern.match.length > 0, pattern.id);
    for (const template of pattern.match) {
      const { text, secrets } = fillIn(template);
      assert.ok(secrets.length > 0, `${pattern.id}: ${template} holds no secret`);
      for (const finder of [alone, all]) {
        const seen = blankSpans(text, finder.find(text));
        for (const secret of secrets) assert.ok(!seen.includes(secret), `${pattern.id}: ${secret} in ${seen}`);
      }
    }
  }
});

test('no pattern takes out what only looks a little like it', () => {
  for (const pattern of credentialPatterns) {
    const finder = new CredentialFinder([pattern]);
    assert.ok(pattern.miss.length > 0, pattern.id);
    for (const template of pattern.miss) {
      const { text } = fillIn(template);
      assert.deepEqual(finder.find(text), [], `${pattern.id}: ${text}`);
    }
  }
});

test('credentials are found in the middle of JSON, URLs, shell commands and coloured output', () => {
  requirement('AUD-4');
  const frames: ((text: string) => string)[] = [
    (text) => JSON.stringify({ log: `first\n${text}\nlast`, next: true }),
    (text) => JSON.stringify({ log: JSON.stringify({ log: `\t${text}` }) }),
    (text) => `https://example.com/?q=${encodeURIComponent(`=${text}`)}&r=1`,
    (text) => `\u001b[31m${text}\u001b[0m`,
    (text) => `run '${text}' && echo "${text}"`,
    (text) => `<!-- ${text} -->`,
  ];
  for (const pattern of credentialPatterns) {
    // Those with a form of their own; the others are known by what stands around them.
    if (pattern.pattern.includes('(?<secret>')) continue;
    for (const [at, frame] of frames.entries()) {
      const { text, secrets } = fillIn(pattern.match[0] ?? '');
      if (at === 2 && encodeURIComponent(text) !== text) continue;
      const seen = blankSpans(frame(text), all.find(frame(text)));
      for (const secret of secrets) assert.ok(!seen.includes(secret), `${pattern.id} in frame ${at}: ${seen}`);
    }
  }
});

test('there are many patterns, each with a name of its own and keywords long enough to search for', () => {
  assert.ok(credentialPatterns.length >= 100);
  assert.equal(new Set(credentialPatterns.map(({ id }) => id)).size, credentialPatterns.length);
  for (const { id, description, keywords } of credentialPatterns) {
    assert.match(id, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    assert.notEqual(description, '');
    assert.ok(keywords.length > 0 && keywords.every((keyword) => keyword.length >= 3), id);
  }
});

test('no pattern can match a text in two ways, and none looks far in vain', () => {
  requirement('NFR-4');
  for (const { id, pattern, before, apart } of credentialPatterns) {
    const { ambiguous, looked, longRuns } = provePattern(pattern);
    assert.deepEqual(ambiguous, [], id);
    assert.ok(before === undefined || /^\[[^\]]+\]\{\d+\}$/.test(before), id);
    if (looked <= longestLookInVain) continue;
    // Long runs of word characters that begin where words begin cannot overlap: each is looked at once.
    assert.ok(apart, `${id} looks at ${looked} characters in vain`);
    for (const accepts of longRuns) {
      for (const other of ' .:/"\\') assert.ok(!accepts.test(other), `${id}: ${accepts.source}`);
    }
  }
});

test('the proof finds what it is there to find', () => {
  assert.notDeepEqual(provePattern('[a-z]{1,9}[a-m]{1,9}').ambiguous, []);
  assert.notDeepEqual(provePattern('[a-z]{1,9}=?[a-m]{1,9}').ambiguous, []);
  assert.deepEqual(provePattern('[a-z]{1,9}=[a-m]{1,9}').ambiguous, []);
  assert.equal(provePattern('[a-z]{1,9}=[a-m]{3,90}').looked, 13);
  assert.equal(provePattern('[a-z]{5}(?=@)').looked, 5);
  for (const wild of ['a*', 'a+', '(?:ab){2}', '.{1,5}', 'a{2,}', '(a|b)', '(?:a|b){2}']) {
    assert.throws(() => provePattern(wild), Error, wild);
  }
});
