import { chmodSync, chownSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import type { DoorListener } from './door-listener.ts';

/** What the kernel takes as the path of a socket, without the closing zero. */
const maxSocketPathBytes = process.platform === 'linux' ? 107 : 103;

/** Binds a listener to TCP and returns the port. Throws ConfigError. */
export async function bindPort(listener: DoorListener, host: string, port: number): Promise<number> {
  try {
    const address = await listener.listen({ host, port });
    return (address as AddressInfo).port;
  } catch (error) {
    throw new ConfigError(
      `Port ${port} on ${host} cannot be opened: ${explain(error)}.`,
      'Choose another port with SALLYPORT_PORT; 0 takes a free one.',
    );
  }
}

/**
 * Binds a listener to a unix socket that only its owner may use, or the users of a group as well. Throws ConfigError. A
 * token is asked for in any case.
 */
export async function bindSocket(listener: DoorListener, path: string, group?: string): Promise<void> {
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    throw new ConfigError(
      `The socket path ${path} is longer than ${maxSocketPathBytes} bytes.`,
      'Choose a shorter folder with SALLYPORT_HOME.',
    );
  }
  removeStaleSocket(path);
  try {
    await listener.listen({ path });
    if (group === undefined) chmodSync(path, 0o600);
    else openToGroup(path, findGroup(group));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `The socket ${path} cannot be opened: ${explain(error)}.`,
      'Check that the folder exists and belongs to you, or choose another with SALLYPORT_HOME.',
    );
  }
}

/** Its folder as well: who may not enter that cannot come to the socket. */
function openToGroup(path: string, gid: number): void {
  for (const [each, mode] of [
    [path, 0o660],
    [dirname(path), 0o750],
  ] as const) {
    chownSync(each, -1, gid);
    chmodSync(each, mode);
  }
}

function findGroup(name: string): number {
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const gid = Number(line?.split(':')[2] ?? Number.NaN);
  if (Number.isInteger(gid)) return gid;
  throw new ConfigError(`There is no group ${name}.`, 'SALLYPORT_AGENT_GROUP names it: make it, or unset that.');
}

/** The caller holds the lock of the home, so an existing socket belongs to a daemon that died. */
function removeStaleSocket(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ConfigError(`${path} is in the way: it is not a socket.`, 'Move it elsewhere and start again.');
  }
  rmSync(path);
}

const explanations: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it',
  // Also what a unix socket gets in a folder that does not exist.
  EACCES: 'permission is denied',
  EADDRNOTAVAIL: 'this machine has no such address',
};

function explain(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return explanations[code] ?? code;
}
