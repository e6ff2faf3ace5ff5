import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { modes } from '../../call/session.ts';
import type { Question } from '../../call/verdict.ts';
import { loadRules } from './load-rules.ts';
import { ask, fakeTool, world, writeRules } from '../test-world.ts';

const mebibyte = 1024 * 1024;
const rules = loadRules({
  ...world,
  folder: writeRules({
    tools: `version: 1
tools:
  write_file:
    category: system_write
    allowed_in_modes: [NORMAL, LOCKDOWN]
    requires_approval_in_modes: [ALERT, DEGRADED, RECOVERY, LOCKDOWN]
    forbidden_in_modes: [LOCKDOWN]
    allowed_paths: ['$HOME/Dev/**', '$WORKSPACE/**']
    forbidden_paths: ['$WORKSPACE/.git/**', $HOME/.ssh/**]
    max_file_size_mb: 10
    limits: { per_minute: 3, per_day: 9, cpu_seconds: 5 }
  shell.run:
    allowed_in_modes: [NORMAL]
    allowed_commands: ['git status *', ls]
  http.*:
    allowed_in_modes: [NORMAL]
    allowed_hosts: ['*.example.com']
  app.open:
    requires_approval_in_modes: [NORMAL]
    allowed_apps: [Mail]
  idle: {}
`,
    limits: 'version: 1\nrates: [{ tools: ["*"], per_hour: 7 }]\n',
  }),
});
const write = fakeTool('files.write', { aliases: ['write_file'] });
const asking = (name: string, things: Partial<Question['resources']>): Question => ({
  ...ask(fakeTool(name, { scopes: [] }), []),
  resources: { paths: [], ...things },
});

const table: readonly (readonly [Question, effect: string, rule: string])[] = [
  [ask(write, ['write /home/ada/work/a']), 'allow', 'tool-write-file-allowed'],
  [ask(write, ['write /home/ada/Dev/x/a']), 'allow', 'tool-write-file-allowed'],
  [ask(write, ['write /home/ada/other']), 'deny', 'default-deny'],
  [ask(write, ['write /home/ada/work/.GIT/config']), 'deny', 'tool-write-file-forbidden-paths'],
  [ask(write, ['write /home/ada/work/a'], { mode: 'ALERT' }), 'require_approval', 'tool-write-file-approval'],
  [ask(write, ['write /home/ada/other'], { mode: 'ALERT' }), 'deny', 'default-deny'],
  [ask(write, ['write /home/ada/work/a'], { mode: 'LOCKDOWN' }), 'deny', 'tool-write-file-forbidden'],
  [ask(write, ['write /home/ada/.sallyport/keys']), 'deny', 'protected-path'],
  [ask(fakeTool('files.read'), ['/home/ada/work/a']), 'deny', 'default-deny'],
  [asking('shell.run', { commands: ['git status -s'] }), 'allow', 'tool-shell-run-allowed'],
  [asking('shell.run', { commands: ['ls', 'rm x'] }), 'deny', 'default-deny'],
  [asking('http.get', { hosts: ['api.example.com'] }), 'allow', 'tool-http-allowed'],
  [asking('http.get', { hosts: ['example.org'] }), 'deny', 'default-deny'],
  [asking('app.open', { apps: ['Mail'] }), 'require_approval', 'tool-app-open-approval'],
  [asking('app.open', { apps: ['Photos'] }), 'deny', 'default-deny'],
  [asking('idle', {}), 'deny', 'default-deny'],
];

test('entries by tool: forbidden beats approval beats allowed, and what is not listed is denied', () => {
  requirement('MODE-5');
  for (const [question, effect, rule] of table) {
    const verdict = rules.judge(question);
    const asked = JSON.stringify({ ...question, tool: question.tool.name });
    assert.deepEqual([verdict.effect, verdict.rule.id], [effect, rule], asked);
  }
  for (const mode of modes.filter((each) => each !== 'NORMAL')) {
    assert.equal(rules.judge({ ...asking('shell.run', { commands: ['ls'] }), mode }).effect, 'deny', mode);
  }
});

test('entries whose names look alike have rules of their own', () => {
  const text =
    'version: 1\ntools: { a.b: { allowed_in_modes: [NORMAL] }, a-b: { allowed_in_modes: [NORMAL] }, "*": {} }\n';
  const alike = loadRules({ ...world, folder: writeRules({ tools: text }) });
  assert.equal(alike.judge(asking('a.b', {})).rule.id, 'tool-a-b-allowed');
  assert.equal(alike.judge(asking('a-b', {})).rule.id, 'tool-a-b-2-allowed');
});

test('the limits of an entry go with the call and before the other limits', () => {
  requirement('MODE-5');
  const { grants } = rules.judge(ask(write, ['write /home/ada/work/a']));
  assert.deepEqual(grants?.limits, { fileBytes: 10 * mebibyte, cpuMs: 5000 });
  assert.deepEqual([grants.read, grants.write, grants.hosts], [[], [], []]);
  assert.deepEqual(rules.limits.rates, [
    {
      tools: ['write_file'],
      limits: [
        { windowMs: 60_000, calls: 3 },
        { windowMs: 86_400_000, calls: 9 },
      ],
    },
    { tools: ['*'], limits: [{ windowMs: 3_600_000, calls: 7 }] },
  ]);
});

test('a denial by an entry points to the line of the tool', () => {
  const { rule } = rules.judge(ask(write, ['write /home/ada/work/a'], { mode: 'LOCKDOWN' }));
  assert.deepEqual(rule, { id: 'tool-write-file-forbidden', file: `${rules.folder}/tools.yaml`, line: 3 });
});
