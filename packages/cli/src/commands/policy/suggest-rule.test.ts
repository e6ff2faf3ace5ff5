import assert from 'node:assert/strict';
import { test } from 'node:test';
import { protectPaths } from '@sallyport/gateway';
import { ask, fakeTool, rulesOf, world } from '../../../../gateway/src/policy/test-world.ts';
import { readComplaints } from './read-complaints.ts';
import { suggestRule } from './suggest-rule.ts';
import type { Failing, Surroundings } from './suggest-rule.ts';

const there = new Set([
  '/srv/dict',
  '/srv/dict/words',
  '/srv/out',
  '/home/ada/work/notes.md',
  '/home/ada/.sallyport/keys',
]);
const surroundings: Surroundings = {
  workspace: world.workspace,
  userHome: world.userHome,
  protectedPaths: protectPaths({ ...world, rulesFolder: '/home/ada/.sallyport/governance' }),
  exists: (path) => there.has(path),
};

function suggest(said: string, more: Partial<Failing> = {}) {
  const asked = { read: [], write: [], hosts: [] };
  return suggestRule({ tool: 'text.count', complaints: readComplaints(said), asked, ...more }, surroundings);
}

test('the rule that is suggested can be loaded and grants what was missing', () => {
  const { rule = '', refused } = suggest(
    [
      'cat: /srv/dict/words: No such file or directory',
      'cat: notes.md: No such file or directory',
      '/bin/sh: 1: cannot create /srv/out/new: Read-only file system',
      'curl: (6) Could not resolve host: api.example.com',
      "HTTPSConnectionPool(host='db.example.com', port=8443)",
    ].join('\n'),
    { failure: { code: 'MEMORY_LIMIT', message: 'The program used its 1 GiB of memory.' } },
  );
  assert.equal(refused.length, 6);
  const rules = rulesOf(rule.replaceAll(/^/gm, '  '));
  const { effect, grants } = rules.judge(ask(fakeTool('text.count', { origin: 'executable' }), []));
  assert.equal(effect, 'allow');
  assert.deepEqual(grants?.read, ['/srv/dict/words', `${world.workspace}/notes.md`]);
  assert.deepEqual(grants?.write, ['/srv/out']);
  assert.deepEqual(grants?.hosts, ['api.example.com', 'db.example.com:8443']);
  assert.deepEqual(grants?.limits, { memoryBytes: 2 * 1024 ** 3 });
});

test('it is as short as a rule can be', () => {
  assert.equal(
    suggest('cat: /srv/dict/words: No such file or directory').rule,
    ['- id: text-count-grants', '  effect: allow', '  tools: [text.count]', '  grants: {read: [/srv/dict/words]}'].join(
      '\n',
    ),
  );
});

test('what the tool says it needs is granted as it says it', () => {
  const asked = { read: ['/srv/dict'], write: [], hosts: ['api.example.com'] };
  const { rule = '' } = suggest('cat: /srv/dict/words: No such file or directory', { asked });
  assert.match(rule, /read: \[\/srv\/dict\]/);
  const cutOff = suggest('Temporary failure in name resolution', { asked });
  assert.match(cutOff.rule ?? '', /hosts: \[api\.example\.com\]/);
});

test('what no rule can give is told, and not suggested', () => {
  const closed = suggest('cat: /home/ada/.sallyport/keys: No such file or directory');
  assert.match(closed.refused[0]?.why ?? '', /no rule opens it: it belongs to Sallyport's own files/);
  assert.equal(closed.rule, undefined);
  const system = suggestRule(
    {
      tool: 'x',
      complaints: readComplaints('/bin/sh: 1: cannot create /usr/bin/x: Read-only file system'),
      asked: { read: [], write: [], hosts: [] },
    },
    { ...surroundings, exists: () => true },
  );
  assert.deepEqual([system.refused.length, system.rule], [1, undefined]);
  const offline = suggest('Network is unreachable');
  assert.deepEqual([offline.refused[0]?.what, offline.rule], ['the network', undefined]);
});

test('a file that is not there at all was not refused', () => {
  assert.deepEqual(suggest('cat: /srv/typo: No such file or directory'), { refused: [] });
  assert.deepEqual(suggest('cat: nodejs: No such file or directory'), { refused: [] });
  assert.deepEqual(suggest('cat: ../../etc/passwd: No such file or directory'), { refused: [] });
});
