import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalTask, Plan } from '../call/approval.ts';
import type { Session } from '../call/session.ts';
import { ApprovalWatch, PlanWatch } from './approval-watch.ts';
import { mostOfOne, stepSubject, UnmaskedSecrets } from './unmasked-secrets.ts';

const later = (): number => Date.now() + 60_000;

test('values are there until they are forgotten, and no longer than the request waits', () => {
  const unmasked = new UnmaskedSecrets(new ApprovalWatch(), new PlanWatch());
  unmasked.keep('a', ['one', 'two'], later());
  unmasked.keep('late', ['three'], Date.now() - 1);
  assert.deepEqual(unmasked.find('a'), ['one', 'two']);
  assert.equal(unmasked.find('late'), undefined);
  unmasked.forget('a');
  assert.equal(unmasked.find('a'), undefined);
});

test('what would take too much memory is not kept, and what ended makes room', () => {
  const unmasked = new UnmaskedSecrets(new ApprovalWatch(), new PlanWatch());
  const large = 'x'.repeat(mostOfOne);
  unmasked.keep('too large', [large, 'x'], later());
  assert.equal(unmasked.find('too large'), undefined);
  for (let at = 0; at < 5; at++) unmasked.keep(`${at}`, [large], later());
  assert.deepEqual([unmasked.find('3')?.length, unmasked.find('4')], [1, undefined]);
  assert.deepEqual([unmasked.hasRoom(1), unmasked.hasRoom(mostOfOne, '2'), unmasked.hasRoom(0)], [false, true, true]);
  unmasked.forget('0');
  unmasked.keep('4', [large], later());
  assert.equal(unmasked.find('4')?.length, 1);
});

test('who has looked at a value is known until it is another one', () => {
  const unmasked = new UnmaskedSecrets(new ApprovalWatch(), new PlanWatch());
  const [olga, agent] = [
    { principal: 'operator', agent: 'olga' },
    { principal: 'agent', agent: 'olga' },
  ] as unknown as [Session, Session];
  unmasked.keep('a', ['one', 'two'], later());
  unmasked.noteShown('a', 1, olga);
  const shown = () => [0, 1].map((at) => unmasked.wasShown('a', at, olga));
  assert.deepEqual(shown(), [false, true]);
  assert.equal(unmasked.wasShown('a', 1, agent), false);
  unmasked.keep('a', ['one', 'two'], later());
  assert.deepEqual(shown(), [false, true]);
  unmasked.keep('a', ['one', 'three'], later());
  assert.deepEqual(shown(), [false, false]);
});

test('values are gone with the decision, and when the time to decide is over', () => {
  const [watch, plans] = [new ApprovalWatch(), new PlanWatch()];
  const unmasked = new UnmaskedSecrets(watch, plans);
  const subjects = ['a', 'b', stepSubject('p', 0), stepSubject('p', 1), stepSubject('q', 0)];
  for (const subject of subjects) unmasked.keep(subject, ['one'], later());
  const kept = () => subjects.filter((subject) => unmasked.find(subject) !== undefined);
  const task = (id: string) => ({ id }) as ApprovalTask;
  const plan = (id: string) => ({ id, steps: [{}, {}] }) as unknown as Plan;
  watch.tell({ kind: 'pending', task: task('a') });
  watch.tell({ kind: 'reminder', task: task('a') });
  plans.tell({ kind: 'pending', plan: plan('p') });
  assert.deepEqual(kept(), subjects);
  watch.tell({ kind: 'decided', task: task('a') });
  plans.tell({ kind: 'expired', plan: plan('p') });
  assert.deepEqual(kept(), ['b', stepSubject('q', 0)]);
  watch.tell({ kind: 'expired', task: task('b') });
  plans.tell({ kind: 'decided', plan: plan('q') });
  assert.deepEqual(kept(), []);
});
