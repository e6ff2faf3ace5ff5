import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../audit/redact.ts';
import type { Progress } from '../model/tool.ts';
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
    tell({ kind: 'stderr', text: 'x'.repeat(10_000) });
  });
  assert.deepEqual(heard, [
    { kind: 'stderr', text: 'one\n' },
    { kind: 'stderr', text: `two${'x'.repeat(10_000)}` },
  ]);
});

test('the words of a step are redacted too', () => {
  const heard = hear(({ tell }) => tell({ kind: 'step', done: 1, total: 2, message: `with ${secret}` }));
  assert.equal(heard.length, 1);
  assert.doesNotMatch(JSON.stringify(heard), /horse/);
});
