import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { findCommandName, findStartCommand, quoteForShell } from './command-name.ts';

test('the bare name is suggested only where the shell of the person finds this program by it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-name-'));
  try {
    const program = join(folder, 'sallyport.mjs');
    writeFileSync(program, '');
    chmodSync(program, 0o755);
    for (const bin of ['bin', 'other', 'node_modules/.bin']) mkdirSync(join(folder, bin), { recursive: true });
    symlinkSync(program, join(folder, 'bin', 'sallyport'));
    symlinkSync(program, join(folder, 'node_modules/.bin', 'sallyport'));
    writeFileSync(join(folder, 'other', 'sallyport'), '', { mode: 0o755 });
    const named = (path: string): string => findCommandName(program, { PATH: `/nowhere:${join(folder, path)}` });
    assert.equal(named('bin'), 'sallyport');
    assert.equal(named('other'), 'npx sallyport');
    assert.equal(named('node_modules/.bin'), 'npx sallyport');
    const elsewhere = findCommandName(program, { PATH: '', SALLYPORT_HOME: '/a b' });
    assert.equal(elsewhere, `SALLYPORT_HOME='/a b' npx sallyport`);
    assert.equal(findStartCommand(elsewhere), `SALLYPORT_HOME='/a b' npm start`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a quoted word reaches a program unchanged through a shell', () => {
  const words = fc.sample(fc.string({ unit: 'grapheme', minLength: 1 }), 40).filter((word) => !word.includes('\0'));
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`], {
    encoding: 'utf8',
  });
  assert.deepEqual(printed.split('\0').slice(0, -1), words);
});
