import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { findOutside } from '../../packages/gateway/src/policy/judge/lease.ts';
import { loadRules } from '../../packages/gateway/src/policy/language/load-rules.ts';
import { modes } from '../../packages/gateway/src/call/session.ts';
import type { Lease, Mode } from '../../packages/gateway/src/call/session.ts';
import type { Resources, Risk, ToolDefinition } from '../../packages/gateway/src/call/tool.ts';

const readText = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'sallyport-matrix-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'tools.yaml'), readText('matrix.yaml'));
writeFileSync(
  join(folder, 'roles.yaml'),
  `version: 1
roles:
  worker: { tools: [files.read] }
  manager: { tools: ["files.*", "git.*"] }
  director: { tools: ["*"] }
members:
  - { agents: [worker], roles: [worker] }
  - { agents: [manager], roles: [manager] }
  - { agents: [director], roles: [director] }
`,
);
const rules = loadRules({
  folder,
  home: '/gate',
  workspace: '/work',
  userHome: '/home/ada',
  programFolder: '/opt/sallyport',
  environment: {},
});

interface Row {
  readonly mode: Mode;
  readonly role: string;
  readonly tool: string;
  readonly risk: Risk;
  readonly thing: string;
  readonly arguments: string;
  readonly lease: string;
  readonly effect: string;
  readonly rule: string;
}

function readRows(): readonly (Row & { readonly text: string })[] {
  const [head = '', ...lines] = readText('matrix.txt')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const names = head.split(/\s+/);
  return lines.map((text) => {
    const cells = text.split(/\s+/);
    assert.equal(cells.length, names.length, text);
    return { ...Object.fromEntries(names.map((name, at) => [name, cells[at]])), text } as unknown as Row & {
      text: string;
    };
  });
}

function definitionOf({ tool, risk }: Row): ToolDefinition {
  return {
    name: tool,
    aliases: [],
    version: '1.0.0',
    description: '',
    tags: [],
    category: '',
    inputSchema: {},
    outputSchema: {},
    risk,
    confirmation: 'never',
    mutates: tool !== 'files.read' && tool !== 'llm.complete',
    scopes: tool.startsWith('files.') ? ['paths'] : [],
    allowedModes: modes,
    requiresApproval: false,
    requiresSandbox: false,
    timeoutMs: 1000,
    idempotent: true,
    audience: 'everyone',
  };
}

function resourcesOf({ tool, thing }: Row): Resources {
  if (thing === '-') return { paths: [] };
  if (tool.startsWith('git.')) return { paths: [], gitOperation: thing };
  if (tool.startsWith('llm.')) return { paths: [], model: thing };
  return { paths: [{ path: thing, access: tool === 'files.read' ? 'read' : 'write' }] };
}

const scopes: Readonly<Record<string, Pick<Lease, 'tools' | 'paths'>>> = {
  all: { tools: ['*'] },
  docs: { tools: ['*'], paths: ['/work/docs'] },
  reads: { tools: ['files.read'] },
};
const nothingSpent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };

/** As the stages do it: the lease, then the rules. */
function decide(row: Row): readonly [effect: string, rule: string] {
  const scope = scopes[row.lease];
  assert.ok(scope !== undefined, `no lease ${row.lease}`);
  const resources = resourcesOf(row);
  const lease: Lease = { id: 'l', grantedAtMs: 0, budget: {}, spent: nothingSpent, ...scope };
  if (findOutside(lease, row.tool, resources) !== undefined) return ['deny', 'lease'];
  const known = row.arguments === '-' ? '{}' : row.arguments;
  const verdict = rules.judge({
    tool: definitionOf(row),
    principal: 'agent',
    agent: row.role,
    mode: row.mode,
    resources,
    ...(known === 'unknown' ? {} : { arguments: JSON.parse(known) as JsonObject }),
  });
  return [verdict.effect, verdict.rule.id];
}

test('mode, role, risk, rule, lease and arguments decide as every row of the matrix says', () => {
  const rows = readRows();
  assert.ok(rows.length >= 300, 'rows are missing');
  assert.equal(new Set(rows.map(({ text }) => text)).size, rows.length, 'a row stands there twice');
  for (const row of rows) assert.deepEqual(decide(row), [row.effect, row.rule], row.text);
});

test('the matrix shows every rule and every effect at work', () => {
  const rows = readRows();
  const shown = new Set(rows.map(({ rule }) => rule));
  for (const [, id] of readText('matrix.yaml').matchAll(/\bid: ([a-z-]+)/g))
    assert.ok(shown.has(String(id)), String(id));
  for (const rule of ['default-deny', 'outside-role', 'lease']) assert.ok(shown.has(rule), rule);
  assert.deepEqual([...new Set(rows.map(({ effect }) => effect))].sort(), ['allow', 'deny', 'require_approval']);
});
