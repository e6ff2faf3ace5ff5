import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { noGrants } from '../../call/verdict.ts';
import type { Grants, Question } from '../../call/verdict.ts';
import { intersectGrants, uniteGrants } from './grants.ts';
import { ask, fakeTool, makeFolder, rulesOf, world } from '../test-world.ts';

const shell = fakeTool('shell.run', { scopes: ['commands'] });
const run = (...commands: string[]): Question => ({ ...ask(shell, []), resources: { paths: [], commands } });
const w = world.workspace;

test('a call gets what all rules that allow it grant together', () => {
  const rules = rulesOf(`
  - id: all
    effect: allow
    tools: [shell.run]
    grants:
      read: [/usr/share/dict, $WORKSPACE/docs]
      hosts: [Api.Example.com, '*.example.org:8443']
      environment: { LANG: C, SHARED: first }
      secrets: [{ name: npm, hosts: [registry.example.com] }]
      limits: { cpu_seconds: 60, memory_mb: 512, output_mb: 1 }
  - id: git
    effect: allow
    tools: ['shell.*']
    commands: ['git *']
    grants:
      write: [$WORKSPACE, $HOME/scratch]
      environment: { SHARED: second }
      secrets: [{ name: token }]
      limits: { cpu_seconds: 10, processes: 4, open_files: 5, file_mb: 6, disk_mb: 7 }
      unix_sockets: true
      isolation: none
`);
  assert.deepEqual(rules.judge(run('git status')).grants, {
    read: ['/usr/share/dict', `${w}/docs`],
    write: [w, '/home/ada/scratch'],
    hosts: ['api.example.com', '*.example.org:8443'],
    environment: { LANG: 'C', SHARED: 'first' },
    secrets: [
      { name: 'npm', tools: ['shell.run'], hosts: ['registry.example.com'] },
      { name: 'token', tools: ['shell.*'], hosts: [] },
    ],
    limits: {
      cpuMs: 10_000,
      memoryBytes: 512 * 1024 * 1024,
      processes: 4,
      openFiles: 5,
      fileBytes: 6 * 1024 * 1024,
      diskBytes: 7 * 1024 * 1024,
      outputBytes: 1024 * 1024,
    },
    exactLimits: false,
    unixSockets: true,
    isolation: 'none',
  } satisfies Grants);
  assert.equal(rules.judge(run('ls')).grants?.isolation, 'sandbox');
  assert.deepEqual(rules.judge(run('ls')).grants?.write, []);
});

test('putting two commands into one call gives neither what only the other may have', () => {
  const rules = rulesOf(`
  - { id: git, effect: allow, tools: [shell.run], commands: ['git *'], grants: { read: [$WORKSPACE], secrets: [{ name: token }], hosts: ['*.example.com'], environment: { A: a, B: b }, isolation: none } }
  - { id: grep, effect: allow, tools: [shell.run], commands: ['grep *'], grants: { write: [$WORKSPACE/out], hosts: [api.example.com], environment: { A: a, B: c } } }
  - { id: ls, effect: allow, tools: [shell.run], commands: [ls] }
`);
  assert.deepEqual(rules.judge(run('git log', 'grep x')).grants, {
    ...noGrants,
    read: [`${w}/out`],
    hosts: ['api.example.com'],
    environment: { A: 'a' },
  });
  assert.equal(rules.judge(run('git log', 'ls')).grants, undefined);
  assert.deepEqual(rules.judge(run('git log', 'git diff')).grants?.secrets.length, 1);
  assert.equal(rules.judge(run('git log', 'rm x')).effect, 'deny');
});

test('a rule that asks can grant, and a denial carries no grants', () => {
  const rules = rulesOf(`
  - { id: ask, effect: require_approval, tools: [shell.run], commands: ['git *'], grants: { read: [$WORKSPACE] } }
  - { id: deny, effect: deny, tools: [shell.run], commands: [git push *] }
`);
  assert.deepEqual(rules.judge(run('git log')).grants?.read, [w]);
  assert.equal(rules.judge(run('git push')).grants, undefined);
});

test('what is granted is subject to denials like what is named', () => {
  const rules = rulesOf(`
  - { id: cat, effect: allow, tools: [shell.run], commands: [cat], grants: { read: [/srv/data] } }
  - { id: put, effect: allow, tools: [shell.run], commands: [put], grants: { write: [/srv/log] } }
  - { id: get, effect: allow, tools: [shell.run], commands: [get], grants: { hosts: ['*.example.com'] } }
  - { id: ok, effect: allow, tools: [shell.run], commands: [ok], grants: { hosts: [api.example.com], read: [/srv/ok] } }
  - { id: no-data, effect: deny, tools: ['shell.*'], paths: ['/srv/Data/**'] }
  - { id: no-writes, effect: deny, tools: ['*'], paths: ['/srv/**'], access: [write] }
  - { id: no-host, effect: deny, tools: ['*'], hosts: [secret.example.com] }
  - { id: ask-ok, effect: require_approval, tools: ['*'], paths: ['/srv/ok'] }
`);
  const decided = (command: string): string[] => {
    const { effect, rule } = rules.judge(run(command));
    return [effect, rule.id];
  };
  assert.deepEqual(decided('cat'), ['deny', 'no-data']);
  assert.deepEqual(decided('put'), ['deny', 'no-writes']);
  assert.deepEqual(decided('get'), ['deny', 'no-host']);
  assert.deepEqual(decided('ok'), ['require_approval', 'ask-ok']);
  assert.deepEqual(rules.judge(run('ok')).grants?.hosts, ['api.example.com']);
});

test('a granted path is where a link leads when the rules load', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  const rules = rulesOf(
    `  - { id: a, effect: allow, tools: [x.y], grants: { read: [$WORKSPACE/link, $WORKSPACE/absent] } }\n`,
    { workspace: folder },
  );
  assert.deepEqual(rules.judge(ask('x.y', [])).grants?.read, [join(folder, 'real'), join(folder, 'absent')]);
});

test('a link does not grant what the rules cannot open', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'home'));
  mkdirSync(join(folder, 'work'));
  symlinkSync('../home', join(folder, 'work', 'link'));
  const load = (): unknown =>
    rulesOf('  - { id: a, effect: allow, tools: [x.y], grants: { read: [$WORKSPACE/link] } }\n', {
      home: join(folder, 'home'),
      workspace: join(folder, 'work'),
    });
  assert.throws(load, {
    name: 'ConfigError',
    message: /tools\.yaml:3:\d+ {2}rule a grants \$WORKSPACE\/link, which belongs/,
  });
});

const paths = fc.subarray(['/a', '/a/b', '/a/b/c', '/x']);
const grantsArbitrary: fc.Arbitrary<Grants> = fc.record({
  read: paths,
  write: paths,
  hosts: fc.subarray(['a.c', '*.a.c', 'b.a.c', 'a.c:8443']),
  environment: fc.dictionary(fc.constantFrom('A', 'B'), fc.constantFrom('1', '2'), { noNullPrototype: true }),
  secrets: fc.subarray([
    { name: 's', tools: ['*'], hosts: [] },
    { name: 's', tools: ['*'], hosts: ['a.c'] },
    { name: 't', tools: ['*'], hosts: [] },
  ]),
  limits: fc.record({ cpuMs: fc.integer({ min: 1, max: 5 }) }, { requiredKeys: [] }),
  exactLimits: fc.boolean(),
  unixSockets: fc.boolean(),
  isolation: fc.constantFrom('sandbox', 'none'),
});

const places = ['/a', '/a/b', '/a/b/c', '/a/b/c/d', '/x', '/x/y', '/'];
const readable = ({ read, write }: Grants, path: string): boolean =>
  [...read, ...write].some((folder) => path === folder || path.startsWith(`${folder}/`));
const writable = ({ write }: Grants, path: string): boolean => readable({ ...noGrants, write }, path);

test('together is what one of them gives, in common is what both give', () => {
  fc.assert(
    fc.property(grantsArbitrary, grantsArbitrary, (a, b) => {
      const [either, both] = [uniteGrants([a, b]), intersectGrants(a, b)];
      for (const path of places) {
        assert.equal(readable(either, path), readable(a, path) || readable(b, path));
        assert.equal(writable(either, path), writable(a, path) || writable(b, path));
        assert.equal(readable(both, path), readable(a, path) && readable(b, path));
        assert.equal(writable(both, path), writable(a, path) && writable(b, path));
      }
      assert.equal(either.unixSockets, a.unixSockets || b.unixSockets);
      assert.equal(both.unixSockets, a.unixSockets && b.unixSockets);
      assert.equal(either.isolation === 'none', a.isolation === 'none' || b.isolation === 'none');
      assert.equal(both.isolation === 'none', a.isolation === 'none' && b.isolation === 'none');
      for (const each of [either, both]) {
        const lower = Math.min(a.limits.cpuMs ?? Infinity, b.limits.cpuMs ?? Infinity);
        assert.equal(each.limits.cpuMs ?? Infinity, lower);
      }
      for (const [name, value] of Object.entries(both.environment)) {
        assert.deepEqual([a.environment[name], b.environment[name]], [value, value]);
      }
      for (const secret of both.secrets) assert.ok(a.secrets.includes(secret) && b.secrets.includes(secret));
    }),
  );
});

test('a demand for exact limits holds for the whole call, whatever else is put into it', () => {
  const rules = rulesOf(`
  - { id: git, effect: allow, tools: [shell.run], commands: ['git *'], grants: { read: [$WORKSPACE], exact_limits: true } }
  - { id: grep, effect: allow, tools: [shell.run], commands: ['grep *'], grants: { read: [$WORKSPACE] } }
  - { id: ls, effect: allow, tools: [shell.run], commands: [ls] }
`);
  const demands = (...commands: string[]) => rules.judge(run(...commands)).grants?.exactLimits;
  assert.deepEqual(
    [demands('git log'), demands('git log', 'grep x'), demands('ls', 'git log'), demands('git log', 'ls')],
    [true, true, true, true],
  );
  assert.deepEqual(rules.judge(run('git log', 'ls')).grants, { ...noGrants, exactLimits: true });
  assert.equal(demands('grep x'), false);
});
