import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { InJson, PolicyShadow } from '@sallyport/contract';
import { TerminalSession } from '../cli/terminal-session.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const rules = `version: 1
rules:
  # Reading is free.
  - id: read
    effect: allow
    tools: [files.read, files.list]
  - id: no-drafts   # on trial since March
    effect: deny
    tools: ['files.*']
    paths: ['$WORKSPACE/drafts/**']
    shadow: true
    reason: Drafts are not for agents.
    remedy: Ask the author.
  - { id: write, effect: allow, tools: [files.write], approval: waived, shadow: true }
  - { id: operators, effect: allow, tools: ['policy.*'], who: [operator] }
  - { id: sessions, effect: allow, tools: ['sessions.*'], who: [operator], approval: waived }
`;

describe('rules that are only tried out, at the command line', () => {
  let daemon: TestDaemon;
  let file: string;
  let agent: string;

  const run = (...args: string[]) => runSallyport(daemon.place, args);
  const runJson = (...args: string[]) => JSON.parse(run(...args, '--json').stdout) as Record<string, unknown>;
  const read = (path: string) => daemon.call('files.read', { path }, { token: agent });

  before(async () => {
    const place = ownRules(newPlace(), { 'tools.yaml': rules });
    file = join(place.home, 'governance', 'tools.yaml');
    mkdirSync(join(place.workspace, 'drafts'));
    for (const name of ['notes.md', 'drafts/plan.md']) writeFileSync(join(place.workspace, name), 'hello');
    daemon = await TestDaemon.start(place);
    agent = await daemon.newAgent('ada');
    await read('notes.md');
    for (const _ of [1, 2]) assert.ok((await read('drafts/plan.md')).success, 'a tried-out rule denies nothing');
    const written = await daemon.call('files.write', { path: 'new.md', content: 'x' }, { token: agent });
    assert.equal(written.denied?.rationaleCode, 'NO_RULE_ALLOWS', 'and allows nothing');
  });
  after(() => daemon.remove());

  it('the log counts what they would have done', () => {
    requirement('MODE-7');
    const { rules: counted } = runJson('policy', 'shadow') as unknown as InJson<PolicyShadow>;
    assert.deepEqual(
      counted.map(({ rule, wouldDeny, wouldAsk, wouldAllow }) => [rule?.id, wouldDeny, wouldAsk, wouldAllow]),
      [
        ['no-drafts', 2, 0, 0],
        ['write', 0, 0, 1],
      ],
    );
    const { stdout } = run('policy', 'shadow', '--since', '1h');
    assert.match(stdout, /RULE +EFFECT +WOULD DENY .*\nno-drafts +deny +2 +0 +0/);
    assert.match(run('policy', 'shadow', '--since', 'yesterday').stderr, /It must be like 30m/);
  });

  it('the folder of other rules is read by the one who replays, and what would change is a table', () => {
    requirement('MODE-7');
    const folder = join(daemon.place.folder, 'next');
    mkdirSync(folder);
    writeFileSync(join(folder, 'tools.yaml'), rules.replace('tools: [files.read, files.list]', 'tools: [files.list]'));
    const { status, stdout } = run('policy', 'replay', '--rules', folder, '--since', '1h');
    assert.equal(status, 0);
    assert.match(stdout, /recorded calls decided again by the rules in .*next: 3 would change/);
    assert.match(stdout, /\n +3 {2}allow → deny\n/);
    assert.match(
      stdout,
      /CALL +TOOL +AGENT +THEN +NOW\n\d+ +files\.read +ada +allow \(read\) +→ +deny \(default-deny\)/,
    );
    writeFileSync(join(folder, 'tools.yaml'), 'version: 1\nrules: [{ id: a, effect: perhaps, tools: [x] }]\n');
    const broken = run('policy', 'replay', '--rules', folder);
    assert.notEqual(broken.status, 0);
    assert.match(broken.stderr.replaceAll(/\s+/g, ' '), /next\/tools\.yaml:2:26 effect must be one of allow/);
    assert.match(run('policy', 'replay', '--rules', '/nowhere').stderr, /There are no rules in \/nowhere/);
  });

  it('a dry run shows what would have changed, and changes nothing', () => {
    const dry = runJson('policy', 'promote', 'no-drafts', '--dry-run');
    assert.deepEqual([dry['changed'], dry['ways']], [2, [{ was: 'allow', would: 'deny', count: 2 }]]);
    assert.equal(readFileSync(file, 'utf8'), rules);
    assert.match(run('policy', 'promote', 'read', '--dry-run').stderr, /in force already/);
    const unasked = run('policy', 'promote', 'no-drafts');
    assert.equal(unasked.status, 1);
    assert.match(unasked.stderr, /There is no terminal to ask at/);
    assert.equal(readFileSync(file, 'utf8'), rules);
  });

  it('a person sees the calls, says yes, and from the next call on the rule decides', async (t) => {
    const terminal = new TerminalSession(daemon.place, ['policy', 'promote', 'no-drafts'], { NO_COLOR: '1' });
    t.after(() => terminal.kill());
    await terminal.waitFor('2 would change');
    await terminal.waitFor('Put them in force? [y/N]');
    assert.ok((await read('drafts/plan.md')).success, 'nothing happens before the answer');
    terminal.type('y\n');
    assert.equal(await terminal.exitCode(), 0, terminal.screen);
    assert.equal(readFileSync(file, 'utf8'), rules.replace('    shadow: true\n', ''));
    assert.equal((await read('drafts/plan.md')).denied?.ruleId, 'no-drafts');
    assert.equal(runJson('policy', 'status')['files'], 'applied');
    const promoted = (await daemon.records()).filter(({ payload }) => payload['tool'] === 'policy.promote');
    assert.deepEqual(
      promoted.map(({ kind, result }) => `${kind} ${result}`),
      ['refusal pending', 'intent none', 'outcome ok'],
    );
  });

  it('a denial at the command line tells an agent the rule, why, and the remedy last', () => {
    requirement('PIPE-4');
    const token = { SALLYPORT_TOKEN: agent };
    const { status, stderr } = runSallyport(
      daemon.place,
      ['tool', 'invoke', 'files.read', 'path=drafts/plan.md'],
      token,
    );
    assert.equal(status, 3);
    const text = stderr.replaceAll(/\n {10,}/g, ' ');
    assert.match(
      text,
      /^Denied {2}files\.read\n {2}rule +no-drafts\n {2}code +RULE_DENIES\n {2}why +Rule no-drafts denies/,
    );
    assert.match(
      text,
      /Drafts are not for agents\.\n {2}remedy +Ask the author\. If a person should look at it, give them call \S+\.\n$/,
    );
  });

  it('scripts promote with --yes and get one object', () => {
    const promoted = runJson('policy', 'promote', 'write', '--yes');
    assert.equal(promoted['changed'], true);
    assert.deepEqual((promoted['replay'] as Record<string, unknown>)['ways'], [
      { was: 'deny', would: 'allow', count: 1 },
    ]);
    assert.match(readFileSync(file, 'utf8'), /approval: waived, shadow: false \}/);
  });
});
