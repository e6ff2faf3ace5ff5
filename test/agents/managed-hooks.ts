import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentPlace } from './agent-place.ts';
import type { RealAgent } from './real-agents.ts';

/** Hooks for every user of the machine: what a user writes into settings, or says on the command line, ends them not. */
export async function tryManaged(agent: RealAgent, place: AgentPlace): Promise<void> {
  const { workspace, user } = place;
  const secret = agent.shell('cat .env');
  await place.step('managed hooks are written for every user', () => {
    assert.match(place.cli('init', '--managed', '--client', agent.name, '--yes'), /is in force/);
  });
  await place.step('managed hooks block in a project that nobody has connected', async () => {
    const told = await place.use(secret);
    assert.match(told, /sallyport init/);
    assert.doesNotMatch(told, /KEY=1/);
  });
  await place.step('managed hooks ask the gate in a project that is connected', async () => {
    place.cli('init', '--client', agent.name, '--yes');
    assert.match(await place.use(agent.shell('ls')), /notes\.md/);
    assert.match(await place.use(secret), /Sallyport: .*credentials/);
  });
  for (const { what, files, flags = '', environment = {} } of agent.managed ?? []) {
    await place.step(`managed hooks stay: ${what}`, async () => {
      for (const [name, content] of Object.entries(files ?? {})) {
        const file = join(name.startsWith('~/') ? user : workspace, name.replace(/^~\//, ''));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content.replaceAll('$MARK', join(workspace, 'ran.txt')));
      }
      rmSync(join(workspace, 'ran.txt'), { force: true });
      const told = await place.useWith({ flags, environment }, secret);
      assert.match(told, /Sallyport: .*credentials/);
      assert.doesNotMatch(told, /KEY=1/);
      assert.ok(!existsSync(join(workspace, 'ran.txt')), 'a hook of the user ran');
    });
  }
  await place.step('managed hooks are taken away again', () => {
    assert.match(place.cli('init', '--managed', '--client', agent.name, '--undo', '--yes'), /restored/);
  });
}
