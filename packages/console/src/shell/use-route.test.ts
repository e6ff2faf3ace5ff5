import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkTo, parseRoute } from './use-route.ts';

describe('the place in the console', () => {
  it('is what a link says', () => {
    assert.deepEqual(parseRoute(linkTo('calls', '01a1/e2')), { page: 'calls', part: '01a1/e2' });
    assert.deepEqual(parseRoute(linkTo('tools')), { page: 'tools', part: '' });
  });

  it('is the inbox for everything else', () => {
    for (const hash of ['', '#', '#/nowhere', '#/__proto__/x', '#/%E0%A4%A']) {
      assert.equal(parseRoute(hash).page, 'approvals', hash);
    }
    assert.deepEqual(parseRoute('#/calls/%E0%A4%A'), { page: 'calls', part: '' });
  });
});
