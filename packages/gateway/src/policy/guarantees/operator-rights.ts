import { compileRule } from '../language/compile-rules.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import type { Rule } from '../language/rule.ts';

interface Right {
  readonly id: string;
  readonly tools: readonly string[];
  /** Whether a call runs without its operator being shown the effect first. */
  readonly unasked: boolean;
}

/** What people may do to run the gate. */
const rights: readonly Right[] = [
  {
    id: 'operator-sessions',
    tools: ['sessions.*', 'calls.*', 'leases.*', 'people.*', 'secrets.*', 'console.*', 'mode.*', 'anomalies.*'],
    unasked: true,
  },
  {
    id: 'operator-workspaces',
    tools: ['workspaces.add', 'workspaces.list', 'workspaces.show', 'workspaces.remove'],
    unasked: true,
  },
  // Putting rules of a project in force shows them.
  { id: 'operator-project-rules', tools: ['workspaces.accept'], unasked: false },
  { id: 'operator-clients', tools: ['clients.coverage'], unasked: true },
  // It shows what it would change.
  { id: 'operator-undo', tools: ['undo.*'], unasked: false },
  { id: 'operator-content', tools: ['content.verify', 'content.gc'], unasked: true },
  // Deciding about calls that wait, and taking decisions back.
  {
    id: 'operator-approvals',
    tools: ['approvals.*', 'plans.approve', 'plans.deny', 'plans.reveal', 'confirm.revoke', 'confirm.rotate_key'],
    unasked: true,
  },
  // Giving consent beforehand shows what the calls would do.
  { id: 'operator-confirm-tokens', tools: ['confirm.issue'], unasked: false },
  // Looking at the rules is free; putting other ones in force asks.
  { id: 'operator-policy', tools: ['policy.*'], unasked: false },
  { id: 'operator-tools', tools: ['tools.*'], unasked: false },
  // This opens no tool of a server: that takes a rule with origins: [upstream].
  { id: 'operator-upstreams', tools: ['upstreams.*'], unasked: false },
  // Erasing is critical, and asks.
  { id: 'operator-audit', tools: ['audit.*'], unasked: false },
  // The tools themselves let only directors change something.
  {
    id: 'operator-organisation',
    tools: ['organisation.*', 'teams.*', 'agents.*', 'roles.*', 'permissions.*', 'system.configure'],
    unasked: false,
  },
];

/**
 * The rights of operators, built in so that no rule file has to repeat them and none can leave them out. They are
 * allowances like others: a rule that denies still beats them.
 */
export const operatorRights: readonly CompiledRule[] = rights.map(({ id, tools, unasked }) => {
  const rule: Rule = {
    ...{ id, effect: 'allow', tools, origins: ['builtin'], who: ['operator'] },
    ...{ approvalWaived: unasked, acceptsNew: false, shadow: false, examples: [], file: '', line: 1 },
  };
  return { ...compileRule(rule), reference: { id } };
});
