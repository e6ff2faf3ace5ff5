import type { ToolDefinition } from '../model/tool.ts';

/** Which property of the tool asks for a person's consent, as a sentence. Undefined: none does. */
export function explainConfirmation(tool: ToolDefinition): string | undefined {
  if (tool.risk === 'critical' || tool.risk === 'high') return `${tool.name} is of ${tool.risk} risk.`;
  if (tool.risk === 'medium' && tool.mutates) return `${tool.name} is of medium risk and changes something.`;
  if (tool.confirmation === 'always') return `${tool.name} always asks for confirmation.`;
  if (tool.requiresApproval) return `${tool.name} requires approval.`;
  return undefined;
}

/** Rules can lift the confirmation that a tool asks for, except where a mistake cannot be made good. */
export function isWaivable(tool: ToolDefinition): boolean {
  return tool.risk !== 'critical';
}
