import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

const file = (name: string): string => join(daemon.place.workspace, name);

test('an agent may poll: it is warned at 10, waits from 30 on, and is refused at 200, unless what it reads has changed', async () => {
  requirement('PIPE-8');
  const token = await daemon.newAgent('poller');
  writeFileSync(file('state.txt'), 'waiting');
  const read = (): Promise<Answer> => daemon.call('files.read', { path: 'state.txt' }, { token });
  for (let times = 1; times <= 29; times++) {
    const { success, warnings = [] } = await read();
    assert.ok(success !== undefined, `call ${times}`);
    assert.equal(warnings.length > 0, times >= 10, `call ${times}`);
  }
  const beganAtMs = Date.now();
  assert.match((await read()).warnings?.join() ?? '', /call 30 .* waits 1 s/);
  assert.ok(Date.now() - beganAtMs >= 900, 'the thirtieth waits');
  // Side by side, so that the waits pass together.
  const rest = await Promise.all(Array.from({ length: 169 }, read));
  assert.ok(rest.every(({ success }) => success !== undefined));
  const refused = await read();
  assert.equal(refused.denied?.rationaleCode, 'CALL_REPEATED', JSON.stringify(refused));
  assert.doesNotMatch(`${refused.denied?.message} ${refused.denied?.remedy}`, /result you have|earlier result/i);
  // Somebody else, whom the gate does not see, changes the file.
  writeFileSync(file('state.txt'), 'done');
  const fresh = await read();
  assert.match(fresh.success?.outputJson ?? JSON.stringify(fresh), /done/);
});

test('the fifth same change is refused before it runs, and any other change by the session lets it run again', async () => {
  requirement('PIPE-8');
  const token = await daemon.newAgent('writer');
  writeFileSync(file('note.txt'), 'theirs');
  const write = (path: string): Promise<Answer> => daemon.call('files.write', { path, content: 'same' }, { token });
  for (let times = 1; times <= 4; times++) assert.ok((await write('note.txt')).success !== undefined);
  writeFileSync(file('note.txt'), 'theirs');
  assert.equal((await write('note.txt')).denied?.rationaleCode, 'CALL_REPEATED');
  assert.equal(readFileSync(file('note.txt'), 'utf8'), 'theirs');
  await write('other.txt');
  assert.ok((await write('note.txt')).success !== undefined);
});

test('a read is answered after each change of the session itself, however often', async () => {
  requirement('PIPE-8');
  const token = await daemon.newAgent('editor');
  for (let times = 0; times < 12; times++) {
    const content = times % 2 === 0 ? 'even' : 'odd';
    await daemon.call('files.write', { path: 'turn.txt', content }, { token });
    const { success, warnings = [] } = await daemon.call('files.read', { path: 'turn.txt' }, { token });
    assert.match(success?.outputJson ?? '', new RegExp(content));
    assert.deepEqual(warnings, []);
  }
});

test('two sessions of one agent are counted apart', async () => {
  requirement('PIPE-8');
  const tokens = [await daemon.newAgent('twin'), await daemon.newAgent('twin')];
  for (const token of tokens) {
    for (let times = 1; times <= 9; times++) {
      const { warnings = [] } = await daemon.call('files.list', { path: '.' }, { token });
      assert.deepEqual(warnings, [], `call ${times}`);
    }
  }
});
