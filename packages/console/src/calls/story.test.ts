import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call } from '../live/call.ts';
import { groupStories } from './story.ts';

const call = (id: string, more: Partial<Call>): Call => ({
  ...{ id, startedAtMs: 0, tool: 'files.delete', agent: 'ada', principal: 'agent', outcome: 'ok', summary: '' },
  ...{ taskId: '', records: [] },
  ...more,
});
const asked = call('a', { taskId: 't', outcome: 'waiting', startedAtMs: 1 });
const decided = (verb: string): Call =>
  call('b', { taskId: 't', tool: `approvals.${verb}`, agent: 'mara', principal: 'operator', startedAtMs: 2 });
const ran = call('c', { taskId: 't', startedAtMs: 3, durationMs: 5 });

describe('stories', () => {
  it('are one row for the question, the answer and the run, in any order of arrival', () => {
    for (const calls of [
      [asked, decided('approve'), ran],
      [ran, decided('approve'), asked],
    ]) {
      const [story, ...others] = groupStories([...calls, call('x', { startedAtMs: 9 })]).toReversed();
      assert.equal(others.length, 1);
      assert.deepEqual(
        story?.steps.map(({ name, by }) => `${name} ${by}`),
        ['asked ada', 'approved mara', 'ran ada'],
      );
      assert.deepEqual([story?.outcome, story?.head.id], ['ok', 'c']);
    }
  });

  it('end with the denial, and wait as long as nobody answered', () => {
    assert.deepEqual(
      [groupStories([asked])[0]?.outcome, groupStories([asked, decided('deny')])[0]?.outcome],
      ['waiting', 'denied'],
    );
    assert.equal(groupStories([asked, decided('deny')])[0]?.told.detail, 'denied by mara');
    assert.deepEqual(groupStories([call('x', {})])[0]?.steps, []);
  });
});
