import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

/** A folder that somebody wrote without thinking of the way back. */
const rules = `rules:
  - { id: read, effect: allow, tools: [files.read] }
  - { id: freeze, effect: deny, tools: ['*'], modes: [LOCKDOWN, RECOVERY] }
`;

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), { 'tools.yaml': rules }));
});
after(() => daemon.remove());

test('an operator comes out of LOCKDOWN under rules that close everything, asked first; an agent does not', async () => {
  const agent = await daemon.newAgent('ada');
  const change = (mode: string, more = {}) => daemon.call('mode.set', { mode, cause: 'a test' }, more);
  assert.ok((await change('LOCKDOWN')).success);
  assert.equal((await change('RECOVERY', { token: agent })).denied?.rationaleCode, 'UNKNOWN_TOOL');
  for (const mode of ['RECOVERY', 'NORMAL']) {
    const asked = await change(mode);
    assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(asked));
    assert.equal(asked.denied?.ruleId, 'operator-leaves-lockdown');
    assert.ok((await change(mode, { confirmBinding: asked.denied?.approval?.binding ?? '' })).success);
  }
  assert.equal((await daemon.status())['mode'], 'NORMAL');
});
