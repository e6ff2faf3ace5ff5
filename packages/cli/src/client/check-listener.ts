import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { attempt } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { Target } from '@sallyport/contract/http-transport';
import { CommandFailure } from './failure.ts';

/** Where the gate of a separated install keeps its files. */
const separatedFolder = '/var/lib/sallyport';
const listening = '0A';

/**
 * Throws when somebody else than the user of the gate listens at the port: while a daemon is down, any program of the
 * machine can take its port, and a person's credential would go to it. Looks at the tables of the kernel, just before
 * each request; where there are none, as on macOS, it cannot tell.
 */
export function checkListener(target: Target, home: string, tables = readTables()): void {
  if (!('port' in target)) return;
  const trusted = new Set([process.getuid?.(), 0, ownerOf(home), ownerOf(separatedFolder)]);
  const stranger = findListeners(target.port, tables).find((uid) => !trusted.has(uid));
  if (stranger === undefined) return;
  throw new CommandFailure(
    'FOREIGN_LISTENER',
    exitCodes.unreachable,
    `Port ${target.port} is held by user ${stranger}, who does not run the gate. Your credential was not sent.`,
    { remedy: 'Start the gate again. If it is that user who runs it, set SALLYPORT_HOME to the home of the gate.' },
  );
}

/** The users who listen at the port, at whatever address. */
export function findListeners(port: number, tables: readonly string[]): readonly number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , uid] = line.trim().split(/\s+/);
      return state === listening && local.endsWith(suffix) ? [Number(uid)] : [];
    }),
  );
}

/** Of the folder, or of the nearest one above it that this user can see. */
function ownerOf(folder: string): number {
  for (let at = folder; ; at = dirname(at)) {
    try {
      return statSync(at).uid;
    } catch {
      if (at === dirname(at)) return 0;
    }
  }
}

function readTables(): readonly string[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => {
    return attempt(() => [readFileSync(file, 'utf8')]) ?? [];
  });
}
