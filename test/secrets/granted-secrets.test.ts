import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';

const shipped = join(import.meta.dirname, '../../config/governance');
const value = 'swordfish-4711-granted';

/** Says how long the variable is that it was given, which is as much as a test should know. */
const program = `#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name":"NAME","version":"1.0.0","description":"Looks at a secret.","input_schema":{"type":"object"},"output_schema":{"type":"object"}}'
else
  echo "using $API_TOKEN" >&2
  printf '{"length":%s}' "\${#API_TOKEN}"
fi
`;

function install(home: string, name: string): void {
  const folder = join(home, 'tools', 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), program.replace('NAME', name));
  chmodSync(join(folder, name), 0o755);
}

test('a stored secret reaches the program that a rule names, in its environment, and nobody else', async (context) => {
  const place = newPlace();
  cpSync(shipped, join(place.home, 'governance'), { recursive: true });
  const rules = join(place.home, 'governance', 'tools.yaml');
  const granted = `  - id: trusted-tool
    effect: allow
    tools: [trusted]
    origins: [executable]
    approval: waived
    grants: { secrets: [{ name: API_TOKEN }] }
  - { id: other-tool, effect: allow, tools: [curious], origins: [executable], approval: waived }
`;
  writeFileSync(rules, `${readFileSync(rules, 'utf8').trimEnd()}\n\n${granted}`);
  for (const name of ['trusted', 'curious']) install(place.home, name);
  const daemon = await TestDaemon.start(place);
  context.after(() => daemon.remove());
  assert.ok((await daemon.call('secrets.set', { name: 'API_TOKEN', value })).success);
  const token = await daemon.newAgent('ada');

  const lengthIn = async (tool: string): Promise<unknown> => {
    for (let tries = 0; ; tries++) {
      const answer = await daemon.call(tool, {}, { token });
      if (answer.success !== undefined) return (JSON.parse(answer.success.outputJson) as { length: number }).length;
      // The first look at the tools folder takes a moment, and so does accepting its tools.
      const isComing = ['UNKNOWN_TOOL', 'TOOL_NOT_ACCEPTED'].includes(answer.denied?.rationaleCode ?? '');
      if (!isComing || tries > 100) assert.fail(JSON.stringify(answer));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  assert.equal(await lengthIn('trusted'), value.length);
  assert.equal(await lengthIn('curious'), 0);
  const log = readFileSync(join(place.home, 'log', 'daemon.log'), 'utf8');
  assert.ok(!log.includes(value) && !JSON.stringify(await daemon.records()).includes(value));
});
