import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkTo, parseRoute } from './use-route.ts';

describe('the place in the console', () => {
  it('is what a link says', () => {
    assert.deepEqual(parseRoute(linkTo('calls', '01a1/e2')), { page: 'calls', part: '01a1/e2', query: '' });
    assert.deepEqual(parseRoute(linkTo('tools')), { page: 'tools', part: '', query: '' });
    const query = 'agent:scout path:"a?b/c" 100%';
    assert.deepEqual(parseRoute(linkTo('calls', '', query)), { page: 'calls', part: '', query });
    assert.equal(parseRoute('#/usage/day').page, 'activity');
  });

  it('is home without one, and nowhere for an address that is not one', () => {
    for (const hash of ['', '#', '#/']) assert.equal(parseRoute(hash).page, 'home', hash);
    for (const hash of ['#/nowhere', '#/__proto__/x', '#/%E0%A4%A', '#/constructor']) {
      assert.equal(parseRoute(hash).page, undefined, hash);
    }
    assert.deepEqual(parseRoute('#/calls/%E0%A4%A'), { page: 'calls', part: '', query: '' });
  });
});
