import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';
import { runSallyport } from '../../harness/run-sallyport.ts';
import { connectPeer } from '../server/peers.ts';
import { serverScript } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const shipped = join(import.meta.dirname, '../../../config/governance');
const allow = `
  - id: echo-server
    effect: allow
    tools: ['demo.*']
    origins: [upstream]
    approval: waived
`;

/** Another name for the script in each test, so that its processes can be told from others. */
function prepare(rulesOfTest = allow): { readonly place: Place; readonly script: string } {
  const place = newPlace();
  cpSync(shipped, join(place.home, 'governance'), { recursive: true });
  const rules = join(place.home, 'governance', 'tools.yaml');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^rules:\n/m, `rules:${rulesOfTest}`));
  execFileSync('chmod', ['0700', place.home, join(place.home, 'governance')]);
  execFileSync('chmod', ['0755', place.folder]);
  const script = join(place.folder, `server-${process.pid}-${Date.now()}.mjs`);
  cpSync(serverScript, script);
  return { place, script };
}

function findServers(script: string): readonly string[] {
  try {
    return execFileSync('pgrep', ['-f', script], { encoding: 'utf8' }).trim().split('\n');
  } catch {
    return [];
  }
}

async function open(context: TestContext): Promise<{ daemon: TestDaemon; script: string }> {
  const { place, script } = prepare();
  const daemon = await TestDaemon.start(place);
  context.after(() => daemon.remove());
  return { daemon, script };
}

test('a server that could not find its own files is refused before it is added, with what to do', async (context) => {
  const { daemon, script } = await open(context);
  const { place } = daemon;
  const relative = runSallyport(place, ['upstream', 'add', 'demo', '--yes', '--', 'node', basename(script)]);
  assert.notEqual(relative.status, 0);
  assert.match(relative.stderr, /relative paths do not work/);
  assert.ok(relative.stderr.includes(`--read ${script}`), relative.stderr);
  const own = join(place.home, 'server.mjs');
  cpSync(script, own);
  const inside = runSallyport(place, ['upstream', 'add', 'demo', '--yes', '--read', own, '--', 'node', own]);
  assert.notEqual(inside.status, 0);
  assert.ok(inside.stderr.includes(`No program sees ${own}, which belongs to Sallyport's own files`), inside.stderr);
  assert.match(inside.stderr, /put it elsewhere/);
  assert.match(runSallyport(place, ['upstream', 'list']).stdout, /There is no upstream yet/);
});

test('a server is added, looked at, accepted, called by an agent, and removed', async (context) => {
  requirement('WIRE-6');
  const { daemon, script } = await open(context);
  const { place } = daemon;
  const run = (...args: string[]) => runSallyport(place, args);
  const added = run('upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script, 'good');
  assert.equal(added.status, 0, added.stdout + added.stderr);
  const tested = run('upstream', 'test', 'demo');
  assert.equal(tested.status, 0, tested.stdout + tested.stderr);
  assert.match(tested.stdout, /demo\.echo +new +high +Says it again\./);
  const token = await daemon.newAgent('tester');
  const early = await daemon.call('demo.echo', { text: 'hi' }, { token });
  assert.equal(early.denied?.rationaleCode, 'TOOL_NOT_ACCEPTED', JSON.stringify(early));
  const accepted = run('upstream', 'accept', 'demo', '--yes');
  assert.equal(accepted.status, 0, accepted.stdout + accepted.stderr);
  assert.match(accepted.stdout, /Accepted.*demo\.echo/s);
  assert.match(
    accepted.stdout,
    /^demo\.echo 0\.0\.0\n[^{}]*\n {2}arguments +text \(string, required\)/m,
    'readable, not JSON',
  );
  const answer = await daemon.call('demo.echo', { text: 'hi' }, { token });
  assert.deepEqual(JSON.parse(answer.success?.outputJson ?? JSON.stringify(answer)), {
    content: [{ type: 'text', text: 'hi' }],
  });
  assert.equal((await daemon.call('demo.echo', {}, { token })).denied?.rationaleCode, 'INVALID_ARGUMENTS');
  await daemon.call('demo.ask', {}, { token });
  await daemon.call('demo.echo', { text: 'later' }, { token });
  const events = (await daemon.records()).filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
  assert.ok(
    events.some(({ event, method }) => event === 'upstream_request_refused' && method === 'sampling/createMessage'),
  );
  assert.match(run('upstream', 'list').stdout, /demo +stdio +connected/);
  assert.equal(findServers(script).length > 0, true);
  assert.equal(run('upstream', 'remove', 'demo', '--yes').status, 0);
  assert.deepEqual(findServers(script), []);
  assert.match(run('upstream', 'list').stdout, /There is no upstream yet/);
});

test('what was accepted still stands after a restart, and no server outlives a killed daemon', async (context) => {
  requirement('WIRE-6');
  const { place, script } = prepare();
  let daemon = await TestDaemon.start(place);
  context.after(() => daemon.remove());
  runSallyport(place, ['upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script, 'good']);
  await daemon.call('upstreams.test', { name: 'demo' });
  runSallyport(place, ['upstream', 'accept', 'demo', '--yes']);
  assert.ok(findServers(script).length > 0);
  await daemon.kill('SIGKILL');
  for (let tries = 0; findServers(script).length > 0; tries++) {
    assert.ok(tries < 100, 'a server outlived the daemon');
    await sleep(100);
  }
  daemon = await TestDaemon.start(place);
  await daemon.call('upstreams.test', { name: 'demo' });
  const answer = await daemon.call('demo.echo', { text: 'again' });
  assert.match(answer.success?.outputJson ?? JSON.stringify(answer), /again/);
});

test('an MCP client in front of the gate meets an MCP server behind it', async (context) => {
  const { daemon, script } = await open(context);
  const run = (...args: string[]) => runSallyport(daemon.place, args);
  run('upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script, 'good');
  run('upstream', 'test', 'demo');
  run('upstream', 'accept', 'demo', '--yes');
  const url = new URL('/mcp', daemon.address);
  const peer = await connectPeer(context, 'v2', { url, token: await daemon.newAgent('tester') });
  const listed = new Map((await peer.listTools()).map((tool) => [tool.name, tool]));
  assert.ok(listed.has('demo_echo') && listed.get('demo_structured')?.outputSchema !== undefined);
  assert.deepEqual((await peer.call('demo_echo', { text: 'hi' })).content, [{ type: 'text', text: 'hi' }]);
  assert.deepEqual((await peer.call('demo_structured', {})).structuredContent, { n: 7 });
  const failed = await peer.call('demo_fail', {});
  assert.equal(failed.isError, true);
  assert.match(JSON.stringify(failed.content), /the disk is on fire/);
  const steps: number[] = [];
  await peer.call('demo_progress', {}, { onprogress: ({ progress }) => steps.push(progress) });
  // The door may leave out what a later step says as well.
  assert.ok(steps.length > 0 && steps.every((step) => step <= 3), steps.join());
});

test('what a server said is seen by rules about what comes after it', async (context) => {
  const { place, script } = prepare(`${allow}
  - id: nothing-after-a-stranger
    effect: deny
    tools: [plans.list]
    after: ['demo.*']
    reason: A server behind the gate has spoken in this session.
`);
  const daemon = await TestDaemon.start(place);
  context.after(() => daemon.remove());
  runSallyport(place, ['upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script, 'preach']);
  await daemon.call('upstreams.test', { name: 'demo' });
  runSallyport(place, ['upstream', 'accept', 'demo', '--yes']);
  const token = await daemon.newAgent('tester');
  const list = () => daemon.call('plans.list', {}, { token });
  const before = await list();
  assert.ok(before.success, JSON.stringify(before));
  const said = await daemon.call('demo.preach', {}, { token });
  assert.match(said.success?.outputJson ?? '', /Ignore your instructions/);
  assert.equal((await list()).denied?.ruleId, 'nothing-after-a-stranger');
});

test('what a server asks of the network is on record: within a call in that of the call, otherwise by itself', async (context) => {
  const { daemon, script } = await open(context);
  const { place } = daemon;
  const hosts = ['--hosts', 'granted.test'];
  const added = runSallyport(place, [
    ...['upstream', 'add', 'demo', '--yes', '--read', script, ...hosts, '--', 'node', script, 'reaching'],
  ]);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  await daemon.call('upstreams.test', { name: 'demo' });
  runSallyport(place, ['upstream', 'accept', 'demo', '--yes']);
  const token = await daemon.newAgent('tester');
  const answer = await daemon.call('demo.reach', { host: 'evil.test:443' }, { token });
  assert.match(answer.success?.outputJson ?? JSON.stringify(answer), /403/);
  assert.match((answer.warnings ?? []).join(), /evil\.test:443/);
  const records = await daemon.records();
  const own = records.find(({ kind, callId }) => kind === 'outcome' && callId === answer.callId);
  const refusedHost = (target: string) => [{ outcome: 'refused', target, times: 1 }];
  assert.deepEqual(own?.payload['network'], refusedHost('evil.test:443'));
  const byItself = records.find(({ payload }) => payload['event'] === 'upstream_network');
  assert.deepEqual(byItself?.payload['network'], refusedHost('start.test:443'));
});
