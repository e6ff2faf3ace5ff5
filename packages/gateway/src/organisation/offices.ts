import type { ApproverRole } from '../call/approval.ts';
import type { Organisation } from '../call/organisation.ts';
import type { Session } from '../call/session.ts';
import type { Risk } from '../call/tool.ts';
import { findMember } from './check-member.ts';

export interface OfficeParts {
  readonly readOrganisation: () => Organisation;
  /** Names of the people who can act now. */
  readonly activePeople: () => readonly string[];
  /** The owner of the gate's folder. Director until the organisation names one. */
  readonly owner: string;
  /** The roles that roles.yaml gives an agent. */
  readonly rolesOf: (agent: string) => readonly string[];
}

/** Who decides about whose calls. Reads the current organisation each time. */
export class Offices {
  readonly #parts: OfficeParts;

  constructor(parts: OfficeParts) {
    this.#parts = parts;
  }

  isDirector(person: Session): boolean {
    return person.principal === 'operator' && (this.#isPersonal() || this.#directors().includes(person.agent));
  }

  /** A director is above every senior. */
  isSenior(person: Session, agent: string): boolean {
    return this.isDirector(person) || (person.principal === 'operator' && this.seniorOf(agent) === person.agent);
  }

  /** The owner can always repair an organisation whose directors are gone. If an agent asks, a person decides. */
  mayAdminister({ principal, agent, ...session }: Session): boolean {
    if (principal === 'agent') return this.#isDirectorAgent(agent);
    return agent === this.#parts.owner || this.isDirector({ principal, agent, ...session });
  }

  /** Undefined: none is named, and the directors decide. */
  seniorOf(agent: string): string | undefined {
    const organisation = this.#parts.readOrganisation();
    const member = findMember(organisation, 'agent', agent);
    return member?.senior ?? organisation.teams.find(({ name }) => name === member?.team)?.senior;
  }

  /** Whether an agent is above another. In a circle none is. */
  isSeniorAgent(senior: string, agent: string): boolean {
    const isMember = findMember(this.#parts.readOrganisation(), 'agent', senior) !== undefined;
    if (!isMember || this.seniorAgentOf(agent) !== senior) return false;
    const above = new Set<string>();
    for (let next: string | undefined = senior; next !== undefined && !above.has(next);) {
      above.add(next);
      next = this.seniorAgentOf(next);
    }
    return !above.has(agent);
  }

  /** Undefined: none is named. */
  seniorAgentOf(agent: string): string | undefined {
    const organisation = this.#parts.readOrganisation();
    const member = findMember(organisation, 'agent', agent);
    return member?.seniorAgent ?? organisation.teams.find(({ name }) => name === member?.team)?.seniorAgent;
  }

  /** Undefined: there is nobody who could decide. */
  routeApproval(session: Pick<Session, 'agent'>, risk: Risk): ApproverRole | undefined {
    const role: ApproverRole = risk === 'critical' ? 'director' : 'senior';
    if (this.#isPersonal()) return role;
    const active = this.#parts.activePeople();
    const senior = role === 'senior' ? this.seniorOf(session.agent) : undefined;
    const deciders = senior === undefined ? this.#directors() : [senior, ...this.#directors()];
    return deciders.some((name) => active.includes(name)) ? role : undefined;
  }

  /**
   * The person who is asked first: the senior if that is who decides, or else a director, present ones before others.
   */
  assigneeOf(agent: string, role: ApproverRole): string {
    if (this.#isPersonal()) return this.#parts.owner;
    const active = this.#parts.activePeople();
    const senior = role === 'senior' ? this.seniorOf(agent) : undefined;
    const deciders = [...(senior === undefined ? [] : [senior]), ...this.#directors()];
    return deciders.find((name) => active.includes(name)) ?? deciders[0] ?? this.#parts.owner;
  }

  #isDirectorAgent(agent: string): boolean {
    const role = findMember(this.#parts.readOrganisation(), 'agent', agent)?.role;
    return role === undefined ? this.#parts.rolesOf(agent).includes('director') : role === 'director';
  }

  #isPersonal(): boolean {
    return this.#parts.readOrganisation().settings.profile === 'personal';
  }

  #directors(): readonly string[] {
    const named = this.#parts
      .readOrganisation()
      .members.filter(({ kind, role }) => kind === 'person' && role === 'director')
      .map(({ name }) => name);
    return named.length === 0 ? [this.#parts.owner] : named;
  }
}
