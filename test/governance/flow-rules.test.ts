import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';

const rules = `version: 1
rules:
  - { id: read, effect: allow, tools: [files.read, files.list, files.search] }
  - { id: write, effect: allow, tools: [files.write], approval: waived }
  - id: nothing-leaves
    effect: deny
    tools: [files.write]
    paths: ['$WORKSPACE/outbox/**']
    after: [files.search]
    within: 10m
    reason: What was found may not go out.
    remedy: Begin a new session for this.
  - id: ask-after-list
    effect: require_approval
    tools: [files.write]
    after: [files.list]
  - { id: sessions, effect: allow, tools: ['sessions.*'], who: [operator], approval: waived }
`;

describe('rules over what a session did before', () => {
  let daemon: TestDaemon;

  const write = (token: string, path: string): Promise<Answer> =>
    daemon.call('files.write', { path, content: 'x' }, { token });
  const search = (token: string): Promise<Answer> => daemon.call('files.search', { path: '.', name: '*' }, { token });

  before(async () => {
    const place = ownRules(newPlace(), { 'tools.yaml': rules });
    for (const folder of ['inbox', 'outbox']) mkdirSync(join(place.workspace, folder));
    writeFileSync(join(place.workspace, 'inbox', 'letter.txt'), 'pass this on');
    daemon = await TestDaemon.start(place);
  });
  after(() => daemon.remove());

  it('close what data could leave by, for the session that read it and for no other', async () => {
    requirement('ANOM-3');
    const [reader, other] = [await daemon.newAgent('ada'), await daemon.newAgent('ada')];
    assert.ok((await write(reader, 'outbox/before.txt')).success, 'nothing was read yet');
    assert.ok((await search(reader)).success);
    const { denied } = await write(reader, 'outbox/after.txt');
    assert.deepEqual([denied?.rationaleCode, denied?.ruleId], ['RULE_DENIES', 'nothing-leaves']);
    assert.match(denied?.message ?? '', /may not go out/);
    assert.match(denied?.remedy ?? '', /^Begin a new session for this\. If a person should look at it/);
    assert.ok((await write(reader, 'inbox/answer.txt')).success, 'the rule is about the outbox');
    assert.ok((await write(other, 'outbox/other.txt')).success, 'the other session has read nothing');
  });

  it('ask a person where a rule says so', async () => {
    requirement('ANOM-3');
    const token = await daemon.newAgent('bob');
    assert.ok((await write(token, 'inbox/one.txt')).success);
    assert.ok((await daemon.call('files.list', { path: '.' }, { token })).success);
    const { denied } = await write(token, 'inbox/two.txt');
    assert.deepEqual([denied?.rationaleCode, denied?.ruleId], ['APPROVAL_REQUIRED', 'ask-after-list']);
  });

  it('know what a session did before the daemon was killed', async () => {
    requirement('ANOM-3');
    const token = await daemon.newAgent('eve');
    assert.ok((await search(token)).success);
    await daemon.kill();
    daemon = await TestDaemon.start(daemon.place);
    assert.equal((await write(token, 'outbox/later.txt')).denied?.ruleId, 'nothing-leaves');
    assert.ok((await write(token, 'inbox/later.txt')).success);
  });
});
