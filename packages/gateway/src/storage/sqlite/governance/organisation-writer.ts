import type { Member, OrganisationChange, Permission, Team } from '../../../call/organisation.ts';
import type { Database, Statement } from '../database.ts';

/** Teams, members, permissions and settings, inside the writer's transaction. */
export class OrganisationWriter {
  readonly #run: Record<
    | 'putTeam'
    | 'removeTeam'
    | 'putMember'
    | 'removeMember'
    | 'putPermission'
    | 'removePermission'
    | 'forgetSubject'
    | 'putSettings',
    Statement
  >;

  constructor(database: Database) {
    this.#run = {
      putTeam: database.prepare(
        `INSERT INTO teams (name, senior, senior_agent) VALUES (?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET senior = excluded.senior, senior_agent = excluded.senior_agent`,
      ),
      removeTeam: database.prepare('DELETE FROM teams WHERE name = ?'),
      putMember: database.prepare(
        `INSERT OR REPLACE INTO members (kind, name, team, role, senior, senior_agent, system_prompt, added_at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      removeMember: database.prepare('DELETE FROM members WHERE kind = ? AND name = ?'),
      putPermission: database.prepare(
        `INSERT OR REPLACE INTO permissions (level, subject, tools, effect, given_by, at_ms)
         VALUES (?, ?, ?, ?, ?, ?)`,
      ),
      removePermission: database.prepare('DELETE FROM permissions WHERE level = ? AND subject = ? AND tools = ?'),
      forgetSubject: database.prepare('DELETE FROM permissions WHERE level = ? AND subject = ?'),
      putSettings: database.prepare(
        `INSERT INTO settings (name, value) VALUES ('organisation', ?)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      ),
    };
  }

  change(change: OrganisationChange): boolean {
    switch (change.kind) {
      case 'put-team':
        return this.#putTeam(change.team);
      case 'remove-team':
        this.#run.forgetSubject.run('team', change.name);
        return this.#run.removeTeam.run(change.name) > 0;
      case 'put-member':
        return this.#putMember(change.member);
      case 'remove-member':
        if (change.of === 'agent') this.#run.forgetSubject.run('agent', change.name);
        return this.#run.removeMember.run(change.of, change.name) > 0;
      case 'put-permission':
        return this.#putPermission(change.permission);
      case 'remove-permission': {
        const { level, subject, tools } = change.permission;
        return this.#run.removePermission.run(level, subject, tools) > 0;
      }
      case 'put-settings':
        return this.#run.putSettings.run(JSON.stringify(change.settings)) > 0;
    }
  }

  #putTeam({ name, senior, seniorAgent }: Team): boolean {
    return this.#run.putTeam.run(name, senior ?? null, seniorAgent ?? null) > 0;
  }

  #putMember({ kind, name, team, role, senior, seniorAgent, systemPrompt, addedAtMs }: Member): boolean {
    const texts = [team, role, senior, seniorAgent, systemPrompt].map((text) => text ?? null);
    return this.#run.putMember.run(kind, name, ...texts, addedAtMs) > 0;
  }

  #putPermission({ level, subject, tools, effect, by, atMs }: Permission): boolean {
    return this.#run.putPermission.run(level, subject, tools, effect, by, atMs) > 0;
  }
}
