import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { requirement } from '../requirement.ts';

const toolsYaml = `version: 1
tools:
  files.write:
    requires_approval_in_modes: [NORMAL]
    allowed_paths: ['$WORKSPACE/**']
    max_file_size_mb: 1
  files.ensure_dir:
    requires_approval_in_modes: [NORMAL]
    allowed_paths: ['$WORKSPACE/**']
  files.read:
    allowed_in_modes: [NORMAL]
    allowed_paths: ['$WORKSPACE/**']
    max_file_size_mb: 1
  files.edit:
    requires_approval_in_modes: [NORMAL]
    allowed_paths: ['$WORKSPACE/**']
    max_file_size_mb: 1
  files.delete:
    requires_approval_in_modes: [NORMAL]
    allowed_paths: ['$WORKSPACE/**']
rules:
  - { id: closed, effect: deny, tools: [files.read], paths: ['$WORKSPACE/closed.txt'] }
  - { id: operators, effect: allow, tools: ['sessions.*', 'approvals.*', 'content.*'], who: [operator], approval: waived }
  - { id: content, effect: allow, tools: ['content.*'], approval: waived }
`;
const megabyte = 1024 * 1024;

let daemon: TestDaemon;
let agent: string;
before(async () => {
  daemon = await TestDaemon.start(ownRules(newPlace(), { 'tools.yaml': toolsYaml }));
  agent = await daemon.newAgent('ada');
});
after(() => daemon.remove());

const inWorkspace = (name: string): string => join(daemon.place.workspace, name);

async function listPending(): Promise<readonly unknown[]> {
  const { json } = await daemon.post('sallyport.v1.ApprovalService/ListApprovals', { status: 'pending' });
  return (json as { approvals?: readonly unknown[] }).approvals ?? [];
}

/** An agent's call that is refused at once, although its kind asks a person. */
async function refusal(tool: string, input: object): Promise<string> {
  const { denied } = await daemon.call(tool, input, { token: agent });
  assert.deepEqual(await listPending(), [], 'somebody was asked in vain');
  assert.ok((denied?.remedy ?? '') !== '', JSON.stringify(denied));
  return `${denied?.rationaleCode} ${denied?.ruleId}`;
}

test('nobody is asked about a write that has to make the folder of an agent client', async () => {
  const protectedFolder = 'PROTECTED_PATH protected-path';
  const settings = { path: '.vscode/settings.json', content: '{}', create_parents: true };
  assert.equal(await refusal('files.write', settings), protectedFolder);
  assert.equal(await refusal('files.write', { ...settings, path: 'app/.vscode/settings.json' }), protectedFolder);
  assert.equal(await refusal('files.ensure_dir', { path: 'app/.vscode/snippets' }), protectedFolder);
  assert.deepEqual(readdirSync(daemon.place.workspace), []);
});

test('nobody is asked about what a link leads out of the allowed folders', async () => {
  mkdirSync(join(daemon.place.folder, 'elsewhere'));
  symlinkSync(join(daemon.place.folder, 'elsewhere'), inWorkspace('link'));
  assert.equal(await refusal('files.write', { path: 'link/a.txt', content: '' }), 'UNSAFE_PATH path-link');
});

test('files above max_file_size_mb are neither read, written nor edited, and nobody is asked about it', async () => {
  const tooLarge = 'RULE_DENIES max-file-size';
  const large = 'x'.repeat(megabyte + 1);
  writeFileSync(inWorkspace('large.txt'), large);
  writeFileSync(inWorkspace('full.txt'), 'x'.repeat(megabyte));
  assert.equal(await refusal('files.read', { path: 'large.txt', limit: 10 }), tooLarge);
  assert.ok((await daemon.call('files.read', { path: 'full.txt', limit: 10 }, { token: agent })).success);
  assert.equal(await refusal('files.write', { path: 'new.txt', content: large }), tooLarge);
  assert.equal(await refusal('files.write', { path: 'full.txt', content: 'x', append: true }), tooLarge);
  assert.equal(await refusal('files.edit', { path: 'large.txt', old_content: 'x', new_content: 'y' }), tooLarge);
  assert.ok(!existsSync(inWorkspace('new.txt')));
});

test('a person is still asked about everything else', async () => {
  const asked = await daemon.call('files.write', { path: 'new.txt', content: 'x' }, { token: agent });
  assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED');
  assert.equal((await listPending()).length, 1);
});

test('nobody is asked about a call that will fail, if the caller may know why', async () => {
  requirement('APPR-11');
  mkdirSync(inWorkspace('full/inner'), { recursive: true });
  writeFileSync(inWorkspace('full/a.txt'), 'one');
  const pendingBefore = (await listPending()).length;
  const refused = async (tool: string, input: object): Promise<string> => {
    const { denied, error } = await daemon.call(tool, input, { token: agent });
    assert.equal((await listPending()).length, pendingBefore, `somebody was asked in vain about ${tool}`);
    return denied?.rationaleCode ?? error?.code ?? 'not refused';
  };
  assert.equal(await refused('files.delete', { path: 'full' }), 'NOT_A_FILE');
  assert.equal(await refused('files.delete', { path: 'missing.txt' }), 'NOT_FOUND');
  assert.equal(await refused('files.edit', { path: 'full/a.txt', old_content: 'two', new_content: '' }), 'NO_MATCH');
  assert.equal(await refused('files.write', { path: 'full/a.txt', content: '', create_only: true }), 'ALREADY_EXISTS');
  assert.equal(await refused('files.write', { path: 'no/folder.txt', content: '' }), 'NOT_FOUND');
});

test('a caller who may not read a file does not learn from a question what is in it', async () => {
  writeFileSync(inWorkspace('closed.txt'), 'secret');
  for (const passage of ['secret', 'other']) {
    const edit = { path: 'closed.txt', old_content: passage, new_content: '' };
    const { denied } = await daemon.call('files.edit', edit, { token: agent });
    assert.equal(denied?.rationaleCode, 'APPROVAL_REQUIRED');
  }
});
