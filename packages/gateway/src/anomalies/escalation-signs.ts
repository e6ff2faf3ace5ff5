import type { Code } from '@sallyport/contract';
import type { ToolDefinition } from '../call/tool.ts';
import { builtInRules } from '../policy/judge/rule-judge.ts';

/** What an agent tried in order to get at more than it may use. */
export type EscalationSign =
  | 'administration'
  | 'other_agent'
  | 'other_token'
  | 'operator_door'
  | 'lease'
  | 'role'
  | 'protected_path'
  | 'bad_token'
  | 'bad_credential';

/** These cannot be mistakes: one is enough. */
const unmistakable: ReadonlySet<EscalationSign> = new Set([
  'administration',
  'other_agent',
  'other_token',
  'operator_door',
]);

export function isUnmistakable(sign: EscalationSign): boolean {
  return unmistakable.has(sign);
}

const signsByCode: { readonly [Name in Code]?: EscalationSign } = {
  CONFIRM_TOKEN_TRACE: 'other_token',
  CONFIRM_TOKEN_INVALID: 'bad_token',
  CONFIRM_TOKEN_SCOPE: 'bad_token',
  WRONG_DOOR: 'operator_door',
  OUTSIDE_LEASE: 'lease',
  PROTECTED_PATH: 'protected_path',
  UNAUTHENTICATED: 'bad_credential',
};

const signsByRule = new Map<string, EscalationSign>([
  ['agent-claim', 'other_agent'],
  ['permission-revoked', 'role'],
  ['not-a-member', 'role'],
  [builtInRules.outsideRole, 'role'],
]);

/** Refusals that say why somebody may not; all others only say that it does not work, or not now. */
const forbidding: ReadonlySet<Code> = new Set(['UNKNOWN_TOOL', 'NO_RULE_ALLOWS', 'RULE_DENIES', 'OUTSIDE_LEASE']);

/** What a refusal says about the agent. Undefined: nothing of this sort. */
export function findSign(
  { code, rule }: { readonly code: Code; readonly rule: { readonly id: string } },
  tool: Pick<ToolDefinition, 'audience'> | undefined,
): EscalationSign | undefined {
  if (tool !== undefined && tool.audience !== 'everyone' && forbidding.has(code)) return 'administration';
  return signsByCode[code] ?? signsByRule.get(rule.id);
}
