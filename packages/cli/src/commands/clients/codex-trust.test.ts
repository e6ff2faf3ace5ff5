import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { dropTrust, putTrust } from './codex-trust.ts';
import { listClients } from './known-clients.ts';

const codex = listClients(
  '/home/ada',
  { PATH: '' },
  { words: ['/usr/bin/node', '/opt/sallyport.mjs'], environment: {} },
)
  .filter(({ name }) => name === 'codex')
  .at(0);
assert.ok(codex);
const key = '/home/ada/.codex/hooks.json:pre_tool_use:0:0';
const foreign = '[hooks.state."/home/ada/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:aa" # mine\n';

for (const before of ['', 'model = "o"\n', `# mine\n[hooks]\n\n${foreign}`, `model = "o"\r\n\r\n[tui]\r\n`]) {
  test(`trust is added once and can be taken out again: ${JSON.stringify(before)}`, () => {
    const trusted = putTrust(before, { [key]: 'sha256:00' });
    const { hooks } = parse(trusted) as { hooks: { state: Record<string, { trusted_hash: string }> } };
    assert.equal(hooks.state[key]?.trusted_hash, 'sha256:00');
    assert.ok(trusted.startsWith(before));
    assert.equal(putTrust(trusted, { [key]: 'sha256:00' }), trusted);
    const renewed = putTrust(trusted, { [key]: 'sha256:11' });
    assert.match(renewed, /sha256:11/);
    assert.doesNotMatch(renewed, /sha256:00/);
    // What Codex or the person has added meanwhile stays.
    const changed = `${renewed}\n[projects."/work"]\ntrust_level = "trusted"\n`;
    const rest = dropTrust(changed, before, codex);
    assert.doesNotMatch(rest, /sha256:11/);
    assert.match(rest, /trust_level/);
    assert.equal(rest.includes('sha256:aa'), before.includes('sha256:aa'));
  });
}
