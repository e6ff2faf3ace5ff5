import { defaultSettings } from '../../../call/organisation.ts';
import type { Member, Organisation, OrganisationSettings, Permission, Team } from '../../../call/organisation.ts';
import type { Database, Row, Statement } from '../database.ts';

/** Reads the organisation whole. */
export class OrganisationReader {
  readonly #select: Record<'teams' | 'members' | 'permissions' | 'settings', Statement>;

  constructor(database: Database) {
    this.#select = {
      teams: database.prepare('SELECT * FROM teams ORDER BY name'),
      members: database.prepare('SELECT * FROM members ORDER BY kind, name'),
      permissions: database.prepare('SELECT * FROM permissions ORDER BY level, subject, tools'),
      settings: database.prepare(`SELECT value FROM settings WHERE name = 'organisation'`),
    };
  }

  read(): Organisation {
    return {
      settings: this.#readSettings(),
      teams: this.#select.teams.all().map(readTeam),
      members: this.#select.members.all().map(readMember),
      permissions: this.#select.permissions.all().map(readPermission),
    };
  }

  #readSettings(): OrganisationSettings {
    const stored = this.#select.settings.get()?.['value'];
    if (stored === undefined) return defaultSettings;
    return { ...defaultSettings, ...(JSON.parse(String(stored)) as Partial<OrganisationSettings>) };
  }
}

function readTeam(row: Row): Team {
  return {
    name: String(row['name']),
    ...textOf(row, 'senior', 'senior'),
    ...textOf(row, 'senior_agent', 'seniorAgent'),
  };
}

function readMember(row: Row): Member {
  return {
    kind: row['kind'] as Member['kind'],
    name: String(row['name']),
    ...textOf(row, 'team', 'team'),
    ...textOf(row, 'role', 'role'),
    ...textOf(row, 'senior', 'senior'),
    ...textOf(row, 'senior_agent', 'seniorAgent'),
    ...textOf(row, 'system_prompt', 'systemPrompt'),
    addedAtMs: Number(row['added_at_ms']),
  };
}

function readPermission(row: Row): Permission {
  return {
    level: row['level'] as Permission['level'],
    subject: String(row['subject']),
    tools: String(row['tools']),
    effect: row['effect'] as Permission['effect'],
    by: String(row['given_by']),
    atMs: Number(row['at_ms']),
  };
}

function textOf<Name extends string>(row: Row, column: string, name: Name): { [Key in Name]?: string } {
  const value = row[column];
  return (value === null || value === undefined ? {} : { [name]: String(value) }) as { [Key in Name]?: string };
}
