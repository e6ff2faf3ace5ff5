import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { ApprovalDesk, outputOf } from './approval-desk.ts';

const rules = `version: 1
rules:
  - { id: pushing, effect: require_approval, tools: [git.push], paths: ['$WORKSPACE/**'] }
  - { id: people, effect: allow, tools: ['*'], who: [operator], approval: waived }
`;

let daemon: TestDaemon;
let desk: ApprovalDesk;
let token: string;
let repository: string;

before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), { 'tools.yaml': rules }));
  desk = new ApprovalDesk(daemon);
  token = await daemon.newAgent('ada');
  repository = join(daemon.place.workspace, 'project');
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  execFileSync('/usr/bin/git', ['init', '-q', '--bare', '../remote.git'], { cwd: repository });
  git('remote', 'add', 'origin', '../remote.git');
});
after(() => daemon.remove());

function git(...args: readonly string[]): string {
  return execFileSync('/usr/bin/git', ['-c', 'safe.directory=*', ...args], { cwd: repository, encoding: 'utf8' });
}

/** Commits on a branch of their own, each with one line of this length; the first of them holds a password. */
function makeCommits(branch: string, count: number, lineLength: number): void {
  const commits = Array.from({ length: count }, (_, at) => {
    const message = `change ${at}`;
    const line = `${at === 0 ? 'hunter2' : `line ${at}`} ${'x'.repeat(lineLength)}\n`;
    return [
      `commit refs/heads/${branch}\ncommitter A <a@example.com> ${1_700_000_000 + at} +0000\ndata ${message.length}\n${message}\n`,
      `M 100644 inline file\ndata ${line.length}\n${line}\n`,
    ].join('');
  });
  execFileSync('/usr/bin/git', ['-c', 'safe.directory=*', 'fast-import', '--quiet'], {
    cwd: repository,
    input: commits.join(''),
  });
}

const push = (...args: readonly string[]): Promise<Answer> => {
  // Programs of root run as the owner of what they see.
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65530:65530', daemon.place.workspace]);
  return daemon.call('git.push', { args: ['origin', ...args], cwd: 'project' }, { token });
};

test('of 1,500 commits all is shown, and nobody approves them before they have seen the rest', async () => {
  makeCommits('many', 1500, 1000);
  const { taskId } = ApprovalDesk.ticketOf(await push('many'));
  const card = (await desk.show(taskId)) as unknown as {
    readonly effect: string;
    readonly effectSha256: string;
    readonly masked?: readonly { readonly mark: string }[];
  };
  assert.match(card.effect, /did not have when it was last looked at: 1500\n/);
  assert.match(card.effect, /\n {2}and 500 more\n/);
  assert.match(card.effect, /\[rest 1: \d+ characters, SHA-256 [0-9a-f]{64}\]/);
  const approve = () =>
    desk.send('ApprovalService/DecideApproval', { id: taskId, approved: true, effectSha256: card.effectSha256 });
  const refused = await approve();
  assert.notEqual(refused.status, 200);
  const details = (refused.json['details'] ?? []) as readonly { readonly value: string }[];
  assert.match(Buffer.from(details[0]?.value ?? '', 'base64').toString('latin1'), /APPROVAL_UNSEEN/);
  const input = { task_id: taskId, reason: 'To see what is sent.' };
  const asked = await daemon.call('approvals.reveal', input);
  const confirmBinding = asked.denied?.approval?.binding ?? '';
  const { revealed } = outputOf(await daemon.call('approvals.reveal', input, { confirmBinding })) as {
    readonly revealed: readonly { readonly value: string }[];
  };
  assert.match(revealed.map(({ value }) => value).join(''), /\+hunter2 x{1000}/);
  assert.equal((await approve()).status, 200);
});

test('a push whose patch nobody can be shown is refused with what to do, and works in parts', async () => {
  makeCommits('long', 30, 800_000);
  const { denied } = await push('long');
  assert.equal(denied?.rationaleCode, 'ARGUMENTS_TOO_LARGE');
  assert.match(denied?.message ?? '', /look at 16777217 bytes or more, which is more than can be shown/);
  assert.match(denied?.remedy ?? '', /COMMIT:refs\/heads\/main/);
  const part = git('rev-parse', 'long~22').trim();
  assert.ok(ApprovalDesk.ticketOf(await push(`${part}:refs/heads/long`)).taskId);
});

test('a tag shows its message, and a tag of a file or folder cannot carry what no commit shows', async () => {
  makeCommits('plain', 1, 10);
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'tag', '-a', 'v1', '-m', 'hunter3', 'plain');
  const { taskId } = ApprovalDesk.ticketOf(await push('v1'));
  assert.match(String((await desk.show(taskId))['effect']), /hunter3[^]*\+hunter2/);
  git('tag', 'folder', 'plain^{tree}');
  git('tag', 'file', 'plain:file');
  for (const name of ['folder', 'file']) {
    const { denied } = await push(name);
    assert.equal(denied?.rationaleCode, 'INVALID_ARGUMENTS');
    assert.match(denied?.message ?? '', /which is a (?:tree|blob) and not a commit/);
  }
});
