import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InJson, ToolDescriptor } from '@sallyport/contract';
import { TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

/** As one would write it for another system: a list of parameters, a limit and modes, and a key that means nothing here. */
const definition = {
  input_schema: undefined,
  category: 'read_only',
  parameters: [
    { name: 'word', type: 'string', description: 'What to say.', required: true, default: null },
    { name: 'times', type: 'number', description: 'How often.', required: true, default: 2 },
  ],
  risk_level: 'low',
  allowed_modes: ['NORMAL'],
  requires_approval: false,
  requires_sandbox: false,
  timeout_seconds: 20,
  rate_limit_per_hour: 2,
  owner: 'ops',
};
const place = newToolPlace(`
  - id: notes
    effect: allow
    tools: ['notes.*']
    origins: [executable]
    approval: waived
`);
const moved = join(place.folder, 'own-tools');
const environment = { SALLYPORT_TOOLS: moved };

let daemon: TestDaemon;
before(async () => {
  writeProgram(place, 'notes.say', shellProgram('notes.say', 'cat', definition), join(moved, 'bin'));
  daemon = await TestDaemon.start(place, environment);
});
after(() => daemon.remove());

const run = (...args: string[]) => runSallyport(place, args, environment);
const say = (token: string): Promise<Answer> => daemon.call('notes.say', { word: 'hello' }, { token });
const codeOf = ({ denied, error }: Answer): string | undefined => denied?.rationaleCode ?? error?.code;

test('a person who accepts a tool sees what its definition says, and which of its keys mean nothing', () => {
  const accepted = run('tool', 'accept', 'notes.say', '--yes');
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /says +category read_only, low risk, only in NORMAL, at most 2 calls an hour/);
  assert.match(accepted.stdout, /not used +owner \(the gate does not know/);
  assert.match(run('tool', 'show', 'notes.say').stdout, /not used +owner/);
  const { tools } = JSON.parse(run('tool', 'list', '--category', 'read_only', '--json').stdout) as {
    tools: InJson<ToolDescriptor>[];
  };
  const { risk, timeoutMs } = tools.find(({ name }) => name === 'notes.say') ?? assert.fail('it has its category');
  assert.deepEqual([risk, timeoutMs], ['high', 20_000], 'it cannot say that it is harmless');
});

const hourMs = 3_600_000;

test('the limit of a definition holds for each agent, also after a restart', async () => {
  // Windows begin at the full hour: an agent whose calls are in two of them is not held up.
  const useUp = async (agent: string): Promise<string> => {
    const token = await daemon.newAgent(agent);
    const begunAt = Date.now();
    const answers = [await say(token), await say(token), await say(token)];
    if (Math.floor(begunAt / hourMs) !== Math.floor(Date.now() / hourMs)) return useUp(`${agent}-again`);
    assert.deepEqual(answers.map(codeOf), [undefined, undefined, 'RATE_LIMITED']);
    assert.deepEqual(JSON.parse(answers[0]?.success?.outputJson ?? '{}'), { times: 2, word: 'hello' });
    const retryAfterMs = Number(answers[2]?.error?.retryAfterMs);
    assert.ok(retryAfterMs > 0 && retryAfterMs <= hourMs, String(retryAfterMs));
    return token;
  };
  const ada = await useUp('ada');
  const usedUpAt = Date.now();
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(place, environment);
  const again = codeOf(await say(ada));
  if (Math.floor(usedUpAt / hourMs) === Math.floor(Date.now() / hourMs)) assert.equal(again, 'RATE_LIMITED');
  assert.equal(codeOf(await say(await daemon.newAgent('bob'))), undefined, 'others have their own');
});

test('a definition is held to the modes that it names', async () => {
  const alert = await daemon.call('mode.set', { mode: 'ALERT', cause: 'a test' });
  assert.equal(codeOf(alert), undefined, JSON.stringify(alert));
  assert.equal(codeOf(await say(await daemon.newAgent('carl'))), 'MODE_FORBIDS');
});

test('the folder of tools is closed to agents wherever it is, and must belong to its operator', async () => {
  const token = await daemon.newAgent('eve', { working_directory: place.workspace });
  const write = await daemon.call('files.write', { path: join(moved, 'bin', 'evil'), content: 'x' }, { token });
  assert.equal(codeOf(write), 'PROTECTED_PATH');
  assert.match(run('tool', 'new', 'text.mine', '--sh').stdout, /own-tools/);

  const open = join(place.folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const elsewhere = newToolPlace();
  const refused = runSallyport(elsewhere, ['up'], { SALLYPORT_TOOLS: open });
  assert.equal(refused.status, 1);
  rmSync(elsewhere.folder, { recursive: true });
  assert.match(refused.stderr, /Every user of this machine can write to .*SALLYPORT_TOOLS/s);
});
