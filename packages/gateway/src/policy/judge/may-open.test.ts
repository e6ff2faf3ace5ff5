import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../test-world.ts';
import type { ToolDefinition } from '../../call/tool.ts';

const tool = { name: 'files.read', aliases: [], category: 'files', scopes: ['paths'] } as unknown as ToolDefinition;
const asked = { tool, principal: 'agent', agent: 'ada', mode: 'NORMAL' } as const;

const cases: Readonly<Record<string, { readonly rules: string; readonly opens: boolean }>> = {
  'no rule about it': { rules: '  - {id: a, effect: allow, tools: [files.write]}', opens: false },
  'an allowance for some paths': {
    rules: "  - {id: a, effect: allow, tools: [files.read], paths: ['/x/**']}",
    opens: true,
  },
  'a rule that asks a person': { rules: '  - {id: a, effect: require_approval, tools: [files.read]}', opens: true },
  'an allowance in another mode': {
    rules: '  - {id: a, effect: allow, tools: [files.read], modes: [ALERT]}',
    opens: false,
  },
  'an allowance for operators': {
    rules: '  - {id: a, effect: allow, tools: [files.read], who: [operator]}',
    opens: false,
  },
  'an allowance for other agents': {
    rules: '  - {id: a, effect: allow, tools: [files.read], agents: [bob]}',
    opens: false,
  },
  'a denial of the tool': {
    rules: "  - {id: a, effect: allow, tools: ['*']}\n  - {id: d, effect: deny, tools: [files.read]}",
    opens: false,
  },
  'a denial of some paths': {
    rules: "  - {id: a, effect: allow, tools: ['*']}\n  - {id: d, effect: deny, tools: [files.read], paths: ['/x/**']}",
    opens: true,
  },
  'a denial for other agents': {
    rules: "  - {id: a, effect: allow, tools: ['*']}\n  - {id: d, effect: deny, tools: [files.read], agents: [bob]}",
    opens: true,
  },
};
for (const [what, { rules, opens }] of Object.entries(cases)) {
  test(`${what}: a tool is ${opens ? '' : 'not '}offered`, () => {
    assert.equal(rulesOf(rules).mayOpen(asked), opens);
  });
}
