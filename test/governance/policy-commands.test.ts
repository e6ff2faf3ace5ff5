import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Explanation, InJson, PolicyReplay } from '@sallyport/contract';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const shipped = join(import.meta.dirname, '../../config/governance');

describe('the rules, understood and changed at the command line', () => {
  let daemon: TestDaemon;
  let rulesFile: string;
  let agent: string;

  const run = (...args: string[]) => {
    const { status, stdout, stderr } = runSallyport(daemon.place, args);
    return {
      status,
      stdout,
      stderr,
      json: args.includes('--json') ? (JSON.parse(stdout) as Record<string, unknown>) : {},
    };
  };
  const addRule = (text: string): void =>
    writeFileSync(rulesFile, `${readFileSync(rulesFile, 'utf8').trimEnd()}\n\n${text}\n`);
  const apply = async () => {
    const shown = await daemon.call('policy.apply', {});
    return daemon.call('policy.apply', {}, { confirmBinding: shown.denied?.approval?.binding ?? '' });
  };

  before(async () => {
    const place = newPlace();
    cpSync(shipped, join(place.home, 'governance'), { recursive: true });
    rulesFile = join(place.home, 'governance', 'tools.yaml');
    writeFileSync(join(place.workspace, 'notes.md'), 'hello');
    daemon = await TestDaemon.start(place);
    agent = await daemon.newAgent('ada');
  });
  after(() => daemon.remove());

  it('says how a call would be decided, by which rule in which line, and why not by the others', async () => {
    requirement('MODE-7');
    const { json } = run('policy', 'explain', 'files.read', 'path=notes.md', '--json');
    const { effect, decidedBy, mode, considered } = json as unknown as InJson<Explanation>;
    assert.deepEqual([effect, decidedBy?.rule?.id, mode], ['allow', 'workspace-read', 'NORMAL']);
    assert.deepEqual(
      considered.filter(({ decides }) => decides).map(({ rule, mismatch }) => [rule?.id, mismatch]),
      [['workspace-read', undefined]],
    );
    assert.ok(considered.some(({ mismatch }) => mismatch !== undefined));
    const denied = run('policy', 'explain', 'files.read', 'path=.env');
    assert.equal(denied.status, 0);
    assert.match(denied.stdout, /^deny {2}files\.read\n {2}rule +secrets \(.*tools\.yaml:\d+\)\n {2}why /);
    assert.match(denied.stdout, /\n→ {2}judge-call +denies +as above\n/);
    assert.match(denied.stdout, /\n→ {2}secrets \(tools\.yaml:\d+\) +deny +matches\n/);
    assert.match(denied.stdout, /more are about other tools; --all shows them\.\n$/);
    const unknown = run('policy', 'explain', 'files.raed', '--json');
    assert.notEqual(unknown.status, 0);
  });

  it('edited files change nothing until they are applied, and then at once', async () => {
    requirement('MODE-5');
    const read = () => daemon.call('files.read', { path: 'notes.md' }, { token: agent });
    assert.ok((await read()).success);
    const former = run('policy', 'status', '--json').json;
    assert.equal(former['files'], 'applied');
    addRule(
      "  - { id: no-notes, effect: deny, tools: ['files.*'], paths: ['$WORKSPACE/notes.md'], reason: Not today. }",
    );
    assert.ok((await read()).success);
    assert.equal(run('policy', 'status', '--json').json['files'], 'changed');
    const byFiles = run('policy', 'explain', 'files.read', 'path=notes.md', '--files', '--json');
    assert.equal((byFiles.json as unknown as InJson<Explanation>).decidedBy?.rule?.id, 'no-notes');

    const { calls } = run('policy', 'replay', '--json').json as unknown as InJson<PolicyReplay>;
    assert.ok(calls.length >= 2);
    for (const { tool, was, would } of calls) {
      assert.deepEqual([tool, was?.effect, would?.effect, would?.ruleId], ['files.read', 'allow', 'deny', 'no-notes']);
    }

    const applied = await apply();
    assert.ok(applied.success, JSON.stringify(applied));
    assert.equal((await read()).denied?.ruleId, 'no-notes');
    const present = run('policy', 'status', '--json').json;
    assert.equal(present['files'], 'applied');
    assert.notEqual(present['hash'], former['hash']);
  });

  it('files that are not valid keep the rules in force, and the problem names file and line', async () => {
    const good = readFileSync(rulesFile, 'utf8');
    addRule('  - { id: broken, effect: perhaps, tools: [x] }');
    const status = run('policy', 'status', '--json').json;
    assert.equal(status['files'], 'broken');
    assert.match(String(status['problem']), /tools\.yaml:\d+/);
    const refused = await daemon.call('policy.apply', {});
    assert.match(refused.denied?.message ?? refused.error?.message ?? '', /tools\.yaml:\d+/);
    assert.equal((await daemon.call('files.read', { path: 'notes.md' }, { token: agent })).denied?.ruleId, 'no-notes');
    writeFileSync(rulesFile, good);
  });

  it('what was applied survives a restart, whatever the files say by then', async () => {
    addRule("  - { id: no-more, effect: deny, tools: ['*'], who: [agent] }");
    await daemon.kill('SIGTERM');
    const again = await TestDaemon.start(daemon.place);
    daemon = again;
    assert.ok((await again.call('files.list', { path: '.' }, { token: agent })).success);
    assert.equal(run('policy', 'status', '--json').json['files'], 'changed');
  });

  it('a file of cases is checked, and says which case fails', async () => {
    requirement('MODE-7');
    const file = join(daemon.place.folder, 'cases.yaml');
    const cases = `cases:
  - { name: notes are closed, tool: files.read, arguments: { path: notes.md }, expect: deny, rule: no-notes }
  - { name: moving asks, tool: files.move_glob, arguments: { from: a, to: b, patterns: ['*'] }, expect: require_approval }
`;
    writeFileSync(file, cases);
    const good = run('policy', 'test', file);
    assert.deepEqual([good.status, good.stdout.trim()], [0, '2 passed, 0 failed']);
    writeFileSync(file, `${cases}  - { name: wishful, tool: files.read, arguments: { path: .env }, expect: allow }\n`);
    const bad = run('policy', 'test', file);
    assert.equal(bad.status, 3);
    assert.match(bad.stderr, /wishful: expected allow, but it is deny by secrets/);
    for (const [text, why] of [
      ['', /there is no list under "cases"/],
      ['cases: {}', /there is no list under "cases"/],
      ['cases: [', /line 1, column 9: the text ends within brackets/],
    ] as const) {
      writeFileSync(file, text);
      const broken = run('policy', 'test', file);
      assert.equal(broken.status, 1);
      assert.match(broken.stderr, why);
    }
    assert.match(run('policy', 'test', `${file}.not`).stderr, /cases\.yaml\.not does not exist/);
  });

  it('findings about the rules as a whole are told', async () => {
    const { json } = run('policy', 'check', '--json');
    assert.ok(Array.isArray(json['findings']));
  });
});
