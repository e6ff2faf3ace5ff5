import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite as group, test } from 'node:test';
import { load } from 'js-yaml';

const suite = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const clientFile = join(import.meta.dirname, 'conformance-client.ts');

/** What the suite runs without scoring and the gate does not do, and why. docs/mcp.md says the same. */
const exceptions: readonly { readonly scenario: RegExp; readonly reason: string }[] = [
  { scenario: /^auth\/dpop/, reason: 'tokens are not bound to a key of the gate' },
  {
    scenario: /^auth\/(?:enterprise-managed-authorization|wif-jwt-bearer)$/,
    reason: 'no identity provider vouches for the gate',
  },
];

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** It looks at when requests come, so nothing else runs beside it. */
const isTimed = (scenario: string): boolean => scenario === 'sse-retry';

/** The same two programs start over and over. */
const compiled = mkdtempSync(join(tmpdir(), 'sallyport-compiled-'));
after(() => rmSync(compiled, { recursive: true }));

async function runScenario(scenario: string, revision: string): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-conformance-'));
  try {
    const command = `${process.execPath} ${clientFile}`;
    const args = [suite, 'client', '--command', command, '--scenario', scenario, '--spec-version', revision, '--force'];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const revision of ['2026-07-28', '2025-11-25']) {
  const file = join(suite, '../../requirements', `${revision}.yaml`);
  const { client: scored, not_scored: others } = load(readFileSync(file, 'utf8')) as Requirements;
  const extra = others.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  const tried = [...scored, ...extra.filter((name) => !exceptions.some(({ scenario }) => scenario.test(name)))];

  test(`everything that the suite scores of a client in ${revision} is tried`, () => {
    assert.ok(scored.length >= 18 && scored.includes('auth/scope-step-up'), scored.join());
    for (const { scenario } of exceptions) assert.ok(extra.some((name) => scenario.test(name)));
  });

  const tryScenario = (scenario: string): void => {
    test(`the official suite passes ${scenario} of ${revision} for a client`, async () => {
      const { code, output } = await runScenario(scenario, revision);
      assert.equal(code, 0, output);
      assert.match(output, /OVERALL: PASSED/);
      assert.match(output, /Passed: [1-9]\d*\/\d+, 0 failed/);
    });
  };
  tried.filter(isTimed).forEach(tryScenario);
  group(`scenarios of ${revision}`, { concurrency: 3 }, () => {
    tried.filter((scenario) => !isTimed(scenario)).forEach(tryScenario);
  });
}
