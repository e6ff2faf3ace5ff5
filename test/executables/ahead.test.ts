import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program, RunOptions } from '../../packages/sandbox/src/program.ts';
import type { JsonObject } from '../../packages/contract/src/canonical-json.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import { noGrants } from '../../packages/gateway/src/call/verdict.ts';
import { sessionOf } from '../../packages/gateway/src/stages/facts.test-kit.ts';
import { shellTool, ToolWorkshop } from './tool-workshop.ts';
import type { CallOptions } from './tool-workshop.ts';

/** Calls a tool in the real sandbox, and tells under which keys a program or sandbox may be made ready for the next. */
async function keysOf(workshop: ToolWorkshop, name: string, options: CallOptions = {}): Promise<string> {
  const tool = workshop.registry.find(name)?.tool ?? assert.fail(name);
  const context = workshop.context([], [], options);
  let keys: Pick<RunOptions, 'warmKey' | 'preparedKey'> = {};
  const programs = {
    run: (program: Program, runOptions: RunOptions) => {
      keys = runOptions;
      return context.programs.run(program, runOptions);
    },
  };
  await tool.run({}, { session: sessionOf(), ...context, programs });
  const { warmKey, preparedKey } = keys;
  return warmKey !== undefined ? 'warm' : preparedKey !== undefined ? 'prepared' : 'fresh';
}

const forbidden = refuse('NO_RULE_ALLOWS', 'test-rule', 'No.');

/** Long enough for a sandbox to be built. */
const meanwhile = (): Promise<void> => sleep(300);

test('only a call without granted folders, hosts and secrets lets the next one find something ready', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.write('plain', shellTool('plain', 'echo {}'));
  workshop.write('warm', shellTool('warm', 'cat > /dev/null; echo {}', { warm: true }));
  workshop.accepting = () => true;
  await workshop.start();
  const folder = join(workshop.folder, 'granted');
  mkdirSync(folder, { mode: 0o755 });
  for (const name of ['plain', 'warm'] as const) {
    assert.equal(await keysOf(workshop, name), name === 'warm' ? 'warm' : 'prepared');
    assert.equal(await keysOf(workshop, name, { grants: { read: [folder] } }), 'fresh');
    assert.equal(await keysOf(workshop, name, { secrets: { TOKEN: 'value' } }), 'fresh');
    assert.equal(
      await keysOf(workshop, name, { workingDirectory: '/', grants: { ...noGrants, isolation: 'none' } }),
      'fresh',
    );
  }
});

test('each call of a tool whose sandbox was built ahead has its own input, and nothing of the call before', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  workshop.write(
    'echo',
    shellTool('echo', 'printf \'{"got":%s,"found":"%s"}\' "$(cat)" "$(ls /tmp)"; touch /tmp/left'),
  );
  workshop.accepting = () => true;
  await workshop.start();
  for (const n of [1, 2, 3]) {
    const { output } = await workshop.call('echo', { n });
    assert.equal(JSON.stringify(output), JSON.stringify({ got: { n }, found: '' }));
    await meanwhile();
  }
});

test('a tool that was changed and accepted while a sandbox waited runs as it was accepted', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const say = (word: string): string => shellTool('say', `echo '{"said":"${word}"}'`);
  workshop.write('say', say('before'));
  await workshop.start();
  await workshop.accept('say');
  const said = async (): Promise<unknown> => ((await workshop.call('say')).output as JsonObject)['said'];
  assert.equal(await said(), 'before');
  await meanwhile();
  workshop.write('say', say('after'));
  await workshop.look();
  assert.equal(workshop.statusOf('say'), 'changed');
  await assert.rejects(workshop.call('say'), 'nothing runs that nobody accepted, though a sandbox waits');
  await workshop.accept('say');
  assert.equal(await said(), 'after');
});

test('what appears in a granted folder after a call is judged when the next one comes', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const folder = join(workshop.folder, 'granted');
  mkdirSync(folder, { mode: 0o755 });
  workshop.write('list', shellTool('list', `printf '{"seen":"%s"}' "$(cat ${folder}/.env 2>/dev/null)"`));
  workshop.accepting = () => true;
  await workshop.start();
  const seen = async (): Promise<unknown> => {
    const tool = workshop.registry.find('list')?.tool ?? assert.fail();
    const context = workshop.context([], [], { grants: { read: [folder] } });
    // The rules of this test forbid one name, wherever it lies.
    const paths = { judge: (path: string) => (path.endsWith('/.env') ? forbidden : undefined) };
    return ((await tool.run({}, { session: sessionOf(), ...context, paths })) as JsonObject)['seen'];
  };
  assert.equal(await seen(), '');
  await meanwhile();
  writeFileSync(join(folder, '.env'), 'SECRET', { mode: 0o644 });
  assert.equal(await seen(), '');
});
