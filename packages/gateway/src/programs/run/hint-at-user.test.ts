import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hintAtUser } from './hint-at-user.ts';

const said = (text: string, code = 1) => ({
  how: { kind: 'exited', code } as const,
  stderr: { bytes: Buffer.from(text), truncated: false, totalBytes: text.length },
});
const program = { mounts: [] };

test('a program of a daemon of root that may not open a file is told as whom it ran, and what helps', () => {
  const hint = hintAtUser(program, said('cat: a.txt: Permission denied\n'), 0) ?? '';
  assert.match(hint, /ran as user 65530/);
  assert.match(hint, /operator can give that user the files/);
});

test('nothing is said where that is not the reason', () => {
  assert.equal(hintAtUser(program, said('cat: a.txt: Permission denied\n'), 1000), undefined);
  assert.equal(hintAtUser(program, said('Permission denied\n', 0), 0), undefined);
  assert.equal(hintAtUser(program, said('no such file\n'), 0), undefined);
});
