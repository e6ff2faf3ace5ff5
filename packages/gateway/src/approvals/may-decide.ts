import type { ApprovalTask, Plan } from '../call/approval.ts';
import type { Session } from '../call/session.ts';

/** What a decision would be about. What is absent lets no agent decide: it is no single call, or no rule names one. */
export type Decidable = Pick<ApprovalTask | Plan, 'sessionId' | 'agent' | 'approverRole'> &
  Partial<Pick<ApprovalTask, 'risk' | 'approvers' | 'rulesHash'>>;

/** Why this person or agent may not decide. Undefined: they may. */
export type MayDecide = (decider: Session, about: Decidable) => string | undefined;

/** Who holds which office, as it is now. */
export interface Offices {
  readonly isSenior: (person: Session, agent: string) => boolean;
  readonly isDirector: (person: Session) => boolean;
  /** Whether one agent stands above another. */
  readonly isSeniorAgent: (senior: string, agent: string) => boolean;
  readonly findSession: (id: string) => Session | undefined;
  /** Of the rules under which a session's calls are decided now. */
  readonly rulesHashFor: (sessionId: string) => string;
}

/** People decide, never about a call of their own, and only those whose office it is; and agents that a rule names. */
export function mayDecide(offices: Offices): MayDecide {
  return (decider, about) => {
    if (decider.principal !== 'operator') return explainAgent(decider, about, offices);
    const asking = offices.findSession(about.sessionId);
    // A person has several sessions, such as one for the terminal and one for the console.
    const isOwn = asking?.principal === 'operator' && asking.agent === decider.agent;
    if (isOwn || about.sessionId === decider.id) return ownCall;
    const { isDirector, isSenior } = offices;
    const holdsOffice = about.approverRole === 'director' ? isDirector(decider) : isSenior(decider, about.agent);
    return holdsOffice ? undefined : `This is for the ${about.approverRole} to decide.`;
  };
}

const ownCall = 'Nobody decides about a call of their own.';

/** An agent decides only where the rules in force name it, below critical, and about agents that it stands above. */
function explainAgent(agent: Session, about: Decidable, offices: Offices): string | undefined {
  const { approvers = [], risk = 'critical', approverRole } = about;
  if (!approvers.includes(agent.agent)) return 'Only people decide about this call.';
  if (risk === 'critical' || approverRole !== 'senior') return 'Only people decide about calls of critical risk.';
  const asking = offices.findSession(about.sessionId);
  // An agent has several sessions as well.
  if ([about.agent, asking?.agent].includes(agent.agent) || about.sessionId === agent.id) return ownCall;
  if (offices.findSession(agent.id)?.status !== 'active') return 'The session has ended.';
  if (about.rulesHash !== offices.rulesHashFor(about.sessionId))
    return 'The rules have changed since: this is for a person now.';
  return offices.isSeniorAgent(agent.agent, about.agent) ? undefined : 'This is for the senior of the agent to decide.';
}
