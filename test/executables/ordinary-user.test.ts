import assert from 'node:assert/strict';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';

/** A number that nobody has, so that there is no entry in /etc/passwd and no control group either. */
const uid = 54_321;
const skip = process.getuid?.() === 0 ? false : 'only root can become somebody else';
let daemon: TestDaemon;

const rules = `version: 1
rules:
  - { id: look, effect: allow, tools: [shell.run], commands: ['ls *', 'sleep *'], approval: waived, grants: { read: [$WORKSPACE] } }
  - { id: count, effect: allow, tools: [shell.run], commands: ['wc *'], approval: waived, grants: { read: [$WORKSPACE], exact_limits: true } }
`;

before(async () => {
  if (skip !== false) return;
  const place = newPlace();
  mkdirSync(join(place.home, 'governance'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'governance/tools.yaml'), rules);
  writeFileSync(join(place.workspace, 'a.txt'), 'hi');
  for (const path of [place.folder, place.home, join(place.home, 'governance'), place.workspace])
    chownSync(path, uid, uid);
  daemon = await TestDaemon.start(place, {}, { uid });
});
after(() => (skip === false ? daemon.remove() : undefined));

const run = (command: string) => daemon.call('shell.run', { command });

test(
  'an ordinary user, even one without a name, runs programs under limits that are watched, and is told so',
  { skip },
  async () => {
    requirement('EXEC-2');
    // The first is over before anybody can have looked at it.
    for (const command of ['ls -l', 'sleep 0.2']) {
      const { success, warnings = [], ...rest } = await run(command);
      assert.ok(success, JSON.stringify(rest));
      assert.equal(warnings.filter((warning) => /watched on this machine, not enforced/.test(warning)).length, 1);
    }
    const { warnings: shown } = (await daemon.status()) as unknown as { warnings: readonly string[] };
    assert.ok(shown.some((text) => /watched, not enforced/.test(text) && /service install/.test(text)));
  },
);

test('a rule that demands enforced limits is not served where they can only be watched', { skip }, async () => {
  requirement('EXEC-2');
  const { denied } = await run('wc a.txt');
  assert.deepEqual([denied?.rationaleCode, denied?.ruleId], ['LIMIT_UNENFORCEABLE', 'sandbox']);
});
