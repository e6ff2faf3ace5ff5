import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveUseId } from '../../packages/gateway/src/doors/hooks/map-use.ts';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runHook } from './hook-program.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newPlace());
});
after(() => daemon.remove());

interface Coverage {
  readonly paths: readonly { readonly client: string; readonly lastSeenAtMs?: string }[];
  readonly around: readonly { readonly useId: string; readonly what: string }[];
  readonly compared: number;
}

test('uses that the log knows passed the gate, allowed or denied; the others are shown without secrets', async () => {
  const token = await daemon.newAgent('gemini');
  const ask = (client: string, payload: object) =>
    runHook(
      client,
      { session_id: 's', cwd: daemon.place.workspace, ...payload },
      {
        ...{ SALLYPORT_HOME: daemon.place.home, SALLYPORT_TOKEN: token },
      },
    );
  const shell = { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' };
  await ask('gemini', { ...shell, tool_input: { command: 'ls' } });
  await ask('gemini', { ...shell, tool_input: { command: 'ls' } });
  await ask('gemini', { ...shell, tool_input: { command: 'cat .env' } });
  const id = (command: string): string => deriveUseId('s', 'run_shell_command', { command });
  const use = (command: string) => ({
    client: 'gemini',
    session: 's',
    useId: id(command),
    tool: 'x',
    what: command,
    atMs: String(Date.now()),
  });
  const secret = 'curl -H "Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"';
  const request = {
    paths: [
      { client: 'gemini', path: 'hooks', state: 'live' },
      { client: 'gemini', path: 'mcp', state: 'live' },
    ],
    uses: ['ls', 'cat .env', secret].map(use),
  };
  const { status, json } = await new ApprovalDesk(daemon).send('ClientService/ShowCoverage', request);
  assert.equal(status, 200, JSON.stringify(json));
  const { paths, around, compared } = json as unknown as Coverage;
  assert.deepEqual([around.map(({ useId }) => useId), compared], [[id(secret)], 3]);
  assert.ok(!around[0]?.what.includes('ghp_'), around[0]?.what ?? '');
  assert.ok(Number(paths[0]?.lastSeenAtMs) > 0 && paths[1]?.lastSeenAtMs === undefined, JSON.stringify(paths));
  // The log is no copy of transcripts.
  assert.ok(!JSON.stringify(await daemon.records()).includes('curl -H'));
});
