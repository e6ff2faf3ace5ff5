import assert from 'node:assert/strict';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../harness/daemon.ts';
import type { AgentPlace } from './agent-place.ts';
import type { RealAgent } from './real-agents.ts';

const governance = join(import.meta.dirname, '../../config/governance');
const nobody = 65534;

const rule = `
  - id: sandboxed
    effect: allow
    tools: [shell.run]
    origins: [client]
    commands: ['sh *']
    paths: ['$WORKSPACE/**']
    rewrite: sandbox
    approval: waived
    grants: { read: ['$WORKSPACE'], write: ['$WORKSPACE/build'] }
`;

/** The shipped rules, and one that wants shell scripts in the sandbox. */
export function putRewritingRules({ home, workspace }: Place): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  cpSync(governance, join(home, 'governance'), { recursive: true });
  const file = join(home, 'governance/tools.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n${rule}`);
  mkdirSync(join(workspace, 'build'));
  const script =
    'echo out; echo err >&2; touch build/made; touch outside; cat .env; cat /proc/net/dev | wc -l; exit 3\n';
  writeFileSync(join(workspace, 'build.sh'), script);
  // Programs of a daemon of root belong to the owner of what they may change.
  for (const name of ['build', 'build.sh']) chownSync(join(workspace, name), nobody, nobody);
}

/** A command of the agent that runs in the sandbox of the gate, without the agent noticing. */
export async function tryRewrite(agent: RealAgent, place: AgentPlace): Promise<void> {
  const { workspace, daemon } = place;
  place.cli('init', '--client', agent.name, '--yes');
  await place.step('by rule, a command runs in the sandbox, and the agent reads what it wrote', async () => {
    const told = await place.use(agent.shell('sh build.sh'));
    assert.match(told, /out/);
    assert.match(told, /err/);
    assert.match(told, /\b3\b/);
    assert.doesNotMatch(told, /KEY=1|sallyport\.mjs exec/);
    assert.ok(existsSync(join(workspace, 'build/made')), told);
    assert.ok(!existsSync(join(workspace, 'outside')));
    const records = await daemon.records();
    const intent = records.findLast(({ kind, payload }) => kind === 'intent' && payload['tool'] === 'shell.run');
    const outcomes = records.filter(({ kind, callId }) => kind === 'outcome' && callId === intent?.callId);
    assert.match(String(outcomes[0]?.payload['summary']), /exit code 3/);
    assert.equal(outcomes.length, 1);
  });
}
