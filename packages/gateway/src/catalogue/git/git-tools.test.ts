import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import type { Resources } from '../../call/tool.ts';
import { endsWith, TestWorkspace } from '../files/test-workspace.ts';
import { gitTools } from './index.ts';
import { hideUserinfo, hostOf } from './resolve-remote.ts';

const operations =
  'CLONE FETCH PULL DIFF COMMIT PUSH STATUS LOG BRANCH CHECKOUT MERGE REBASE ADD RESET STASH TAG REMOTE SHOW';
const tools = new Map(gitTools().map((tool) => [tool.definition.name, tool]));

function claim(command: string): Resources {
  using workspace = new TestWorkspace();
  const [name, ...args] = command.split(' ');
  const tool = tools.get(`git.${name}`) ?? assert.fail(`there is no git.${name}`);
  const { paths, ...rest } = tool.claim({ args }, workspace.session);
  return { ...rest, paths: paths.map((each) => ({ ...each, path: each.path.replace(workspace.path, '') })) };
}

test('each of the 18 operations is a tool of its own, by which rules and leases tell it apart', () => {
  requirement('CAT-2');
  assert.deepEqual(
    [...tools.keys()].sort(),
    operations
      .split(' ')
      .map((name) => `git.${name.toLowerCase()}`)
      .sort(),
  );
  for (const tool of tools.values()) {
    const { name, aliases, requiresSandbox, mutates, idempotent } = tool.definition;
    assert.deepEqual(aliases, [name.replace('.', '_')]);
    assert.ok(requiresSandbox, name);
    assert.equal(idempotent, !mutates, name);
  }
  assert.equal(claim('status').gitOperation, 'STATUS');
  assert.equal(claim('push').gitOperation, 'PUSH');
});

test('what only looks is of low risk; what cannot be taken back is of more', () => {
  const risks = Object.groupBy(tools.values(), ({ definition }) => definition.risk);
  const namesOf = (risk: keyof typeof risks) => risks[risk]?.map(({ definition }) => definition.name.slice(4)).sort();
  assert.deepEqual(namesOf('low'), ['add', 'diff', 'log', 'remote', 'show', 'status']);
  assert.deepEqual(namesOf('medium'), ['branch', 'clone', 'commit', 'fetch', 'merge', 'stash', 'tag']);
  assert.deepEqual(namesOf('high'), ['checkout', 'pull', 'push', 'rebase']);
  assert.deepEqual(namesOf('critical'), ['reset']);
});

test('paths and files in the arguments are claimed', () => {
  assert.deepEqual(claim('add a.txt -- sub/b.txt').paths, [
    { path: '', access: 'write' },
    { path: '/a.txt', access: 'write' },
    { path: '/sub/b.txt', access: 'write' },
  ]);
  assert.deepEqual(claim('diff HEAD -- src').paths, [
    { path: '', access: 'read' },
    { path: '/src', access: 'read' },
  ]);
  assert.deepEqual(claim('commit -F message.txt').paths.at(-1), { path: '/message.txt', access: 'read' });
  assert.throws(() => claim('add ../x'), endsWith('UNSAFE_PATH'));
});

test('the host of an address in the arguments is claimed', () => {
  assert.deepEqual(claim('clone https://git.example.com/a/b.git').hosts, ['git.example.com']);
  assert.deepEqual(claim('clone https://git.example.com:8443/b c').hosts, ['git.example.com:8443']);
  assert.deepEqual(claim('clone https://git.example.com/a/b.git').paths, [{ path: '/b', access: 'write' }]);
  assert.equal(claim('fetch origin').hosts, undefined);
  assert.equal(hostOf('ssh://git.example.com/x'), undefined);
});

test('options are allowed operation by operation', () => {
  requirement('CAT-2');
  const refused = [
    ...['status -v', 'status -c x', 'log --output=x', 'log --show-signature', 'log -L1,2:a', 'diff --no-index a b'],
    ...['diff --ext-diff', 'diff --textconv', 'diff -Ofile', 'show --textconv', 'add -p', 'add -f', 'add --chmod=+x a'],
    ...['commit --edit', 'commit -S', 'commit --template=x', 'commit -p', 'branch --edit-description', 'branch -u x'],
    ...['checkout -p', 'checkout -t x', 'checkout -', 'merge -s evil x', 'merge --edit', 'merge -S x', 'rebase -i x'],
    ...['rebase -x id', 'rebase --exec=id', 'rebase -s evil x', 'reset -p', 'stash -p', 'stash clear', 'stash push x'],
    ...[
      'stash pop -- x',
      'tag -s x',
      'tag -u k x',
      'remote add x y',
      'remote -v get-url x',
      'remote update',
      'tag -v x',
    ],
    ...['fetch --upload-pack=x', 'fetch -o x', 'fetch --all', 'pull --rebase=interactive', 'pull -s evil', 'clone'],
    ...['push --receive-pack=x', 'push --exec=x', 'push --force', 'push -u origin x', 'push origin +x', 'push -d x y'],
    ...[
      'clone -c a=b https://x/y',
      'clone --template=x https://x/y',
      'clone -u x https://x/y',
      'clone --bare https://x/y',
    ],
    ...['clone --recurse-submodules https://x/y', 'clone https://x/y a b', 'clone https://x/y -- z', 'branch -- x'],
  ];
  for (const command of refused) assert.throws(() => claim(command), endsWith('INVALID_ARGUMENTS'), command);
  const taken = [
    ...['status -sb', 'status --porcelain=v2', 'log --oneline -5 main..HEAD', 'log -n 3 --format=%h', 'diff --cached'],
    ...[
      'diff HEAD~1 HEAD --stat',
      'show HEAD:a.txt',
      'add -A',
      'commit -am message',
      'branch -D old',
      'checkout -b new',
    ],
    ...[
      'checkout main -- a.txt',
      'merge --no-ff topic',
      'rebase --onto a b',
      'reset --hard HEAD~1',
      'stash',
      'stash pop',
    ],
    ...[
      'tag -a v1 -m v1',
      'remote -v',
      'remote get-url --push origin',
      'fetch -p origin',
      'pull --ff-only origin main',
    ],
    ...['push --force-with-lease origin main', 'clone --depth 1 -b main https://x.org/y z'],
  ];
  for (const command of taken) assert.doesNotThrow(() => claim(command), command);
});

test('passwords in addresses are not shown', () => {
  assert.equal(hideUserinfo('origin\thttps://me:token@host/x (fetch)'), 'origin\thttps://***@host/x (fetch)');
  assert.equal(hideUserinfo('mail me@host, see https://host/a@b'), 'mail me@host, see https://host/a@b');
});
