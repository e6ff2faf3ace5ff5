import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, suite as group, test } from 'node:test';
import { load } from 'js-yaml';
import { runConformanceClient } from './conformance-client.ts';
import type { Assignment } from './conformance-client.ts';

const suite = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const relay = join(import.meta.dirname, 'conformance-relay.mjs');

/** What the suite runs without scoring and the gate does not do, and why. docs/mcp.md says the same. */
const exceptions: readonly { readonly scenario: RegExp; readonly reason: string }[] = [
  { scenario: /^auth\/dpop/, reason: 'tokens are not bound to a key of the gate' },
  {
    scenario: /^auth\/(?:enterprise-managed-authorization|wif-jwt-bearer)$/,
    reason: 'no identity provider vouches for the gate',
  },
];

/** Where the server misbehaves and a client has to give up, which may be an error. */
const endsInError = [
  'auth/scope-retry-limit',
  'auth/resource-mismatch',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
  'http-invalid-tool-headers',
];

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** The suite looks at when its requests come, so nothing else runs beside it. */
const timedScenario = 'sse-retry';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-conformance-'));
const socketPath = join(folder, 'client');
/** By scenario: how the client ended, which the suite leaves out of its summary. */
const endings = new Map<string, 'good' | 'error'>();
const server = createServer((socket) => void serveRelay(socket));
/** The suite starts all scenarios at once. One after the other, no client waits for a server that is busy with others. */
let lastTurn: Promise<void> = Promise.resolve();
before(async () => {
  server.listen(socketPath);
  await once(server, 'listening');
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

async function serveRelay(socket: Socket): Promise<void> {
  // The suite kills a client that takes too long.
  socket.on('error', () => undefined);
  const [line] = (await once(createInterface(socket), 'line')) as [string];
  lastTurn = lastTurn.then(() => serveAssignment(socket, JSON.parse(line) as Assignment));
}

async function serveAssignment(socket: Socket, assignment: Assignment): Promise<void> {
  let told = '';
  let isGood = true;
  try {
    await runConformanceClient(assignment, (text) => (told += `${text}\n`));
  } catch (error) {
    isGood = false;
    told += `${String(error)}\n`;
  }
  if (socket.readyState !== 'closed') endings.set(assignment.scenario, isGood ? 'good' : 'error');
  socket.end(JSON.stringify({ isGood, told }));
}

async function runSuite(...args: readonly string[]): Promise<{ code: number; output: string }> {
  endings.clear();
  const command = `${process.execPath} ${relay} ${socketPath}`;
  const child = spawn(process.execPath, [suite, 'client', '--command', command, '--timeout', '120000', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
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

  if (tried.includes(timedScenario)) {
    test(`the official suite passes ${timedScenario} of ${revision} for a client`, async () => {
      const { code, output } = await runSuite('--scenario', timedScenario, '--spec-version', revision, '--force');
      assert.equal(code, 0, output);
      assert.match(output, /OVERALL: PASSED/);
      assert.match(output, /Passed: [1-9]\d*\/\d+, 0 failed/);
    });
  }

  group(`scenarios of ${revision}`, () => {
    let output = '';
    let ended: ReadonlyMap<string, 'good' | 'error'> = new Map();
    before(async () => {
      ({ output } = await runSuite('--requirements', revision));
      ended = new Map(endings);
    });
    for (const scenario of tried.filter((name) => name !== timedScenario)) {
      test(`the official suite passes ${scenario} of ${revision} for a client`, () => {
        assert.match(output, new RegExp(`^✓ ${scenario}: [1-9]\\d* passed, 0 failed$`, 'm'), output);
        const ending = ended.get(scenario);
        assert.ok(ending === 'good' || (ending === 'error' && endsInError.includes(scenario)), `${ending}: ${output}`);
      });
    }
  });
}
