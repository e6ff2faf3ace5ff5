import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

/** As people publish it, to the letter: no version, names and quotes as they are. */
const published = `tools:
  write_file:
    category: "system_write"
    allowed_in_modes: ["NORMAL"]
    requires_approval_in_modes: ["ALERT", "DEGRADED", "RECOVERY"]
    forbidden_in_modes: ["LOCKDOWN"]
    allowed_paths:
      - "$HOME/Dev/personal_agent/**"
      - "$HOME/Documents/agent_workspace/**"
    forbidden_paths:
      - "/System/**"
      - "/Library/**"
      - "$HOME/.ssh/**"
    max_file_size_mb: 10
`;

test('a published file with entries by tool loads as it is, means what it says, and leaves the operator in', async () => {
  const place = newPlace();
  const daemon = await TestDaemon.start(place);
  try {
    const projects = join(place.folder, 'Dev', 'personal_agent');
    mkdirSync(projects, { recursive: true });
    mkdirSync(join(place.home, 'governance'));
    writeFileSync(join(place.home, 'governance', 'tools.yaml'), published);
    const applied = runSallyport(place, ['policy', 'apply', '--yes']);
    assert.equal(applied.status, 0, applied.stderr);

    const agent = await daemon.newAgent('ada');
    const write = async (path: string, content = 'hello'): Promise<string> => {
      const answer = await daemon.call('write_file', { path, content }, { token: agent });
      return answer.success ? 'written' : (answer.denied?.rationaleCode ?? answer.error?.code ?? '');
    };
    const setMode = async (mode: string): Promise<void> => {
      const answer = await daemon.call('mode.set', { mode, cause: 'a test' });
      assert.ok(answer.success, JSON.stringify(answer));
    };
    assert.equal(await write(join(projects, 'a.txt')), 'written');
    assert.equal(await write(join(place.folder, 'elsewhere.txt')), 'NO_RULE_ALLOWS');
    assert.equal(await write(join(place.folder, '.ssh', 'authorized_keys')), 'RULE_DENIES');
    assert.notEqual(await write(join(projects, 'big.txt'), 'x'.repeat(10 * 1024 * 1024 + 1)), 'written');
    const other = await daemon.call('files.read', { path: join(projects, 'a.txt') }, { token: agent });
    assert.equal(other.denied?.rationaleCode, 'NO_RULE_ALLOWS', 'what is not listed is denied');

    for (const [mode, expected] of [
      ['ALERT', 'APPROVAL_REQUIRED'],
      ['DEGRADED', 'APPROVAL_REQUIRED'],
      ['LOCKDOWN', 'MODE_FORBIDS'],
      ['RECOVERY', 'APPROVAL_REQUIRED'],
      ['NORMAL', 'written'],
    ] as const) {
      await setMode(mode);
      assert.equal(await write(join(projects, `${mode}.txt`)), expected, mode);
    }
  } finally {
    await daemon.remove();
  }
});
