import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { loadRules } from './load-rules.ts';
import { problemsOf, world, writeRules } from '../test-world.ts';

const examples: readonly (readonly [rule: string, problem: RegExp | undefined])[] = [
  // What an example leaves out may be anything
  ['effect: allow, match: [{ tool: x.y }]', undefined],
  ['effect: allow, who: [operator], modes: [ALERT], agents: [z*], match: [{ tool: x.y }]', undefined],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y, path: /a/b }]', undefined],
  ['effect: allow, paths: [/a/*], access: [write], match: [{ tool: x.y, path: /a/b }]', undefined],
  ['effect: allow, paths: ["$WORKSPACE/**"], match: [{ tool: x.y, path: $WORKSPACE }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y, path: /a/b/c }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y }]', undefined],
  ['effect: deny, paths: [/a/*], match: [{ tool: x.y, path: /A/B }]', undefined],
  ['effect: allow, paths: [/a/*], not_match: [{ tool: x.y, path: /A/b }]', undefined],
  ['effect: allow, agents: [z*], not_match: [{ tool: x.y, agent: y }]', undefined],
  ['effect: allow, who: [operator], not_match: [{ tool: x.y, who: agent }]', undefined],

  ['effect: allow, commands: ["git *"], match: [{ tool: x.y, command: git log }]', undefined],
  ['effect: allow, commands: ["git *"], not_match: [{ tool: x.y, command: rm }, { tool: x.y }]', undefined],
  ['effect: allow, hosts: ["*.a.c"], match: [{ tool: x.y, host: B.A.C }]', undefined],
  ['effect: allow, git_operations: [LOG], match: [{ tool: x.y, git_operation: log }]', undefined],
  ['effect: allow, providers: [p], models: [m], match: [{ tool: x.y, provider: p, model: m }]', undefined],
  ['effect: allow, providers: [p], models: [m], not_match: [{ tool: x.y, provider: p }]', undefined],
  ['effect: allow, apps: [Mail], match: [{ tool: x.y, app: Mail }]', undefined],
  ['effect: allow, origins: [upstream], match: [{ tool: x.y }, { tool: x.y, origin: upstream }]', undefined],
  ['effect: allow, origins: [upstream], not_match: [{ tool: x.y, origin: executable }]', undefined],

  [
    'effect: allow, roles: [w*], teams: [web], match: [{ tool: x.y, role: worker, team: web }, { tool: x.y }]',
    undefined,
  ],
  ['effect: allow, roles: [w*], not_match: [{ tool: x.y, role: boss }]', undefined],
  [
    'effect: allow, arguments: [{ pointer: /a/0, equals: 1 }], match: [{ tool: x.y, arguments: { a: [1] } }]',
    undefined,
  ],
  [
    'effect: allow, arguments: [{ pointer: /a, in: [1, x] }], not_match: [{ tool: x.y, arguments: { a: 2 } }]',
    undefined,
  ],
  ['effect: allow, hours: ["22:00-06:00"], days: [mon], match: [{ tool: x.y, at: mon 23:30 }]', undefined],
  ['effect: allow, hours: ["08:00-18:00"], not_match: [{ tool: x.y, at: mon 18:00 }]', undefined],
  ['effect: deny, after: ["a.*"], within: 10m, match: [{ tool: x.y, after: [b.c, a.b] }]', undefined],
  ['effect: deny, after: ["a.*"], not_match: [{ tool: x.y, after: [b.c] }]', undefined],

  // Those that do not come out as written
  ['effect: allow, roles: [w], match: [{ tool: x.y, role: boss }]', /but the rule is not for these roles$/],
  ['effect: allow, days: [mon], match: [{ tool: x.y, at: tue 10:00 }]', /but the rule is for other days$/],
  ['effect: deny, after: [a], match: [{ tool: x.y, after: [b] }]', /but none of the calls it follows came before$/],
  [
    'effect: allow, arguments: [{ pointer: /a, matches: "x*" }], match: [{ tool: x.y, arguments: { a: y } }]',
    /but the arguments differ$/,
  ],
  ['effect: allow, commands: ["git *"], match: [{ tool: x.y }]', /looks at commands and the call names none$/],
  ['effect: allow, commands: [git], match: [{ tool: x.y, command: git log }]', /does not cover "git log"$/],
  [
    'effect: allow, commands: [git], match: [{ tool: x.y, command: git; ls }]',
    /"git; ls" is not the plain spelling of a command/,
  ],
  ['effect: allow, hosts: [a.c], not_match: [{ tool: x.y, host: A.C }]', /it must not match, but it does$/],
  ['effect: allow, hosts: [a.c], match: [{ tool: x.y, host: "a.c:81" }]', /does not cover a\.c:81$/],
  ['effect: allow, git_operations: [LOG], match: [{ tool: x.y, git_operation: PUSH }]', /does not cover PUSH$/],
  ['effect: allow, origins: [upstream], match: [{ tool: x.y, origin: builtin }]', /does not name the tool x\.y$/],
  ['effect: allow, match: [{ tool: x.z }]', /it must match, but the rule does not name the tool x\.z$/],
  ['effect: allow, who: [operator], match: [{ tool: x.y, who: agent }]', /but the rule is not for agent$/],
  ['effect: allow, agents: [z*], match: [{ tool: x.y, agent: y }]', /but the rule is not for y$/],
  ['effect: allow, modes: [ALERT], match: [{ tool: x.y, mode: NORMAL }]', /but the rule is not for mode NORMAL$/],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y }]', /looks at paths and the call names none$/],
  ['effect: allow, paths: [/a/*], match: [{ tool: x.y, path: /b }]', /does not cover \/b$/],
  [
    'effect: allow, paths: [/a/*], access: [read], match: [{ tool: x.y, path: /a/b, access: write }]',
    /does not cover write access to \/a\/b$/,
  ],
  ['effect: allow, paths: [/a/*], except_paths: [/a/b], match: [{ tool: x.y, path: /a/b }]', /does not cover \/a\/b$/],
  ['effect: allow, not_match: [{ tool: x.y }]', /it must not match, but it does$/],
  ['effect: allow, paths: [/a/*], access: [write], not_match: [{ tool: x.y, path: /a/b }]', /must not match/],
  ['effect: allow, modes: [ALERT], not_match: [{ tool: x.y }]', /must not match/],
];

test('a rule loads only when its examples come out as written', () => {
  requirement('MODE-6');
  for (const [text, message] of examples) {
    const tools = `version: 1\nrules:\n  - { id: a, tools: [x.y], ${text} }\n`;
    if (message === undefined) {
      assert.equal(loadRules({ ...world, folder: writeRules({ tools }) }).count, 1, text);
      continue;
    }
    const [problem = '', ...others] = problemsOf({ tools });
    assert.deepEqual(others, [], text);
    assert.match(problem, message, text);
    const column = 1 + (tools.split('\n')[2]?.indexOf('{ tool') ?? -1);
    assert.ok(problem.startsWith(`tools.yaml:3:${column}  example of rule a: `), problem);
  }
});
