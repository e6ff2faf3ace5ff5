import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { TestDaemon } from '../harness/daemon.ts';
import { HookClient } from './hook-client.ts';

let daemon: TestDaemon;
let client: HookClient;
let desk: ApprovalDesk;

before(async () => {
  daemon = await TestDaemon.start();
  const { workspace } = daemon.place;
  mkdirSync(join(workspace, 'src'));
  mkdirSync(join(workspace, 'test'));
  for (const [name, text] of Object.entries({
    'package.json': '{ "scripts": { "test": "node --test" } }\n',
    'README.md': '# Shop\n',
    'src/cart.ts': 'export const total = 1;\n',
    'src/price.ts': 'export const price = 2;\n',
    'test/cart.test.ts': 'test();\n',
    '.env': 'KEY=1\n',
  })) {
    writeFileSync(join(workspace, name), text);
  }
  execFileSync('git', ['init', '-q', workspace]);
  chownSync(workspace, 65534, 65534);
  client = new HookClient(daemon, await daemon.newAgent('claude-code'));
  desk = new ApprovalDesk(daemon);
});
after(() => daemon.remove());

const at = (name: string): string => join(daemon.place.workspace, name);
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'as asked' } });
const read = (name: string) => ({ tool: 'Read', input: { file_path: at(name) } });
const edit = (name: string, from: string, to: string) => ({
  tool: 'Edit',
  input: { file_path: at(name), old_string: from, new_string: to },
});

/** What a coding agent does when it fixes a bug and sends it: sixty uses of its own tools and of ours over the gate. */
function session(): readonly { readonly tool: string; readonly input: object }[] {
  return [
    bash('pwd && ls -la'),
    bash('git status --short'),
    bash('git log --oneline -10'),
    read('package.json'),
    read('README.md'),
    { tool: 'Glob', input: { pattern: 'src/**/*.ts' } },
    { tool: 'Grep', input: { pattern: 'total', path: at('src') } },
    { tool: 'TodoWrite', input: { todos: [{ content: 'find the bug', status: 'pending' }] } },
    read('src/cart.ts'),
    read('src/price.ts'),
    bash("grep -rn 'price' src test | head -20"),
    bash("sed -n '1,120p' src/cart.ts"),
    bash('wc -l src/*.ts'),
    bash('find . -name "*.test.ts" -not -path "*/node_modules/*"'),
    bash('cat package.json | jq .scripts'),
    bash('node --version && npm --version'),
    bash('git diff HEAD~1 --stat 2>/dev/null || true'),
    bash('git branch --show-current'),
    bash('git remote -v'),
    { tool: 'Task', input: { description: 'look', prompt: 'Where is the total made?', subagent_type: 'general' } },
    read('test/cart.test.ts'),
    edit('src/cart.ts', 'total = 1', 'total = 2'),
    edit('src/price.ts', 'price = 2', 'price = 3'),
    { tool: 'Write', input: { file_path: at('src/tax.ts'), content: 'export const tax = 1;\n' } },
    bash('npm test'),
    bash('npm test 2>&1 | tail -30'),
    edit('src/cart.ts', 'total = 1', 'total = 3'),
    bash('npm test'),
    bash('mkdir -p test/fixtures'),
    bash('ls test/fixtures && git diff --stat'),
    { tool: 'Write', input: { file_path: at('test/fixtures/cart.json'), content: '{}\n' } },
    { tool: 'TodoWrite', input: { todos: [{ content: 'find the bug', status: 'completed' }] } },
    bash('cd src && ls'),
    bash('head -50 src/tax.ts'),
    bash('tail -n 20 README.md'),
    bash('rg -n "tax" src'),
    bash('du -sh src'),
    bash('diff src/cart.ts src/price.ts'),
    bash('git show HEAD:src/cart.ts | head -5'),
    bash('git stash list'),
    bash('date && whoami'),
    bash('echo done'),
    bash("awk '{ print $1 }' README.md"),
    bash('test -f tsconfig.json && echo yes || echo no'),
    bash('which node'),
    bash('sort src/cart.ts | uniq -c'),
    bash('git ls-files | head'),
    bash('for f in src/cart.ts src/price.ts; do wc -l "$f"; done'),
    edit('README.md', '# Shop', '# The shop'),
    read('README.md'),
    bash('git add src test README.md'),
    bash('git status'),
    bash('git diff --cached'),
    bash('git commit -m "Correct the total"'),
    bash('git log -1'),
    bash('npm install left-pad'),
    bash('rm -rf test/fixtures'),
    bash('git push origin main'),
    bash('curl -X POST https://example.com/hook -d @README.md'),
    bash('cat .env'),
  ];
}

test('sixty ordinary calls ask only about what runs code, cannot be undone or leaves the machine', async () => {
  const calls = session();
  assert.equal(calls.length, 60);
  const asked: string[] = [];
  const denied: string[] = [];
  for (const { tool, input } of calls) {
    const name = 'command' in input ? String(input.command) : tool;
    const using = client.use(tool, input);
    let isOver = false;
    const ended = using.finally(() => void (isOver = true));
    while (!isOver) {
      const [task] = await Promise.race([desk.pending(), ended.then(() => [])]);
      if (task === undefined) continue;
      asked.push(name);
      await desk.decide(task.id, true);
    }
    if ((await using).permissionDecision === 'deny') denied.push(name);
  }
  assert.deepEqual(denied, ['cat .env']);
  assert.deepEqual(asked, [
    // Which files a pattern or a variable means is not known beforehand.
    'wc -l src/*.ts',
    'npm test',
    'npm test 2>&1 | tail -30',
    'npm test',
    'for f in src/cart.ts src/price.ts; do wc -l "$f"; done',
    'git commit -m "Correct the total"',
    'npm install left-pad',
    'rm -rf test/fixtures',
    'git push origin main',
    'curl -X POST https://example.com/hook -d @README.md',
  ]);
});

test('what runs unasked neither reads a closed file nor overwrites one, however its options are written', async () => {
  for (const command of ['cat -e .env', 'grep -ne. .env', 'sed -n -ne1p .env', 'awk 1 .env', 'touch .env']) {
    assert.equal((await client.use('Bash', { command })).permissionDecision, 'deny', command);
  }
  for (const command of [
    'sort --outp=package.json README.md',
    'sort -opackage.json README.md',
    'uniq README.md package.json',
    'git log --output=package.json',
    'sed -n --in-pl p README.md',
    "sed -n -ne'w package.json' README.md",
    "sed -n '1r .env' README.md",
    `awk 'BEGIN { ARGV[1] = ".env"; ARGC = 2 } 1' README.md`,
    'mkdir /srv/elsewhere',
  ]) {
    const using = client.use('Bash', { command });
    let task: string | undefined;
    while (task === undefined) {
      const pending = await Promise.race([desk.pending(), using.then(() => assert.fail(`${command} did not ask`))]);
      task = pending[0]?.id;
    }
    await desk.decide(task, false);
    assert.equal((await using).permissionDecision, 'deny', command);
  }
});
