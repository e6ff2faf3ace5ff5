import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode } from '../../client/failure.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';

/** Which session a client uses in which project. `sallyport hook` reads it. */
interface Connection {
  readonly sessions: readonly ConnectedProject[];
}

export interface ConnectedProject {
  readonly root: string;
  readonly sessionId: string;
  readonly token: string;
}

export function readConnection(home: string, client: string): Connection {
  try {
    return JSON.parse(readFileSync(fileOf(home, client), 'utf8')) as Connection;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return { sessions: [] };
    throw error;
  }
}

/** In the place of an earlier session of the same project. */
export function connectProject(home: string, client: string, project: ConnectedProject): void {
  mkdirSync(join(home, 'clients'), { recursive: true, mode: 0o700 });
  const others = readConnection(home, client).sessions.filter(({ root }) => root !== project.root);
  writeFileAtomically(fileOf(home, client), `${JSON.stringify({ sessions: [...others, project] })}\n`);
}

export function removeConnection(home: string, client: string): void {
  rmSync(fileOf(home, client), { force: true });
}

function fileOf(home: string, client: string): string {
  return join(home, 'clients', `${client}.json`);
}
