/** A database that an operator set up for agents, under a name. */
export type DatabaseConnection = SqliteConnection | PostgresConnection;

interface NamedConnection {
  readonly name: string;
  /** What agents are told about it. */
  readonly description: string;
  /** `write`: statements that change something may use it too. */
  readonly access: 'read' | 'write';
}

export interface SqliteConnection extends NamedConnection {
  readonly kind: 'sqlite';
  /** As it was written. A relative path starts at the workspace of the session. */
  readonly file: string;
}

export interface PostgresConnection extends NamedConnection {
  readonly kind: 'postgres';
  /** A name or an address, as rules write it. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Name of the stored secret. Absent: the server asks for none. */
  readonly passwordSecret?: string;
  /** Whether the connection is encrypted and the server proves who it is. */
  readonly tls: boolean;
  /** A file with the certificates that vouch for the server. Absent: those that Node knows. */
  readonly caFile?: string;
}
