import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainNotExecuted } from './explain-not-executed.ts';

function textOf(program: Parameters<typeof explainNotExecuted>[0]): string {
  const { message, remedy } = explainNotExecuted(program);
  return remedy === undefined ? message : `${message} ${remedy}`;
}

test('a program that cannot be executed is explained by what is really wrong with it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-explain-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const put = (name: string, text: string, mode = 0o755): string => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
    return `/shown/${name}`;
  };
  const mount = { source: folder, target: '/shown', access: 'read', hidden: [join(folder, 'secret')] } as const;
  const explain = (file: string): string => textOf({ argv: [file], mounts: [mount], isolation: 'sandbox' });
  assert.match(explain('/srv/app/server'), /^\/srv\/app\/server is not visible in the sandbox\. Grant the folder/);
  assert.match(explain(put('secret', '#!/bin/sh\n')), /not visible in the sandbox/);
  assert.match(explain('/shown/absent'), /^There is no file \/shown\/absent\.$/);
  assert.match(explain('/usr/bin/no-such-program'), /^There is no file/);
  assert.match(explain('/shown'), /is not a file/);
  assert.match(
    explain(put('tool', '#!/opt/nowhere/python -u\n')),
    /first line of \/shown\/tool names \/opt\/nowhere\/python,/,
  );
  assert.match(explain(put('other', 'MZ')), /its loader or a library is missing, or it was built for another machine/);
});

test('without a sandbox the whole machine is visible', () => {
  const explain = (file: string): string => textOf({ argv: [file], mounts: [], isolation: 'none' });
  assert.match(explain('/nowhere/at/all'), /There is no file/);
  assert.doesNotMatch(explain(process.execPath), /not visible/);
});
