import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancellation, follow } from './cancellation.ts';

test('a signal that is asked for before or after the end says that it ended, and why', () => {
  const cancellation = new Cancellation();
  const early = cancellation.signal;
  const heard: string[] = [];
  const leave = (): void => void heard.push('left');
  cancellation.addEventListener('abort', () => heard.push('told'));
  cancellation.addEventListener('abort', leave);
  cancellation.removeEventListener('abort', leave);
  cancellation.abort('enough');
  cancellation.abort('again');
  assert.deepEqual([early.aborted, early.reason, cancellation.reason], [true, 'enough', 'enough']);
  assert.deepEqual(heard, ['told']);

  const late = new Cancellation();
  late.abort('over');
  assert.deepEqual([late.aborted, late.signal.aborted, late.signal.reason], [true, true, 'over']);
});

test('one that follows a signal ends with it, also when that has ended already', () => {
  const controller = new AbortController();
  const following = follow(controller.signal);
  assert.equal(following.aborted, false);
  controller.abort('gone');
  assert.deepEqual([following.aborted, following.reason], [true, 'gone']);
  assert.equal(follow(controller.signal).reason, 'gone');
});
