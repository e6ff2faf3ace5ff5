import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { connectPeer, factsOf, textOf } from '../mcp/server/peers.ts';
import type { Peer } from '../mcp/server/peers.ts';

const rules = `version: 1
rules:
  - { id: files, effect: allow, tools: ['files.*'], paths: ['/**'], approval: waived }
  - { id: plans, effect: allow, tools: ['plans.*'], approval: waived }
  - { id: programs, effect: allow, tools: [shell.run], commands: ['cat *'], approval: waived, grants: { write: [$WORKSPACE] } }
  - { id: free, effect: allow, tools: [shell.run], commands: ['ls *'], approval: waived, grants: { isolation: none } }
`;

describe('where sessions work', () => {
  let daemon: TestDaemon;
  let own: string;
  let [shop, blog] = ['', ''];
  let token: string;
  const run = (...args: string[]) => runSallyport(daemon.place, args);
  /** As `sallyport mcp` in that folder. */
  const bridgeIn = (folder: string) => ({ place: { ...daemon.place, folder }, token });
  const read = (peer: Peer, path: string) => peer.call('files_read', { path });

  before(async () => {
    const place = ownRules(newPlace(), { 'tools.yaml': rules, 'modes.yaml': 'version: 1\n' });
    execFileSync('chmod', ['0755', place.folder]);
    own = realpathSync(place.workspace);
    [shop, blog] = ['shop', 'blog'].map((name) => join(realpathSync(place.folder), name)) as [string, string];
    for (const folder of [shop, blog]) {
      mkdirSync(join(folder, 'src'), { recursive: true });
      writeFileSync(join(folder, 'a.txt'), `${folder} above`);
      writeFileSync(join(folder, 'src', 'a.txt'), `${folder} below`);
    }
    execFileSync('chmod', ['-R', 'a+rwX', shop, blog]);
    daemon = await TestDaemon.start(place);
    assert.equal(run('workspace', 'add', shop).status, 0);
    token = await daemon.newAgent('ada', { workspace: shop });
  });
  after(() => daemon.remove());

  test('relative paths start in the folder of the bridge, and of the roots of a client, inside the workspace', async (t) => {
    const peers = [
      await connectPeer(t, 'v2', bridgeIn(join(shop, 'src'))),
      await connectPeer(t, 'v1', bridgeIn(join(shop, 'src'))),
      await connectPeer(t, 'v1', { url: new URL('/mcp', daemon.address), token }, { roots: [own, join(shop, 'src')] }),
    ];
    for (const peer of peers) {
      assert.match(textOf(await read(peer, 'a.txt')), /shop below/);
      assert.match(textOf(await read(peer, join(shop, 'a.txt'))), /shop above/);
      const climbing = await read(peer, '../a.txt');
      assert.equal(factsOf(climbing)['code'], 'UNSAFE_PATH', textOf(climbing));
      assert.match(textOf(await peer.call('files_list', {})), /shop\/src","entries":\[\{"path":"a\.txt"/);
      assert.match(textOf(await peer.call('shell_run', { argv: ['cat', 'a.txt'] })), /shop below/);
      await peer.call('files_write', { path: 'new.txt', content: 'new' });
      assert.equal(readFileSync(join(shop, 'src', 'new.txt'), 'utf8'), 'new');
      const planned = await peer.call('plans_propose', {
        summary: 'read',
        calls: [{ tool: 'files.read', arguments: { path: 'a.txt' } }],
      });
      assert.match(textOf(planned), /shop\/src\/a\.txt/);
      await peer.close();
    }
  });

  test('a client in no accepted folder, such as its home, works where its session works', async (t) => {
    for (const folder of [realpathSync(daemon.place.folder), blog, '/']) {
      const peer = await connectPeer(t, 'v1', bridgeIn(folder));
      assert.match(textOf(await read(peer, 'a.txt')), /shop above/, folder);
      await peer.close();
    }
  });

  test('a client in another accepted folder is refused, and told what to do, and nothing is opened for it', async (t) => {
    assert.equal(run('workspace', 'add', blog).status, 0);
    const peers = [
      await connectPeer(t, 'v2', bridgeIn(join(blog, 'src'))),
      await connectPeer(t, 'v1', bridgeIn(blog)),
      await connectPeer(t, 'v1', bridgeIn(own)),
      await connectPeer(t, 'v1', bridgeIn(shop), { roots: [blog] }),
    ];
    for (const peer of peers) {
      for (const path of ['a.txt', join(shop, 'a.txt'), join(blog, 'a.txt')]) {
        const refused = await read(peer, path);
        assert.equal(refused.isError, true, textOf(refused));
        assert.doesNotMatch(textOf(refused), /above|below/);
        assert.match(textOf(refused), /The client works in .*, and this session works in .*shop\./);
        assert.match(textOf(refused), /Ask the operator for a session in the folder of the client/);
      }
      await peer.close();
    }
    const { stdout } = run('audit', 'tail');
    assert.match(stdout, /workspace/);
    const there = await daemon.newAgent('bob', { workspace: blog });
    const peer = await connectPeer(t, 'v1', { ...bridgeIn(join(blog, 'src')), token: there });
    assert.match(textOf(await read(peer, 'a.txt')), /blog below/);
  });

  test('no program runs without a sandbox where there are other projects', async () => {
    const listed = await daemon.call('shell.run', { argv: ['ls', blog] }, { token });
    assert.equal(listed.denied?.rationaleCode, 'PROTECTED_PATH', JSON.stringify(listed));
    assert.equal(listed.denied.ruleId, 'other-project');
    assert.match(listed.denied.message, /without a sandbox/);
    assert.equal(run('workspace', 'remove', blog).status, 0);
    assert.equal(run('workspace', 'remove', shop).status, 0);
    const alone = await daemon.newAgent('eve');
    const ran = await daemon.call('shell.run', { argv: ['ls', '/'] }, { token: alone });
    assert.ok(ran.success, JSON.stringify(ran));
  });

  test('after a start of the daemon in another folder, a session goes on where its folder is accepted', async () => {
    const { place } = daemon;
    writeFileSync(join(own, 'a.txt'), 'the first');
    const agent = await daemon.newAgent('eve');
    const readOwn = () => daemon.call('files.read', { path: 'a.txt' }, { token: agent });
    assert.ok((await readOwn()).success);
    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start({ ...place, workspace: shop });
    const refused = await readOwn();
    assert.equal(refused.denied?.ruleId, 'workspace', JSON.stringify(refused));
    assert.match(refused.denied.remedy ?? '', /Ask the operator for a new session/);
    assert.match(run('status').stdout, new RegExp(`can call nothing: sallyport workspace add ${own}`));

    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start(place);
    assert.match(run('workspace', 'add', own).stdout, /Sessions may work in/);
    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start({ ...place, workspace: shop });
    assert.ok((await readOwn()).success, JSON.stringify(await readOwn()));
    assert.doesNotMatch(run('status').stdout, /is not accepted/);
  });
});
