import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode } from '../../client/failure.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

/** Which session a client uses in which project. `sallyport hook` reads it. */
export interface Connection {
  readonly sessions: readonly ConnectedProject[];
  /** Where the gate listens for agents. Absent: in its home. */
  readonly socket?: string;
  /** Our own entry among the MCP servers of the client: its JSON, or its text in a TOML file. */
  readonly server?: { readonly file: string; readonly entry?: unknown; readonly text?: string };
}

export interface ConnectedProject {
  readonly root: string;
  readonly sessionId: string;
  readonly token: string;
  /** What its transcripts say from then on is compared with the log. */
  readonly connectedAtMs?: number;
}

export function readConnection(home: string, client: string): Connection {
  try {
    return JSON.parse(readFileSync(fileOf(home, client), 'utf8')) as Connection;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return { sessions: [] };
    throw error;
  }
}

/** The project that holds the folder. A client that starts its servers elsewhere gets the only one there is. */
export function findProject({ sessions }: Connection, folder: string): ConnectedProject | undefined {
  const holds = ({ root }: ConnectedProject) => folder === root || folder.startsWith(root === '/' ? root : `${root}/`);
  const [nearest] = sessions.filter(holds).sort((one, other) => other.root.length - one.root.length);
  return nearest ?? (sessions.length === 1 ? sessions[0] : undefined);
}

/** In the place of an earlier session of the same project. */
export function connectProject(
  home: string,
  client: string,
  project: ConnectedProject,
  known: Omit<Connection, 'sessions'>,
): void {
  mkdirSync(join(home, 'clients'), { recursive: true, mode: 0o700 });
  const former = readConnection(home, client);
  const others = former.sessions.filter(({ root }) => root !== project.root);
  const connection: Connection = { ...former, ...known, sessions: [...others, project] };
  writeFileAtomically(fileOf(home, client), `${JSON.stringify(connection)}\n`);
}

export function removeConnection(home: string, client: string): void {
  rmSync(fileOf(home, client), { force: true });
}

function fileOf(home: string, client: string): string {
  return join(home, 'clients', `${client}.json`);
}
