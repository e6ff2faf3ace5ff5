import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';

const rules = `version: 1
rules:
  - { id: operator, effect: allow, tools: ['*'], who: [operator], approval: waived }
  - { id: closed, effect: deny, tools: ['*'], paths: ['$WORKSPACE/.env', '$WORKSPACE/secrets/**', $WORKSPACE/secrets] }
  - { id: files, effect: allow, tools: ['files.*'], paths: ['$WORKSPACE/**'], approval: waived }
  - { id: commands, effect: allow, tools: [shell.run], approval: waived, grants: { write: [$WORKSPACE] } }
`;

// Only root can mount.
if (process.getuid?.() === 0) {
  test('what is closed to a program stays closed where somebody has mounted it once more', async (t) => {
    const place = ownRules(newPlace(), { 'tools.yaml': rules });
    const at = (name: string): string => join(place.workspace, name);
    for (const folder of ['secrets', 'open', 'plain', 'again', '.claude']) mkdirSync(at(folder));
    writeFileSync(at('.env'), 'PASSWORD');
    writeFileSync(at('secrets/key'), 'PASSWORD');
    writeFileSync(at('.claude/settings.json'), 'mine');
    for (const name of ['copy.txt', 'plain/file', 'settings']) writeFileSync(at(name), '');
    execFileSync('chown', ['-R', '65530:65530', place.workspace]);
    const mounts = [
      ['.env', 'copy.txt'],
      ['secrets', 'open'],
      ['plain', 'again'],
      ['.claude/settings.json', 'settings'],
    ] as const;
    for (const [from, to] of mounts) execFileSync('mount', ['--bind', at(from), at(to)]);
    const daemon = await TestDaemon.start(place);
    t.after(async () => {
      await daemon.kill('SIGTERM');
      for (const [, to] of mounts) execFileSync('umount', [at(to)]);
      rmSync(place.folder, { recursive: true });
    });
    const token = await daemon.newAgent('coder');
    const script =
      'cat .env secrets/key copy.txt open/key; echo evil >settings; echo evil >.claude/settings.json; echo fine >again/file';
    const answer = await daemon.call('shell.run', { argv: ['/bin/bash', '-c', script] }, { token });
    assert.ok(answer.success, JSON.stringify(answer));
    assert.doesNotMatch(answer.success.outputJson, /PASSWORD/);
    assert.equal(readFileSync(at('.claude/settings.json'), 'utf8'), 'mine');
    assert.equal(readFileSync(at('plain/file'), 'utf8'), 'fine\n', 'what is open stays open');
  });
}
