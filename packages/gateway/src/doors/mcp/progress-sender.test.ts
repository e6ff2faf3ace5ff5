import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgressSender } from './progress-sender.ts';
import { ownText } from '../../call/redacted.ts';

interface Sent {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

function newSender(isBehind = false): { readonly sender: ProgressSender; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const notify = ({ params }: { readonly params?: unknown }): Promise<void> =>
    Promise.resolve(void sent.push(params as Sent));
  const sender = new ProgressSender(notify, 'token', () => isBehind);
  return { sender, sent };
}

test('the first news go out at once, and what follows is put together', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { sender, sent } = newSender();
  for (let done = 0; done < 50; done++)
    sender.tell({ kind: 'step', done, total: 50, message: ownText(`step ${done}`) });
  t.mock.timers.tick(100);
  sender.end();
  assert.deepEqual(sent, [
    { progressToken: 'token', progress: 0, total: 50, message: 'step 0' },
    { progressToken: 'token', progress: 49, total: 50, message: 'step 49' },
  ]);
});

test('the number rises with every message, also when the tool counts back or says only words', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { sender, sent } = newSender();
  const news = [5, 5, 3].map((done) => ({ kind: 'step', done, message: ownText('') }) as const);
  for (const each of [...news, { kind: 'stderr', text: ownText('words') } as const]) {
    sender.tell(each);
    t.mock.timers.tick(100);
  }
  const numbers = sent.map(({ progress }) => progress);
  assert.equal(numbers.length, 4);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  assert.equal(sent.at(-1)?.message, 'words');
});

test('a reader that is behind is sent nothing, and the latest once it has caught up', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isBehind = true;
  const sent: Sent[] = [];
  const notify = ({ params }: { readonly params?: unknown }): Promise<void> =>
    Promise.resolve(void sent.push(params as Sent));
  const sender = new ProgressSender(notify, 1, () => isBehind);
  for (let at = 0; at < 1000; at++) sender.tell({ kind: 'stderr', text: ownText('x'.repeat(1000)) });
  t.mock.timers.tick(1000);
  assert.equal(sent.length, 0);
  isBehind = false;
  t.mock.timers.tick(100);
  assert.equal(sent.length, 1);
  assert.ok((sent[0]?.message?.length ?? 0) <= 4096, 'and no more of it than a message takes');
});

test('after the end nothing is sent', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { sender, sent } = newSender();
  sender.tell({ kind: 'step', done: 1, message: ownText('') });
  sender.tell({ kind: 'step', done: 2, message: ownText('') });
  sender.end();
  sender.tell({ kind: 'step', done: 3, message: ownText('') });
  t.mock.timers.tick(1000);
  assert.equal(sent.length, 1);
});
