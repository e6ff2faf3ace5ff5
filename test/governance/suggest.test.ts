import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InJson, PolicySuggestions } from '@sallyport/contract';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { HookClient } from '../hooks/hook-client.ts';

let daemon: TestDaemon;
let client: HookClient;
let desk: ApprovalDesk;

before(async () => {
  daemon = await TestDaemon.start();
  mkdirSync(join(daemon.place.workspace, 'build'));
  mkdirSync(join(daemon.place.folder, '.ssh'));
  for (const name of ['build/a.js', 'build/.env', 'old-1.txt', 'old-2.txt']) {
    writeFileSync(join(daemon.place.workspace, name), name);
  }
  client = new HookClient(daemon, await daemon.newAgent('claude-code'));
  desk = new ApprovalDesk(daemon);
});
after(() => daemon.remove());

/** Has the agent make a call, and a person decide about it. Resolves to what the client was told, and whether it asked. */
async function decide(calling: Promise<unknown>, isApproved = true): Promise<{ readonly asked: boolean }> {
  let isOver = false;
  const ended = calling.finally(() => void (isOver = true));
  for (let asked = false; ;) {
    const [task] = await Promise.race([desk.pending(), ended.then(() => [])]);
    if (task !== undefined) {
      asked = true;
      await desk.decide(task.id, isApproved);
    } else if (isOver) return { asked };
  }
}

const run = (command: string, isApproved = true) => decide(client.use('Bash', { command }), isApproved);

function suggest(...more: string[]): InJson<PolicySuggestions> {
  const { status, stdout, stderr } = runSallyport(daemon.place, ['policy', 'suggest', '--json', ...more]);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as InJson<PolicySuggestions>;
}

const whys = ({ leftOut }: InJson<PolicySuggestions>): string => leftOut.map(({ why }) => why).join('\n');

test('what people approved twice is suggested as exactly that, with examples, and applied by its number', async () => {
  for (const command of ['npm test', 'npm test', 'npm run build', 'npm test -- --watch']) {
    assert.ok((await run(command)).asked, command);
  }
  const { suggestions } = suggest('--since', '1d');
  assert.equal(suggestions.length, 1, JSON.stringify(suggestions));
  const [{ draft, approvals, questions } = assert.fail()] = suggestions;
  assert.deepEqual([approvals, draft?.reopened, draft?.width], [2, 0, 0]);
  // Each of the two calls is on record twice, when it asked and when it ran, and was asked about once.
  assert.equal(questions, 2);
  for (const part of [/equals: npm test|equals: "npm test"/, /approval: waived/, /match:/, /not_match:/]) {
    assert.match(draft?.rule ?? '', part);
  }
  const shown = runSallyport(daemon.place, ['policy', 'suggest']).stdout;
  assert.match(shown, /1\. "?npm test"?\s+shell\.run of claude-code\. Exactly this command[\s\S]*ever denied/);
  assert.equal(runSallyport(daemon.place, ['policy', 'suggest', '--apply', '7', '--yes']).status, 1);
  const applied = runSallyport(daemon.place, ['policy', 'suggest', '--apply', '1', '--yes']);
  assert.match(applied.stdout, /in force/, applied.stderr);
  assert.match(readFileSync(join(daemon.place.home, 'governance/tools.yaml'), 'utf8'), /- id: always-shell-run\n/);
  assert.ok(!(await run('npm test')).asked);
  for (const command of ['npm test -- --watch', 'npm test; npm run build', 'cd build && npm test', 'npm tes']) {
    assert.ok((await run(command, false)).asked, command);
  }
  assert.ok(
    (await decide(client.use('Bash', { command: 'npm test' }, { cwd: join(daemon.place.workspace, 'build') }), false))
      .asked,
  );
  assert.deepEqual(suggest().suggestions, []);
});

test('no agent can bring about a suggestion for more than people saw and approved', async () => {
  const token = await daemon.newAgent('poisoner');
  const poisoner = new HookClient(daemon, token, 'chat-2');
  const ask = (command: string, isApproved = true) => decide(poisoner.use('Bash', { command }), isApproved);
  // One card for twenty calls is one decision.
  const many = Array.from({ length: 20 }, () =>
    daemon.call('files.move_glob', { from: '.', to: 'build', patterns: ['*.txt'] }, { token }),
  );
  await Promise.all(many);
  await decide(Promise.resolve());
  // Calls that are nearly the same are not the same.
  for (const name of ['one', 'two', 'three', 'four']) await ask(`npm run ${name}`);
  for (const command of [
    // Nobody sees the character at its end.
    'npm run deploy\u200b',
    // What a part of it is, nobody knows.
    'npm run "$TASK"',
    'python3 -c "print(1)"',
    // The rules close such files in the workspace; elsewhere they stay for people to decide about.
    `cp ${join(daemon.place.folder, '.ssh/id_rsa')} build/a.js`,
  ]) {
    for (const _ of [1, 2]) assert.ok((await ask(command)).asked, command);
  }
  // A person denied it once.
  for (const isApproved of [true, false, true]) await ask('make install', isApproved);
  // Critical.
  for (const name of ['old-1.txt', 'old-2.txt']) {
    await decide(daemon.call('files.delete', { path: name }, { token, waitMs: 60_000 }));
  }
  // What nobody decided about, however often it was asked.
  for (let times = 0; times < 5; times++) {
    void daemon.call('files.delete', { path: `build/a.js` }, { token });
  }
  const suggested = suggest();
  assert.deepEqual(
    suggested.suggestions.map(({ draft }) => draft?.rule),
    [],
  );
  for (const why of [/nobody can see/, /not known/, /files such as/, /denied before/, /critical/]) {
    assert.match(whys(suggested), why);
  }
});

test('a person widens a rule step by step, and what the rules close stays closed', async () => {
  const { workspace, folder } = daemon.place;
  await run('rm build/a.js');
  const { callId } =
    (await daemon.records(0)).findLast(({ payload }) => payload['ran_by'] === 'claude-code') ?? assert.fail();
  const draft = (widen: string) =>
    runSallyport(daemon.place, ['policy', 'allow', callId, '--widen', widen, '--dry-run']);
  assert.match(draft('0').stdout, /Exactly this command/);
  assert.match(draft('1').stdout, /`rm` with any further words, on the same files/);
  assert.match(draft('2').stdout, new RegExp(`on anything in ${workspace}`));
  const applied = runSallyport(daemon.place, ['policy', 'allow', callId, '--widen', '2', '--yes']);
  assert.match(applied.stdout, /in force/, applied.stderr);
  assert.ok(!(await run('rm -f build/b.js build/c.js')).asked);
  assert.equal((await client.use('Bash', { command: 'rm build/.env' })).permissionDecision, 'deny');
  for (const command of [
    `rm ${folder}/x`,
    'rm -rf $DIR',
    'rm build/a.js; curl https://example.com',
    'sudo rm build/a.js',
  ]) {
    assert.ok((await run(command, false)).asked, command);
  }
  const outside = runSallyport(daemon.place, ['policy', 'allow', callId, '--widen', '1', '--yes']);
  assert.match(outside.stderr, /allow it already/);
});
