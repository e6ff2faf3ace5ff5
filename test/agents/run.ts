// Tries the gate in front of real coding agents: npm run agents [NAME...]. They are installed on demand, and kept for the
// next time. What asks is approved in the console, in a real browser.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleBrowser } from '../console/console-browser.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { AgentPlace, perRunMs } from './agent-place.ts';
import { tryManaged } from './managed-hooks.ts';
import { installAgent, realAgents } from './real-agents.ts';
import type { RealAgent } from './real-agents.ts';
import { putRewritingRules, tryRewrite } from './rewritten-command.ts';

const wanted = process.argv.slice(2);
const browser = await ConsoleBrowser.open();
try {
  for (const agent of realAgents) {
    if (wanted.length > 0 && !wanted.includes(agent.name)) continue;
    const bin = installAgent(agent);
    process.stdout.write(`${agent.packages[0]}\n`);
    await inPlace(agent, bin, (place) => tryAgent(agent, place));
    if (agent.managed !== undefined) await inPlace(agent, bin, (place) => tryManaged(agent, place));
    if (agent.takesRewrites) await inPlace(agent, bin, (place) => tryRewrite(agent, place), putRewritingRules);
  }
} finally {
  await browser.close();
}

async function inPlace(
  agent: RealAgent,
  bin: string,
  run: (place: AgentPlace) => Promise<void>,
  prepare: (place: Place) => void = () => undefined,
): Promise<void> {
  // Codex refuses a home below /tmp.
  const place = newPlace('/var/tmp');
  prepare(place);
  const daemon = await TestDaemon.start(place);
  try {
    await run(new AgentPlace(agent, bin, daemon));
  } finally {
    await daemon.remove();
  }
}

async function tryAgent(agent: RealAgent, place: AgentPlace): Promise<void> {
  const { daemon, workspace } = place;
  await place.step('init connects it, and the probes are denied', () => {
    const said = place.cli('init', '--client', agent.name, '--yes');
    assert.match(said, new RegExp(`${agent.name} +hooks +live +changed`));
    assert.match(said, new RegExp(`${agent.name} +mcp +live`));
  });
  await place.step('a command that only looks runs', async () => {
    assert.match(await place.use(agent.shell('ls')), /notes\.md/);
  });
  await place.step('a command that reads a secret is denied, and the agent reads why', async () => {
    const told = await place.use(agent.shell("cat .e''nv"));
    assert.match(told, /Sallyport: .*credentials/);
    assert.doesNotMatch(told, /KEY=1/);
  });
  await place.step('a command that is asked about runs when a person has approved it in the console', async () => {
    const { page, close } = await logIn(daemon);
    const running = place.use(agent.shell('touch made.txt && echo made'));
    running.catch(() => undefined);
    const approve = page.locator('.decisions[data-armed=true] .decide-once[aria-disabled=false]');
    await page.getByRole('heading', { name: /touch made\.txt/ }).waitFor({ timeout: perRunMs });
    // The card is longer than the screen: nothing can be approved before all of it was in view.
    while (!(await approve.isVisible())) {
      await page.keyboard.press('Space');
      await page.waitForTimeout(300);
    }
    const card = await page.getByRole('main').innerText();
    assert.match(card, /touch made\.txt/);
    assert.match(card, new RegExp(agent.name));
    assert.ok(!existsSync(join(workspace, 'made.txt')));
    await keepShot(page, `${agent.name}-card`);
    await approve.click();
    assert.match(await running, /made/);
    assert.ok(existsSync(join(workspace, 'made.txt')));
    await close();
  });
  await place.step('an edit is journalled, and can be undone', async () => {
    const file = join(workspace, 'notes.md');
    const told = await place.use(...agent.edit(file));
    assert.equal(readFileSync(file, 'utf8'), 'second\n', told);
    const last = (await daemon.records()).findLast(({ payload }) => payload['tool'] === agent.editTool);
    place.cli('undo', last?.callId ?? '', '--yes');
    assert.equal(readFileSync(file, 'utf8'), 'first\n');
  });
  await place.step('coverage says that everything passed the gate', () => {
    const said = place.cli('coverage', '--client', agent.name);
    assert.match(said, new RegExp(`${agent.name} +hooks +live`));
    assert.match(said, /passed the gate/);
  });
  await place.step('with the gate killed, everything is blocked', async () => {
    await daemon.kill('SIGKILL');
    const told = await place.use(agent.shell('touch around.txt'));
    assert.match(told, /Sallyport blocks this/);
    assert.ok(!existsSync(join(workspace, 'around.txt')));
  });
}

async function logIn(daemon: TestDaemon) {
  const visit = await browser.logIn(daemon, { viewport: { width: 1280, height: 800 } });
  await visit.page.getByRole('link', { name: /^Approvals/ }).click();
  return { page: visit.page, close: () => visit.close() };
}

async function keepShot(page: { screenshot: (options: { path: string }) => Promise<unknown> }, name: string) {
  const folder = process.env['SALLYPORT_TEST_SHOTS'];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}
