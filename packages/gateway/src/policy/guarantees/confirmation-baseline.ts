import type { ToolDefinition } from '../../call/tool.ts';
import type { Question } from '../../call/verdict.ts';
import type { Rule } from '../language/rule.ts';

type Caller = Pick<Question, 'tool' | 'principal' | 'profile'>;
type Waiver = Pick<Rule, 'approvalWaived' | 'highRiskAsks' | 'keepsOwnApproval'>;

/** Which property of the tool asks for a person's consent, as a sentence. Undefined: none does. */
export function explainConfirmation(tool: ToolDefinition): string | undefined {
  if (tool.risk === 'critical' || tool.risk === 'high') return `${tool.name} is of ${tool.risk} risk.`;
  if (tool.risk === 'medium' && tool.mutates) return `${tool.name} is of medium risk and changes something.`;
  if (tool.confirmation === 'always') return `${tool.name} always asks for confirmation.`;
  if (tool.requiresApproval) return `${tool.name} requires approval.`;
  return undefined;
}

/** Whether a rule lifts the confirmation that a tool asks for. None does where a mistake cannot be made good. */
export function waivesConfirmation(waiver: Waiver, { tool, principal, profile }: Caller): boolean {
  const { approvalWaived, highRiskAsks = false, keepsOwnApproval = false } = waiver;
  if (!approvalWaived || tool.risk === 'critical') return false;
  if (principal === 'agent' && profile === 'team' && !isInside(tool)) return false;
  if ((keepsOwnApproval || highRiskAsks) && tool.requiresApproval) return false;
  return !highRiskAsks || (tool.risk !== 'high' && tool.confirmation !== 'always');
}

/** Whether calls change nothing but what the gate itself keeps for the caller, such as plans and stored content. */
function isInside({ origin, scopes, risk }: ToolDefinition): boolean {
  return origin === undefined && scopes.length === 0 && risk !== 'high';
}
