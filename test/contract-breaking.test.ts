import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { binFolder, root, toolEnvironment } from '../scripts/workspace.ts';
import { requirement } from './requirement.ts';

const contract = join(root, 'packages/contract');
// What clients may be compiled against. After an addition that stays:
// npx buf build packages/contract --exclude-source-info -o packages/contract/baseline.binpb
const baseline = join(contract, 'baseline.binpb');

/** What buf says about the proto files of a folder, compared with those that clients are compiled against. */
function compare(folder: string): string {
  const args = ['breaking', '--against', baseline];
  const { stdout, stderr } = spawnSync(join(binFolder, 'buf'), args, {
    cwd: folder,
    env: toolEnvironment(),
    encoding: 'utf8',
  });
  return `${stdout}${stderr}`;
}

/** The same after a change to the typed protocol. */
function compareAfter(change: (source: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-breaking-'));
  try {
    cpSync(join(contract, 'buf.yaml'), join(folder, 'buf.yaml'));
    cpSync(join(contract, 'proto'), join(folder, 'proto'), { recursive: true });
    const file = join(folder, 'proto/sallyport/v1/tool_protocol.proto');
    const source = readFileSync(file, 'utf8');
    const changed = change(source);
    assert.notEqual(changed, source, 'the change found its place');
    writeFileSync(file, changed);
    return compare(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('nothing on the wire has changed for clients that exist', () => {
  requirement('WIRE-1');
  assert.equal(compare(contract), '');
});

test('a removed field, another tag, another type and a removed method are noticed', () => {
  requirement('WIRE-1');
  const changes: readonly [from: string, to: string, complaint: RegExp][] = [
    ['  bool append = 4;\n', '', /field "4" with name "append" .* was deleted/],
    ['bool retryable = 3', 'bool retryable = 7', /field "3" with name "retryable" .* was deleted/],
    ['uint32 temperature_scaled = 5', 'string temperature_scaled = 5', /"temperature_scaled".* changed type/],
    ['  rpc Execute(ToolRequest) returns (ToolResponse);\n', '', /"Execute" .* was deleted/],
  ];
  for (const [from, to, complaint] of changes) {
    assert.match(
      compareAfter((source) => source.replace(from, to)),
      complaint,
    );
  }
});

test('a new field under a new tag is accepted', () => {
  requirement('WIRE-1');
  const addField = (source: string): string =>
    source.replace('  bool append = 4;\n', '  bool append = 4;\n  string owner = 5;\n');
  assert.equal(compareAfter(addField), '');
});
