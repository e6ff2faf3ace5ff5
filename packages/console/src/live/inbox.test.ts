import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Approval, Plan } from '../daemon/messages.ts';
import { foldItems } from './fold-items.ts';
import { Inbox } from './inbox.ts';

const approval = (id: string, createdAtMs: number, more: object = {}) =>
  ({ id, createdAtMs: String(createdAtMs), ...more }) as Approval;
const idsOf = (inbox: Inbox): string[] => inbox.view.get().items.map(({ id }) => id);

function openInbox(...ids: string[]): Inbox {
  const inbox = new Inbox();
  inbox.begin();
  ids.forEach((id, at) => inbox.hear({ event: 'pending', approval: approval(id, at) }));
  inbox.settle(ids.length);
  return inbox;
}

describe('the inbox', () => {
  it('is loaded once everything pending was told', () => {
    const inbox = new Inbox();
    inbox.begin();
    assert.equal(inbox.view.get().isLoaded, false);
    inbox.settle(0);
    assert.equal(inbox.view.get().isLoaded, true);
  });

  it('puts what arrives at the end, whatever the order of the news', () => {
    const inbox = openInbox('a', 'b');
    inbox.hear({ event: 'pending', approval: approval('d', 9) });
    inbox.hear({ event: 'pending', approval: approval('c', 5) });
    inbox.hear({ event: 'pending', plan: { id: 'p', status: 'pending', createdAtMs: '7' } as Plan });
    assert.deepEqual(idsOf(inbox), ['a', 'b', 'c', 'p', 'd']);
    inbox.hear({ event: 'expired', plan: { id: 'p', status: 'expired' } as Plan });
    assert.deepEqual(idsOf(inbox), ['a', 'b', 'c', 'd']);
  });

  it('moves what was decided or ran out to the decided ones', () => {
    const inbox = openInbox('a', 'b', 'c');
    inbox.hear({ event: 'decided', approval: approval('a', 0, { status: 'approved' }) });
    inbox.hear({ event: 'expired', approval: approval('c', 2, { status: 'expired' }) });
    assert.deepEqual(idsOf(inbox), ['b']);
    assert.deepEqual(
      inbox.view.get().decided.map(({ id }) => id),
      ['c', 'a'],
    );
  });

  it('drops what was decided while nobody listened, and keeps the rest on the screen meanwhile', () => {
    const inbox = openInbox('a', 'b');
    inbox.hear({ event: 'pending', plan: { id: 'p', status: 'pending', createdAtMs: '7' } as Plan });
    inbox.begin();
    inbox.hear({ event: 'pending', approval: approval('b', 1) });
    assert.deepEqual(idsOf(inbox), ['a', 'b', 'p']);
    inbox.settle(1);
    assert.deepEqual(idsOf(inbox), ['b']);
  });

  it('knows one more run of the same request as the same item', () => {
    const inbox = openInbox('a');
    inbox.hear({ event: 'pending', approval: approval('a', 0, { wanted: 2 }) });
    const [item] = inbox.view.get().items;
    assert.equal(item?.kind === 'approval' && item.approval.wanted, 2);
    assert.equal(inbox.view.get().items.length, 1);
  });

  it('knows the first of very many, counts all of them, and takes the next as pages', () => {
    const inbox = new Inbox();
    inbox.begin();
    ['a', 'b'].forEach((id, at) => inbox.hear({ event: 'pending', approval: approval(id, at) }));
    inbox.settle(5);
    const countOf = (): number => inbox.view.get().count;
    assert.deepEqual([idsOf(inbox), countOf(), inbox.next], [['a', 'b'], 5, 'b']);
    // One more comes with its page, and is counted when the daemon says so.
    inbox.hear({ event: 'pending', approval: approval('f', 9) });
    inbox.count(6);
    assert.deepEqual([idsOf(inbox), countOf()], [['a', 'b'], 6]);
    inbox.hear({ event: 'decided', approval: approval('a', 0, { status: 'denied' }) });
    assert.deepEqual([idsOf(inbox), countOf()], [['b'], 5]);
    inbox.beginPage();
    inbox.addPage({ approvals: [approval('c', 2), approval('d', 3)], more: true });
    assert.deepEqual([idsOf(inbox), countOf(), inbox.next], [['b', 'c', 'd'], 5, 'd']);
    inbox.beginPage();
    inbox.addPage({ approvals: [approval('e', 4), approval('f', 9)], more: false });
    assert.deepEqual([idsOf(inbox), countOf(), inbox.next], [['b', 'c', 'd', 'e', 'f'], 5, undefined]);
    inbox.hear({ event: 'pending', approval: approval('g', 10) });
    assert.deepEqual([idsOf(inbox).at(-1), countOf()], ['g', 6]);
  });

  it('misses nothing that happens while a page is under way', () => {
    const inbox = new Inbox();
    inbox.begin();
    inbox.hear({ event: 'pending', approval: approval('a', 0) });
    inbox.settle(3);
    inbox.beginPage();
    inbox.hear({ event: 'decided', approval: approval('b', 1, { status: 'denied' }) });
    inbox.hear({ event: 'pending', approval: approval('d', 7) });
    inbox.addPage({ approvals: [approval('b', 1), approval('c', 2)], more: false });
    assert.deepEqual([idsOf(inbox), inbox.view.get().count], [['a', 'c', 'd'], 3]);
  });

  it('takes no page that could not be read, or that belongs to a stream before this one', () => {
    const inbox = new Inbox();
    inbox.begin();
    inbox.hear({ event: 'pending', approval: approval('a', 0) });
    inbox.settle(3);
    inbox.beginPage();
    inbox.addPage(undefined);
    assert.deepEqual([idsOf(inbox), inbox.next], [['a'], 'a']);
    inbox.beginPage();
    inbox.begin();
    inbox.addPage({ approvals: [approval('b', 1)], more: false });
    assert.deepEqual(idsOf(inbox), ['a']);
  });

  it('shows a request that somebody has a link to, wherever it stands', () => {
    const inbox = new Inbox();
    inbox.begin();
    inbox.hear({ event: 'pending', approval: approval('a', 0) });
    inbox.settle(100);
    inbox.add(approval('z', 99));
    assert.deepEqual([idsOf(inbox), inbox.next, inbox.view.get().count], [['a', 'z'], 'a', 100]);
  });

  it('folds requests that differ in nothing but who asks, and never critical or masked ones', () => {
    const same = { tool: 'files.write', title: 'x', effectSha256: 'e', masked: [], hold: '', risk: 'high' };
    const inbox = openInbox();
    const hear = (id: string, at: number, more: object) =>
      inbox.hear({ event: 'pending', approval: approval(id, at, { ...same, ...more }) });
    hear('a', 0, { agent: 'ada' });
    hear('b', 1, { agent: 'bob', effectSha256: 'other' });
    hear('c', 2, { agent: 'cleo' });
    hear('d', 3, { agent: 'dan', risk: 'critical' });
    hear('e', 4, { agent: 'eve', risk: 'critical' });
    hear('f', 5, { agent: 'fay', masked: [{}] });
    const folds = foldItems(inbox.view.get().items).map((fold) => fold.map(({ id }) => id).join(''));
    assert.deepEqual(folds, ['ac', 'b', 'd', 'e', 'f']);
  });
});
