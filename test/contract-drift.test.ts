import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { codes, describeCode } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { generateFiles, listDrift } from '../scripts/generated-files.ts';
import { binFolder, root, toolEnvironment } from '../scripts/workspace.ts';

let generated: ReadonlyMap<string, string>;

before(async () => {
  generated = await generateFiles();
});

test('the protobuf files follow the rules of buf', () => {
  const options = { cwd: join(root, 'packages/contract'), env: toolEnvironment(), encoding: 'utf8' } as const;
  assert.equal(execFileSync(join(binFolder, 'buf'), ['lint'], options), '');
});

test('the committed generated code and pages are what the sources generate now', () => {
  assert.ok(generated.has('packages/contract/src/gen/sallyport/v1/tool_service_pb.ts'));
  assert.deepEqual(listDrift(generated), []);
});

test('a changed, missing or left over file is noticed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-drift-'));
  try {
    const write = (path: string, content: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    for (const [path, content] of generated) write(path, content);
    assert.deepEqual(listDrift(generated, folder), []);

    const code = 'packages/contract/src/gen/sallyport/v1/tool_service_pb.ts';
    write(code, `${generated.get(code)}// by hand\n`);
    rmSync(join(folder, 'docs/errors.md'));
    write('packages/contract/src/gen/sallyport/v0/old_pb.ts', '');
    assert.deepEqual(listDrift(generated, folder), [
      'docs/errors.md is missing',
      'packages/contract/src/gen/sallyport/v0/old_pb.ts is no longer generated',
      `${code} is out of date`,
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('docs/errors.md has one row for every code, with what the table says', () => {
  const rows = readFileSync(join(root, 'docs/errors.md'), 'utf8').match(/^\| `[A-Z_]+` .*$/gm) ?? [];
  const expected = (Object.keys(codes) as Code[]).map((code) => {
    const { presentedAs, category, connect, http, exit, retryable, meaning } = describeCode(code);
    const cells = [`\`${code}\``, presentedAs, category, connect, http, exit, retryable ? 'yes' : 'no', meaning];
    return `| ${cells.join(' | ')} |`;
  });
  assert.deepEqual(rows, expected);
});
