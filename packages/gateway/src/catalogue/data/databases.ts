import { statSync } from 'node:fs';
import { parsePath } from '../../paths/parse-path.ts';
import type { Session } from '../../call/session.ts';
import { ConfigError } from '../../call/fault.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { Resources } from '../../call/tool.ts';
import type { DatabaseConnection, SqliteConnection } from './database-connection.ts';
import { readDatabases } from './read-databases.ts';

/** The databases that the operator set up. The file is read again when it has changed. */
export class Databases {
  readonly #file: string;
  readonly #ownWorkspace: string;
  #known: { readonly stamp: string; readonly connections: readonly DatabaseConnection[] } | undefined;

  /** `workspace`: of sessions that have none of their own. */
  constructor({ file, workspace }: { readonly file: string; readonly workspace: string }) {
    this.#file = file;
    this.#ownWorkspace = workspace;
  }

  /** Throws ToolRefused while the file has a mistake. */
  list(): readonly DatabaseConnection[] {
    const stamp = this.#readStamp();
    if (this.#known?.stamp === stamp) return this.#known.connections;
    try {
      const connections = readDatabases(this.#file);
      this.#known = { stamp, connections };
      return connections;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const more = { forOperators: error.message };
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'databases', 'No database is set up correctly.', more));
    }
  }

  /** Throws ToolRefused when there is none of this name. */
  find(name: string): DatabaseConnection {
    const connections = this.list();
    const found = connections.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = connections.map((each) => each.name).join(', ');
    const known = names === '' ? 'None is set up.' : `There are: ${names}.`;
    throw new ToolRefused(
      refuse('INVALID_ARGUMENTS', 'databases', `There is no database ${JSON.stringify(name)}. ${known}`, {
        forOperators: `Databases are set up in ${this.#file}.`,
      }),
    );
  }

  /** What a call touches. Throws ToolRefused when there is no such database. */
  claim(name: string, access: 'read' | 'write', session: Session): Resources {
    const connection = this.find(name);
    if (connection.kind === 'postgres') return { paths: [], hosts: [`${connection.host}:${connection.port}`] };
    return { paths: [{ path: this.fileOf(connection, session), access }] };
  }

  /** Absolute. */
  fileOf({ file }: SqliteConnection, session: Session): string {
    return parsePath(file.replace(/^\$WORKSPACE\//, ''), session.workspace ?? this.#ownWorkspace).path;
  }

  #readStamp(): string {
    const stats = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
  }
}
