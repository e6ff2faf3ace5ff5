import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { load } from 'js-yaml';
import type { AnyTool } from '../../../packages/gateway/src/call/tool.ts';
import { requirement } from '../../requirement.ts';
import { addConformance } from './conformance-server.ts';
import { conformanceTools } from './conformance-tools.ts';
import { openTestDoor } from './door-kit.ts';
import { defineTestTool } from './test-tools.ts';

const suite = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** The door with the suite's tools. Its clients bring no token, so that the fixture presents one for them. */
async function openFixture(t: TestContext): Promise<URL> {
  let credential = '';
  let triggered = 0;
  const change = (): void => {
    const extra = defineTestTool({ name: `test_added_${++triggered}`, run: () => Promise.resolve({}) });
    door.registry.replaceSource('test', [...tools, extra]);
  };
  const tools: readonly AnyTool[] = conformanceTools(change);
  const door = await openTestDoor(t, { tools, adapt: addConformance, credential: () => credential });
  credential = door.setSession();
  return door.url;
}

/** Runs what a revision of the protocol requires, and returns what the suite says about it. */
async function runSuite(t: TestContext, url: URL, requirements: string): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-server-conformance-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const args = [suite, 'server', '--url', url.href, '--requirements', requirements, '-o', folder];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** The scenarios that a revision requires of servers, by the suite's own list. */
function requiredOf(requirements: string): readonly string[] {
  const file = join(suite, '../../requirements', `${requirements}.yaml`);
  const { server } = load(readFileSync(file, 'utf8')) as { readonly server: readonly string[] };
  assert.ok(server.length >= 30, 'the list of the suite was not read');
  return server;
}

for (const requirements of ['2026-07-28', '2025-11-25']) {
  test(`the official suite passes all that ${requirements} requires of a server`, async (t) => {
    requirement('WIRE-5');
    const { code, output } = await runSuite(t, await openFixture(t), requirements);
    assert.equal(code, 0, output);
    const passed = [...output.matchAll(/^✓ ([\w-]+): \d+ passed, 0 failed$/gm)].map(([, name]) => name);
    assert.deepEqual(
      requiredOf(requirements).filter((name) => !passed.includes(name)),
      [],
      output,
    );
  });
}
