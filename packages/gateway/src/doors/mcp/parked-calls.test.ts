import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../call/answer.ts';
import type { CallerQuestion } from '../../call/tool.ts';
import { ParkedCalls } from './parked-calls.ts';
import type { AskedBack, ParkedRun } from './parked-calls.ts';

const never = new AbortController().signal;
const key = { owner: 'mine', callName: 'call', signal: never };
const answers = (): boolean => true;
const accepted = { action: 'accept', content: { colour: 'green' } };

function ask(message: string): CallerQuestion {
  return { method: 'elicitation/create', params: { message } };
}

function asked(next: Answer | AskedBack | undefined): AskedBack {
  assert.ok(next !== undefined && 'questions' in next, 'the call has a question');
  return next;
}

/** Ends with what it was answered. */
function asking(...messages: readonly string[]) {
  return async ({ askCaller }: ParkedRun): Promise<Answer> => {
    const said = await Promise.all(messages.map((message) => askCaller(ask(message), never)));
    return { said } as unknown as Answer;
  };
}

test('a call goes on with what the next request brings, and every state is good once', async () => {
  const parked = new ParkedCalls();
  const { state, questions } = asked(await parked.run(asking('Which?'), { ...key, answers }));
  assert.deepEqual(Object.values(questions), [ask('Which?')]);
  const [name = ''] = Object.keys(questions);
  assert.deepEqual(await parked.resume(state, { [name]: accepted }, key), { said: [accepted] });
  assert.equal(parked.resume(state, { [name]: accepted }, key), undefined);
});

test('what is not answered is asked again, and what is no answer counts as none', async () => {
  const parked = new ParkedCalls();
  const first = asked(await parked.run(asking('One?', 'Two?'), { ...key, answers }));
  assert.equal(Object.keys(first.questions).length, 2);
  const second = asked(await parked.resume(first.state, { 1: accepted }, key));
  assert.deepEqual(second.questions, { 2: ask('Two?') });
  const third = asked(await parked.resume(second.state, { constructor: accepted, 7: accepted }, key));
  assert.deepEqual(await parked.resume(third.state, { 2: { action: 'obey' } }, key), { said: [accepted, undefined] });
});

test('nobody goes on with the call of another session, or with other arguments', async () => {
  const parked = new ParkedCalls();
  const { state } = asked(await parked.run(asking('Which?'), { ...key, answers }));
  assert.equal(parked.resume(state, { 1: accepted }, { ...key, owner: 'theirs' }), undefined);
  assert.equal(parked.resume(state, { 1: accepted }, { ...key, callName: 'other' }), undefined);
  assert.equal(parked.resume('call:guess', { 1: accepted }, key), undefined);
  assert.deepEqual(await parked.resume(state, { 1: accepted }, key), { said: [accepted] });
});

test('a client that cannot answer is not asked, and one that goes away ends its call', async () => {
  const parked = new ParkedCalls();
  const run = parked.run(asking('Which?'), { ...key, answers: () => false });
  assert.deepEqual(await run, { said: [undefined] });
  const leaving = new AbortController();
  const ended = Promise.withResolvers<Answer>();
  const waiting = parked.run(
    ({ signal }) => {
      signal.addEventListener('abort', () => ended.resolve({ reason: signal.reason } as unknown as Answer));
      return ended.promise;
    },
    { ...key, answers, signal: leaving.signal },
  );
  leaving.abort('gone');
  assert.deepEqual(await waiting, { reason: 'gone' });
});

test('a session cannot have any number of calls that wait for it', async () => {
  const parked = new ParkedCalls();
  for (let call = 0; call < 16; call++) asked(await parked.run(asking('Which?'), { ...key, answers }));
  assert.deepEqual(await parked.run(asking('Which?'), { ...key, answers }), { said: [undefined] });
  asked(await parked.run(asking('Which?'), { ...key, owner: 'another', answers }));
});
