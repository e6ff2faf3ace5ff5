import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { confirmations, risks } from '../../call/tool.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import { toolOf } from '../../stages/facts.test-kit.ts';
import { explainConfirmation, waivesConfirmation } from './confirmation-baseline.ts';

const asks = (tool: Partial<ToolDefinition>): boolean =>
  explainConfirmation(toolOf({ mutates: false, requiresApproval: false, ...tool }).definition) !== undefined;

test('where the confirmation and the risk of a tool disagree, the stricter wins', () => {
  requirement('APPR-7');
  for (const risk of risks) {
    for (const confirmation of confirmations) {
      for (const mutates of [false, true]) {
        const byRisk = asks({ risk, mutates, confirmation: 'never' });
        const byConfirmation = asks({ risk: 'low', mutates, confirmation });
        const what = `${risk}, ${confirmation}, ${mutates ? 'changes' : 'reads'}`;
        assert.equal(asks({ risk, mutates, confirmation }), byRisk || byConfirmation, what);
      }
    }
  }
  assert.ok(asks({ risk: 'high', confirmation: 'never' }), 'never does not lift what the risk asks for');
  assert.ok(asks({ risk: 'low', confirmation: 'always' }), 'a low risk does not lift always');
  assert.ok(asks({ risk: 'medium', mutates: true, confirmation: 'never' }));
  assert.ok(asks({ risk: 'low', confirmation: 'never', requiresApproval: true }));
  assert.ok(!asks({ risk: 'medium', mutates: false, confirmation: 'never' }));
});

test('no rule lifts the confirmation of a critical tool', () => {
  const waiver = { approvalWaived: true };
  const by = (tool: Partial<ToolDefinition>, profile?: 'team') =>
    ({ tool: toolOf(tool).definition, principal: 'agent', ...(profile && { profile }) }) as const;
  assert.ok(!waivesConfirmation(waiver, by({ risk: 'critical' })));
  assert.ok(waivesConfirmation(waiver, by({ risk: 'medium' })));
  assert.ok(!waivesConfirmation(waiver, by({ risk: 'high' }, 'team')), 'nor one of high risk in a team');
  assert.ok(waivesConfirmation(waiver, { ...by({ risk: 'high' }, 'team'), principal: 'operator' }));
});
