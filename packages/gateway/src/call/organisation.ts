import type { Question } from './verdict.ts';

/** Who works here: teams with their agents and people, and what was granted or taken away at each level. */
export interface Organisation {
  readonly settings: OrganisationSettings;
  readonly teams: readonly Team[];
  readonly members: readonly Member[];
  readonly permissions: readonly Permission[];
}

export const profiles = ['personal', 'team'] as const;
/**
 * `personal`: the person who runs the gate is senior and director of all agents, and agents need not be members.
 * `team`: only members call, only those decide who hold the office, no rule lifts the question that the risk of a call
 * asks, an agent without a role is a worker, and the limits for teams count.
 */
export type Profile = (typeof profiles)[number];

export interface OrganisationSettings {
  readonly profile: Profile;
  readonly organisationName: string;
}

export const defaultSettings: OrganisationSettings = { profile: 'personal', organisationName: '' };

export interface Team {
  readonly name: string;
  /** The person who decides about calls of its agents. Absent: the directors do. */
  readonly senior?: string;
  /** The agent above its agents, which decides where a rule names it. Absent: none does. */
  readonly seniorAgent?: string;
}

export interface Member {
  readonly kind: 'agent' | 'person';
  /** Of an agent: the name in its sessions. Of a person: as `people.list` has it. */
  readonly name: string;
  /** Absent: in none. */
  readonly team?: string;
  /** As in roles.yaml; a person with the role `director` is a director. Absent: as roles.yaml has it for the name. */
  readonly role?: string;
  /** Absent: that of the team. */
  readonly senior?: string;
  /** Absent: that of the team. */
  readonly seniorAgent?: string;
  /** What the agent is told to be. Absent: nothing is kept here. */
  readonly systemPrompt?: string;
  readonly addedAtMs: number;
}

export const permissionLevels = ['organisation', 'team', 'agent'] as const;
export type PermissionLevel = (typeof permissionLevels)[number];

/** What was said about a tool at one level. Absent at a level: what the level above says, and in the end the roles. */
export interface Permission {
  readonly level: PermissionLevel;
  /** The team or agent. Empty for the organisation. */
  readonly subject: string;
  /** A canonical name; `*` stands for any text. */
  readonly tools: string;
  readonly effect: 'granted' | 'revoked';
  readonly by: string;
  readonly atMs: number;
}

/** What the organisation tells the rules about a caller. What is absent, roles.yaml says. */
export type Membership = Pick<Question, 'roles' | 'teams' | 'toolGranted' | 'profile'>;

/** One change, made whole or not at all. */
export type OrganisationChange =
  | { readonly kind: 'put-team'; readonly team: Team }
  /** Its members stay, in no team; what was said about it is forgotten. */
  | { readonly kind: 'remove-team'; readonly name: string }
  | { readonly kind: 'put-member'; readonly member: Member }
  /** What was said about an agent is forgotten with it. */
  | { readonly kind: 'remove-member'; readonly of: Member['kind']; readonly name: string }
  | { readonly kind: 'put-permission'; readonly permission: Permission }
  | { readonly kind: 'remove-permission'; readonly permission: Pick<Permission, 'level' | 'subject' | 'tools'> }
  | { readonly kind: 'put-settings'; readonly settings: OrganisationSettings };
