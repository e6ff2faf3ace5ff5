import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTool, rulesOf } from '../test-world.ts';

const tools = [
  fakeTool('files.read', { aliases: ['read_file'], allowedModes: ['NORMAL', 'ALERT'] }),
  fakeTool('files.write', { category: 'system_write' }),
  fakeTool('shell.run'),
  fakeTool('odd', { origin: 'upstream' }),
];

function findingsOf(rules: string): readonly (readonly [kind: string, about: string | undefined])[] {
  return rulesOf(rules)
    .check(tools)
    .map(({ kind, rule, tool }) => [kind, rule?.id ?? tool]);
}

const opensAll = '  - { id: all, effect: allow, tools: ["*"] }\n';

test('a tool that no rule lets through is named', () => {
  const rules = `
  - { id: a, effect: allow, tools: ["files.*"], paths: [/a] }
  - { id: b, effect: require_approval, tools: [shell.run], modes: [LOCKDOWN, NORMAL] }
  - { id: c, effect: allow, tools: [odd], shadow: true }
`;
  assert.deepEqual(findingsOf(rules), [['unreachable-tool', 'odd']]);
});

test('a rule that never matches is named', () => {
  assert.deepEqual(findingsOf(`${opensAll}  - { id: a, effect: deny, tools: [gone, "went.*"] }\n`), [
    ['idle-rule', 'a'],
  ]);
  assert.deepEqual(findingsOf(`${opensAll}  - { id: a, effect: deny, tools: [odd], origins: [executable] }\n`), [
    ['idle-rule', 'a'],
  ]);
  assert.deepEqual(
    findingsOf(`${opensAll}  - { id: a, effect: require_approval, tools: [files.read], modes: [LOCKDOWN] }\n`),
    [['idle-rule', 'a']],
  );
  assert.deepEqual(findingsOf(`${opensAll}  - { id: a, effect: deny, tools: [files.read], modes: [LOCKDOWN] }\n`), []);
  assert.deepEqual(findingsOf(`${opensAll}  - { id: a, effect: deny, tools: [read_file] }\n`), []);
});

test('a rule about all tools of an origin waits for those that may come', () => {
  assert.deepEqual(findingsOf(`${opensAll}  - { id: a, effect: deny, tools: ["*"], origins: [executable] }\n`), []);
});

const covered: readonly (readonly [outer: string, inner: string, isCovered: boolean])[] = [
  ['effect: deny, tools: ["files.*"]', 'effect: allow, tools: [files.read], paths: [/a/**]', true],
  ['effect: deny, tools: [files.read]', 'effect: allow, tools: ["files.*"]', false],
  ['effect: require_approval, tools: ["files.*"]', 'effect: allow, tools: [files.read], approval: waived', true],
  ['effect: allow, tools: ["files.*"]', 'effect: deny, tools: [files.read]', false],
  ['effect: allow, tools: [shell.run]', 'effect: allow, tools: [shell.run], commands: [git *]', true],
  ['effect: allow, tools: [shell.run]', 'effect: allow, tools: [shell.run], approval: waived', false],
  ['effect: allow, tools: [shell.run]', 'effect: allow, tools: [shell.run], grants: { read: [/a] }', false],
  [
    'effect: deny, tools: [shell.run], commands: [git *, ls]',
    'effect: allow, tools: [shell.run], commands: [ls]',
    true,
  ],
  [
    'effect: deny, tools: [shell.run], commands: [ls]',
    'effect: allow, tools: [shell.run], commands: [git *, ls]',
    false,
  ],
  ['effect: deny, tools: [files.read], access: [write]', 'effect: allow, tools: [files.read]', false],
  ['effect: deny, tools: [files.read], modes: [NORMAL]', 'effect: allow, tools: [files.read]', false],
  ['effect: deny, tools: [files.read], who: [agent]', 'effect: allow, tools: [files.read], who: [agent]', true],
  ['effect: deny, tools: [files.read], agents: [a]', 'effect: allow, tools: [files.read], agents: [a]', true],
  ['effect: deny, tools: [files.read], agents: [a]', 'effect: allow, tools: [files.read]', false],
  [
    'effect: deny, tools: [files.read], paths: [/a], except_paths: [/b]',
    'effect: allow, tools: [files.read], paths: [/a]',
    false,
  ],
  [
    "effect: require_approval, tools: [web.fetch], hosts: ['*'], except_hosts: [a.c]",
    'effect: allow, tools: [web.fetch], hosts: [a.c]',
    false,
  ],
  ['effect: deny, tools: [files.read], shadow: true', 'effect: allow, tools: [files.read]', false],
];

test('a rule that another one always overrules is named', () => {
  for (const [outer, inner, isCovered] of covered) {
    for (const order of [
      [outer, inner],
      [inner, outer],
    ]) {
      const found = rulesOf(
        order.map((text) => `  - { id: ${text === outer ? 'outer' : 'inner'}, ${text} }\n`).join(''),
      )
        .check(tools)
        .filter(({ kind, rule }) => kind === 'covered-rule' && rule?.id === 'inner');
      // Of two rules with the same effect the earlier one stays.
      const same = outer.split(',')[0] === inner.split(',')[0] && order[0] === inner;
      assert.equal(found.length === 1, isCovered && !same, `${outer} before ${inner}`);
    }
  }
});

test('a category that the rules take a tool for, and it does not have, is named', () => {
  const text = '  []\ntools: { files.write: { category: files }, read_file: { category: files } }\n';
  const [finding, ...others] = rulesOf(text)
    .check(tools)
    .filter(({ kind }) => kind === 'other-category');
  assert.deepEqual([finding?.tool, others], ['files.write', []]);
  assert.equal(finding?.message, 'The rules take files.write for files, but it is system_write.');
});
