import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { findProcesses } from '../spawner/programs.ts';
import { shellTool } from './tool-workshop.ts';

/** In the command lines of what waits, and nowhere else on the machine. */
const names = { plain: `plain-${process.pid}`, warm: `warm-${process.pid}` };

const allowing = Object.values(names)
  .map((name) => `  - { id: ${name}, effect: allow, tools: [${name}], origins: [executable], approval: waived }\n`)
  .join('');

const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await sleep(50);
  }
  assert.fail(`never: ${what}`);
}

test('what waits for the next call is dropped when the mode or the rules change, and serves no call that they refuse', async (t) => {
  const place = ownRules(newPlace(), {});
  chmodSync(place.folder, 0o755);
  const rules = join(place.home, 'governance', 'tools.yaml');
  const before = readFileSync(rules, 'utf8').trimEnd();
  writeFileSync(rules, `${before}\n\n${allowing}`);
  const bin = join(place.home, 'tools', 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [kind, name] of Object.entries(names)) {
    const body = "cat > /dev/null; echo '{}'";
    writeFileSync(join(bin, name), shellTool(name, body, kind === 'warm' ? { warm: true } : {}), { mode: 0o755 });
  }
  const daemon = await TestDaemon.start(place);
  t.after(() => daemon.remove());
  const token = await daemon.newAgent('ada');
  const isWaiting = (): boolean => Object.values(names).every((name) => findProcesses(`/tool/bin/${name}`).length > 0);
  const isDropped = (): boolean =>
    Object.values(names).every((name) => findProcesses(`/tool/bin/${name}`).length === 0);
  const callBoth = async (): Promise<(string | undefined)[]> => {
    const codes: (string | undefined)[] = [];
    for (const name of Object.values(names)) codes.push(codeOf(await daemon.call(name, {}, { token })));
    return codes;
  };
  const nothingWrong = [undefined, undefined];
  // The first look at the tools folder takes a moment, and a sandbox is only waiting until it is too old.
  const becomeReady = (): Promise<void> =>
    until(
      'both wait',
      async () => String(await callBoth()) === String(nothingWrong) && (await sleep(500), isWaiting()),
    );

  await becomeReady();
  await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
  await until('dropped by the mode', isDropped);
  assert.deepEqual(await callBoth(), ['MODE_FORBIDS', 'MODE_FORBIDS']);
  assert.ok(isDropped());
  for (const mode of ['RECOVERY', 'NORMAL']) await daemon.call('mode.set', { mode, cause: 'a test' });

  await becomeReady();
  writeFileSync(rules, `${before}\n`);
  const shown = await daemon.call('policy.apply', {});
  await daemon.call('policy.apply', {}, { confirmBinding: shown.denied?.approval?.binding ?? '' });
  for (const code of await callBoth()) assert.ok(code !== undefined, 'no rule allows it any more');
  await until('dropped by the rules', isDropped);
});
