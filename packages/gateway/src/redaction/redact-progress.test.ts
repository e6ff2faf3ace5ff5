import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from './redact.ts';
import type { Progress } from '../call/tool.ts';
import { redactProgress } from './redact-progress.ts';

const secret = 'correct-horse-battery-staple';

function hear(tell: (progress: ReturnType<typeof redactProgress>) => void): Progress[] {
  const heard: Progress[] = [];
  const progress = redactProgress((each) => heard.push(each), new Redactor([secret]));
  tell(progress);
  return heard;
}

test('a secret in what a program writes is not passed on, wherever the pieces are cut', () => {
  for (let at = 1; at < secret.length; at++) {
    const heard = hear(({ tell, end }) => {
      tell({ kind: 'stderr', text: `key ${secret.slice(0, at)}` });
      tell({ kind: 'stderr', text: `${secret.slice(at)} used\nnext` });
      end();
    });
    const text = heard.map((each) => (each.kind === 'stderr' ? each.text : '')).join('');
    assert.doesNotMatch(text, /horse|staple/);
    assert.match(text, / used\nnext$/);
  }
});

test('whole lines go on at once; the rest waits for its end, but not without bound', () => {
  const heard = hear(({ tell }) => {
    tell({ kind: 'stderr', text: 'one\ntwo' });
    for (let at = 0; at < 40; at++) tell({ kind: 'stderr', text: 'x'.repeat(50_000) });
  });
  assert.deepEqual(heard[0], { kind: 'stderr', text: 'one\n' });
  const rest = heard.slice(1).map((each) => (each.kind === 'stderr' ? each.text.length : 0));
  assert.ok(rest.length > 0 && rest.reduce((sum, length) => sum + length, 0) >= 1_000_000);
});

test('neither lines nor single characters let go of the beginning of a secret', () => {
  requirement('AUD-4');
  const lines = ['the first line of words', 'and a second one', 'then the third and last'].join('\n');
  const key = [
    '-----BEGIN RSA PRIVATE KEY-----',
    ...Array.from({ length: 4 }, () => 'kJ83hs0YqLm2PzXw9BnR'),
    '-----END RSA PRIVATE KEY-----',
  ];
  for (const text of [lines, key.join('\n')]) {
    const heard: Progress[] = [];
    const { tell, end } = redactProgress((each) => heard.push(each), new Redactor([lines]));
    for (const character of `it is\n${text}\nnow\n`) tell({ kind: 'stderr', text: character });
    end();
    const said = heard.map((each) => (each.kind === 'stderr' ? each.text : '')).join('');
    assert.match(said, /^it is\n(?:-----BEGIN RSA PRIVATE KEY-----)?\[redacted\][-A-Z ]*\nnow\n$/);
  }
});

test('a program that writes one character at a time costs no more than one that does not', () => {
  const startedAtMs = performance.now();
  hear(({ tell }) => {
    tell({ kind: 'stderr', text: '-----BEGIN RSA PRIVATE KEY-----\n' });
    for (let at = 0; at < 200_000; at++) tell({ kind: 'stderr', text: '\n' });
  });
  // Looking at all of it each time would take hours.
  assert.ok(performance.now() - startedAtMs < 20_000);
});

test('the words of a step are redacted too', () => {
  const heard = hear(({ tell }) => tell({ kind: 'step', done: 1, total: 2, message: `with ${secret}` }));
  assert.equal(heard.length, 1);
  assert.doesNotMatch(JSON.stringify(heard), /horse/);
});
