import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToolPlace, shellProgram, writeProgram } from '../cli/tool-place.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { codeOf, until, untilReady } from '../pipelines/pipeline-place.ts';

const rules = `
  - id: accepted-tools
    effect: allow
    tools: [say, 'slow.*']
    approval: waived
    accept_new: true
`;

/** A server that needs a while before it answers at all. */
const server = `
import { createInterface } from 'node:readline';
await new Promise((resolve) => setTimeout(resolve, 3000));
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  } else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'said' }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
}
`;

let daemon: TestDaemon;
after(() => daemon.remove());

test('an accepted tool answers as soon as the daemon is ready, or says that the call may be sent again', async () => {
  const place = newToolPlace(rules);
  writeProgram(place, 'say', shellProgram('say', `echo '{"said":"hello"}'`));
  const script = join(place.folder, 'server.mjs');
  writeFileSync(script, server);
  chmodSync(script, 0o644);
  daemon = await TestDaemon.start(place);
  const added = runSallyport(place, ['upstream', 'add', 'slow', '--yes', '--read', script, '--', 'node', script]);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  await untilReady(daemon, 'say');
  const token = await daemon.newAgent('ada');
  const callServer = async (): Promise<string> => {
    const answer = await daemon.call('slow.say', {}, { token });
    return codeOf(answer) ?? 'said';
  };
  await until('the server was accepted', async () => {
    if ((await callServer()) === 'said') return true;
    // Every denial counts against the session, and too many of them put it into quarantine.
    await sleep(250);
    return false;
  });
  await daemon.kill('SIGTERM');

  daemon = await TestDaemon.start(place);
  // At once: nothing waits between ready and the calls.
  const [own, ofServer] = await Promise.all([
    daemon.call('say', {}, { token }),
    daemon.call('slow.say', {}, { token }),
  ]);
  assert.match(own.success?.outputJson ?? JSON.stringify(own), /hello/);
  assert.equal(ofServer.error?.code, 'TOOL_STARTING', JSON.stringify(ofServer));
  assert.equal(ofServer.error?.retryable, true);
  const heard = new Set<string>();
  await until('the server is there', async () => {
    heard.add(await callServer());
    return heard.has('said');
  });
  assert.deepEqual([...heard].sort(), ['TOOL_STARTING', 'said']);
  assert.equal(codeOf(await daemon.call('slow.never', {}, { token })), 'UNKNOWN_TOOL');
});
