import type { ApprovalTask, Plan } from '../model/approval.ts';
import type { Session } from '../model/session.ts';

/** What a decision would be about. */
export type Decidable = Pick<ApprovalTask | Plan, 'sessionId' | 'agent' | 'approverRole'>;

/** Why this person may not decide. Undefined: they may. */
export type MayDecide = (person: Session, about: Decidable) => string | undefined;

/** Who holds which office. Absent offices let nobody decide. */
export interface Offices {
  readonly isSenior: (person: Session, agent: string) => boolean;
  readonly isDirector: (person: Session) => boolean;
  readonly findSession: (id: string) => Session | undefined;
}

/** Only people decide, never about a call of their own, and only those whose office it is. */
export function mayDecide({ isSenior, isDirector, findSession }: Offices): MayDecide {
  return (person, about) => {
    if (person.principal !== 'operator') return 'Only people decide about calls.';
    const asking = findSession(about.sessionId);
    // A person has several sessions, such as one for the terminal and one for the console.
    const isOwn = asking?.principal === 'operator' && asking.agent === person.agent;
    if (isOwn || about.sessionId === person.id) return 'Nobody decides about a call of their own.';
    const holdsOffice = about.approverRole === 'director' ? isDirector(person) : isSenior(person, about.agent);
    return holdsOffice ? undefined : `This is for the ${about.approverRole} to decide.`;
  };
}
