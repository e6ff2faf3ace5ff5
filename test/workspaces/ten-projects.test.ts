import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { shellProgram, writeProgram } from '../cli/tool-place.ts';
import { connectPeer } from '../mcp/server/peers.ts';
import { serverScript } from '../mcp/upstream/upstream-kit.ts';
import { requirement } from '../requirement.ts';

/** As open as rules can be: what keeps the projects apart is not in them. */
const openRules = `version: 1
rules:
  - { id: files, effect: allow, tools: ['files.*'], paths: ['/**'], approval: waived }
  - id: programs
    effect: allow
    tools: [shell.run, peek]
    approval: waived
    grants: { write: [$WORKSPACE], read: [$HOME/projects] }
  - id: git
    effect: allow
    tools: ['git.*']
    git_operations: ['*']
    paths: ['/**']
    approval: waived
    grants: { write: [$WORKSPACE], read: [$HOME/projects] }
  - { id: content, effect: allow, tools: ['content.*'], who: [operator], approval: waived }
  - { id: servers, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
`;
const limits = 'version: 1\nrates: []\nrepeats: { warn_at: 999, refuse_at: 1000, window_minutes: 10 }\n';

interface Project {
  readonly folder: string;
  readonly secret: string;
  readonly token: string;
}

describe('ten projects behind one gate', () => {
  let daemon: TestDaemon;
  let base: string;
  let projects: readonly Project[];
  const at = (number: number): Project => projects[number % 10] ?? assert.fail();
  const call = (project: Project, tool: string, input: object): Promise<Answer> =>
    daemon.call(tool, input, { token: project.token });
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = runSallyport(daemon.place, args);
    assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };

  before(async () => {
    const place = ownRules(newPlace(), {
      'tools.yaml': openRules,
      'limits.yaml': limits,
      'modes.yaml': 'version: 1\n',
    });
    execFileSync('chmod', ['0755', place.folder]);
    base = join(realpathSync(place.folder), 'projects');
    mkdirSync(base);
    const folders = Array.from({ length: 10 }, (_, number) => join(base, `p${number}`));
    for (const [number, folder] of folders.entries()) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'own.txt'), `this is ${number}`);
      writeFileSync(join(folder, 'secret.txt'), `the secret of ${number}`);
      const next = join(base, `p${(number + 1) % 10}`);
      symlinkSync(next, join(folder, 'link'));
      symlinkSync(join(next, 'secret.txt'), join(folder, 'file-link'));
      symlinkSync(base, join(folder, 'around'));
      const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' });
      git('init', '-q', '-b', 'main');
      git('add', 'own.txt', 'secret.txt');
      git('-c', 'user.name=P', '-c', 'user.email=p@example.com', 'commit', '-q', '-m', `secret of ${number}`);
    }
    // Programs of a daemon that runs as root belong to another user.
    execFileSync('chmod', ['-R', 'a+rwX', base]);
    daemon = await TestDaemon.start(place);
    for (const folder of folders) run('workspace', 'add', folder);
    const script = join(base, 'p3', 'server.mjs');
    cpSync(serverScript, script);
    run('upstream', 'add', 'demo', '--yes', '--read', join(base, 'p3'), '--', 'node', script, 'good');
    run('upstream', 'test', 'demo');
    run('upstream', 'accept', 'demo', '--yes');
    const peek = shellProgram(
      'peek',
      `seen=$(cat ${base}/*/secret.txt link/secret.txt file-link 2>/dev/null); printf '{"seen":"%s"}' "$seen"`,
    );
    run('tool', 'install', writeProgram(place, 'peek.sh', peek, place.folder), '--yes');
    projects = await Promise.all(
      folders.map(async (folder, number) => ({
        folder,
        secret: `the secret of ${number}`,
        token: await daemon.newAgent(`agent-${number}`, { workspace: folder }),
      })),
    );
  });
  after(() => daemon.remove());

  /** Nothing of another project is in the answer; what the own project has is not hidden. */
  function assertKept(answer: Answer, own: Project, what: string): void {
    const text = JSON.stringify(answer);
    for (const { secret } of projects) {
      if (secret !== own.secret) assert.ok(!text.includes(secret), `${what}: ${text}`);
    }
  }

  test('each session works in its own project', async () => {
    requirement('PKG-3');
    for (const [number, project] of projects.entries()) {
      const own = await call(project, 'files.read', { path: 'own.txt' });
      assert.match(own.success?.outputJson ?? JSON.stringify(own), new RegExp(`this is ${number}`));
      const shell = await call(project, 'shell.run', { argv: ['cat', 'secret.txt'] });
      assert.match(shell.success?.outputJson ?? JSON.stringify(shell), new RegExp(project.secret));
      const written = await call(project, 'shell.run', { command: 'echo mine > made.txt' });
      assert.ok(written.success, JSON.stringify(written));
      assert.equal(readFileSync(join(project.folder, 'made.txt'), 'utf8'), 'mine\n');
      const log = await call(project, 'git.log', {});
      assert.match(log.success?.outputJson ?? JSON.stringify(log), new RegExp(`secret of ${number}`));
    }
  });

  test('no file of another project is read, found, listed, written, moved or deleted', async () => {
    requirement('PKG-3');
    for (const [number, project] of projects.entries()) {
      const other = at(number + 1);
      const names = [
        join(other.folder, 'secret.txt'),
        `../p${(number + 1) % 10}/secret.txt`,
        `./x/../../p${(number + 1) % 10}/secret.txt`,
        'link/secret.txt',
        'file-link',
        `around/p${(number + 1) % 10}/secret.txt`,
        `/proc/self/root${other.folder}/secret.txt`,
      ];
      for (const path of names) {
        const read = await call(project, 'files.read', { path });
        const isPlain = path.startsWith(other.folder);
        const codes = isPlain ? ['PROTECTED_PATH'] : ['PROTECTED_PATH', 'UNSAFE_PATH'];
        assert.ok(codes.includes(read.denied?.rationaleCode ?? ''), `${path}: ${JSON.stringify(read)}`);
        assertKept(read, project, path);
        const write = await call(project, 'files.write', { path, content: 'changed', mode: 'overwrite' });
        assert.ok(write.denied ?? write.error, `${path}: ${JSON.stringify(write)}`);
        const removed = await call(project, 'files.delete', { path });
        // A link is an entry of the own project.
        if (path !== 'file-link') assert.ok(removed.denied ?? removed.error, `${path}: ${JSON.stringify(removed)}`);
      }
      for (const path of ['..', base, other.folder, 'link', 'around']) {
        const found = await call(project, 'files.search', { path, query: 'the secret of' });
        assertKept(found, project, `search ${path}`);
        const listed = await call(project, 'files.list', { path, recursive: true });
        assert.ok(!JSON.stringify(listed).includes(`${other.folder}/secret.txt`), JSON.stringify(listed));
      }
      for (const [from, to] of [
        [other.folder, project.folder],
        [project.folder, other.folder],
        [base, join(project.folder, 'stolen')],
      ]) {
        const moved = await call(project, 'files.move_glob', { from, to, pattern: '*' });
        assert.ok(moved.denied ?? moved.error, `${from} to ${to}: ${JSON.stringify(moved)}`);
      }
    }
    for (const { folder, secret } of projects) assert.equal(readFileSync(join(folder, 'secret.txt'), 'utf8'), secret);
  });

  test('no program sees another project, wherever it is started and whatever it links or mounts', async () => {
    requirement('PKG-3');
    for (const [number, project] of projects.entries()) {
      const other = at(number + 1);
      const scripts = [
        `cat ${other.folder}/secret.txt`,
        `cat link/secret.txt file-link around/*/secret.txt`,
        `find / -name secret.txt -exec cat {} +`,
        `ln ${other.folder}/secret.txt hard.txt; cat hard.txt`,
        `ln -s ${other.folder} soft; cat soft/secret.txt`,
        `mkdir -p m; mount --bind ${other.folder} m; cat m/secret.txt`,
        `cat /proc/1/root${other.folder}/secret.txt`,
        `echo changed > ${other.folder}/secret.txt; mv ${base} x; mv ../p${(number + 1) % 10} .`,
      ];
      for (const script of scripts) {
        const answer = await call(project, 'shell.run', { argv: ['sh', '-c', script] });
        assertKept(answer, project, script);
        assert.ok(answer.success, `${script}: ${JSON.stringify(answer)}`);
        if (script.startsWith('find')) assert.ok(answer.success.outputJson.includes(project.secret));
      }
      for (const cwd of [other.folder, 'link', `../p${(number + 1) % 10}`]) {
        const answer = await call(project, 'shell.run', { argv: ['cat', 'secret.txt'], cwd });
        assertKept(answer, project, `cwd ${cwd}`);
        assert.ok(!(answer.success?.outputJson ?? '').includes('"exit_code":0'), JSON.stringify(answer));
      }
      const peeked = await call(project, 'peek', {});
      assertKept(peeked, project, 'an installed tool');
      assert.ok(JSON.stringify(peeked).includes(project.secret), JSON.stringify(peeked));
    }
    for (const { folder, secret } of projects) assert.equal(readFileSync(join(folder, 'secret.txt'), 'utf8'), secret);
  });

  test('git works in the own repository alone', async () => {
    requirement('PKG-3');
    for (const [number, project] of projects.entries()) {
      const other = at(number + 1);
      const theirs = new RegExp(`secret of ${(number + 1) % 10}`);
      for (const [tool, input] of [
        ['git.log', { cwd: other.folder }],
        ['git.log', { cwd: 'link' }],
        ['git.show', { cwd: `../p${(number + 1) % 10}`, args: ['HEAD'] }],
        ['git.diff', { args: ['--no-index', '/dev/null', `${other.folder}/secret.txt`] }],
        ['git.clone', { args: [other.folder, 'copied'] }],
        ['git.fetch', { args: [other.folder, 'main'] }],
      ] as const) {
        const answer = await call(project, tool, input);
        assert.doesNotMatch(JSON.stringify(answer), theirs, `${tool} ${JSON.stringify(input)}`);
        assertKept(answer, project, tool);
      }
      assert.ok(!existsSync(join(project.folder, 'copied', 'secret.txt')));
    }
  });

  test('a server that sees one project serves the sessions of that project', async () => {
    requirement('PKG-3');
    const path = join(at(3).folder, 'secret.txt');
    const own = await call(at(3), 'demo.read_file', { path });
    assert.match(own.success?.outputJson ?? JSON.stringify(own), /the secret of 3/);
    for (const number of [0, 4, 9]) {
      const answer = await call(at(number), 'demo.read_file', { path });
      assert.equal(answer.denied?.rationaleCode, 'PROTECTED_PATH', JSON.stringify(answer));
      assert.equal(answer.denied.ruleId, 'other-project');
      assert.match(answer.denied.remedy ?? '', /server of this project/);
    }
  });

  test('an MCP client that names a folder of another project as its root gets nothing of it', async (t) => {
    requirement('PKG-3');
    const [own, other] = [at(5), at(6)];
    const place = { ...daemon.place, folder: other.folder };
    const [plain, inOther] = [
      await connectPeer(t, 'v2', { url: new URL('/mcp', daemon.address), token: own.token }),
      await connectPeer(t, 'v1', { place, token: own.token }),
    ];
    for (const peer of [plain, inOther]) {
      const tools = (await peer.listTools()).map(({ name }) => name);
      const name = tools.find((each) => /^files[._]read$/.test(each)) ?? assert.fail(tools.join());
      const mine = JSON.stringify(await peer.call(name, { path: 'secret.txt' }));
      assert.equal(mine.includes(own.secret), peer === plain, mine);
      const theirs = JSON.stringify(await peer.call(name, { path: join(other.folder, 'secret.txt') }));
      assert.ok(!theirs.includes(other.secret), theirs);
      await peer.close();
    }
  });

  test('a hard link that somebody made into the project is no way into another one for programs', async () => {
    const [own, other] = [at(7), at(8)];
    linkSync(join(other.folder, 'secret.txt'), join(own.folder, 'hard-made.txt'));
    const answer = await call(own, 'shell.run', { argv: ['cat', 'hard-made.txt'] });
    assertKept(answer, own, 'a hard link');
    const read = await call(own, 'files.read', { path: 'hard-made.txt' });
    assertKept(read, own, 'a hard link');
  });

  test('workspaces and sessions stay what they are after a restart, and every record names the workspace', async () => {
    requirement('PKG-3');
    const { place } = daemon;
    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start(place);
    const [own, other] = [at(1), at(2)];
    const read = await call(own, 'files.read', { path: 'secret.txt' });
    assert.match(read.success?.outputJson ?? JSON.stringify(read), /the secret of 1/);
    const foreign = await call(own, 'files.read', { path: join(other.folder, 'secret.txt') });
    assert.equal(foreign.denied?.ruleId, 'other-project');
    const recent = await daemon.records(Number((await daemon.status())['logSize']) - 20);
    const named = recent
      .filter(({ kind, payload }) => kind !== 'outcome' && payload['agent'] === 'agent-1')
      .map(({ kind, payload }) => [kind, payload['workspace']]);
    assert.deepEqual(named.slice(-2), [
      ['intent', own.folder],
      ['refusal', own.folder],
    ]);
    const status = (await daemon.status()) as unknown as { workspaceRoots: string[] };
    assert.equal(status.workspaceRoots.length, 11);
  });

  test('a project that is taken back ends its sessions, and a session in a folder nobody accepted is not opened', async () => {
    requirement('PKG-3');
    const { folder, token } = at(9);
    assert.match(run('workspace', 'remove', folder), /1 sessions that worked there have ended/);
    const refused = await daemon.post(
      'sallyport.v1.ToolService/ExecuteTool',
      { name: 'files.read', inputJson: '{"path":"own.txt"}' },
      token,
    );
    assert.match(JSON.stringify(refused), /The session was ended/);
    const created = await daemon.call('sessions.create', { agent: 'late', workspace: folder });
    assert.equal(created.error?.code, 'INVALID_ARGUMENTS', JSON.stringify(created));
    const own = runSallyport(daemon.place, ['workspace', 'remove', daemon.place.workspace]);
    assert.notEqual(own.status, 0);
    assert.match(own.stderr + own.stdout, /is the workspace of the daemon itself/);
  });
});
