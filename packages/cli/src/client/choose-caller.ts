import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { Home } from '@sallyport/gateway';
import { readSecret, ConfigError } from '@sallyport/gateway';
import { CommandFailure, describeError, hasErrorCode, usageFailure } from './failure.ts';
import type { Target } from '@sallyport/contract/http-transport';

export type Role = 'operator' | 'agent';

export interface ClientOptions {
  readonly home: Home;
  /** Where a daemon of this machine listens when nothing else is said. 0: not known. */
  readonly port: number;
  /** How a person starts a daemon here. */
  readonly startCommand: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Holds a session's token. Absent: SALLYPORT_TOKEN, and without that the caller is an operator. */
  readonly tokenFile?: string;
  /** A session's token that the program itself has found. */
  readonly token?: string;
}

/** Who asks, and where. */
export interface Caller {
  readonly role: Role;
  readonly credential: string;
  readonly target: Target;
}

/**
 * The agent whose token is set; else the person whose own credential is given; else the first operator, whose credential
 * is in the home and never goes to a port, where another program could listen while the daemon is down.
 */
export function chooseCaller(options: ClientOptions): Caller {
  const { home, environment } = options;
  const address = readAddress(environment['SALLYPORT_ADDRESS']);
  const token = readToken(options);
  if (token !== undefined) return { role: 'agent', credential: token, target: address ?? { path: home.agentSocket } };
  const own = readOwnCredential(options, address);
  if (own !== undefined) return { role: 'operator', credential: own, target: address ?? nearestDoor(options) };
  return { role: 'operator', credential: readFirstCredential(options), target: { path: home.operatorSocket } };
}

// Tokens come from a file or the environment, never from an argument: every user of the machine sees arguments.
export function readToken({ environment, tokenFile, token: found }: ClientOptions): string | undefined {
  if (found !== undefined) return found;
  if (tokenFile === undefined) return environment['SALLYPORT_TOKEN']?.trim() || undefined;
  let token: string;
  try {
    token = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw usageFailure(`The token file cannot be read: ${describeError(error)}`);
  }
  if (token === '') throw usageFailure(`The token file is empty: ${tokenFile}`);
  return token;
}

/** Of a person who is not the first operator. Undefined: the caller is the first operator. */
function readOwnCredential({ home, environment }: ClientOptions, address: Target | undefined): string | undefined {
  const named = environment['SALLYPORT_CREDENTIAL_FILE'];
  // Who has a gate of their own here and runs another one as well says which by its address.
  if (!named && address === undefined && existsSync(home.operatorCredentialFile)) return undefined;
  const file = named || home.personCredentialFile;
  const credential = readCredentialFile(file, { isNamed: Boolean(named) });
  if (credential !== undefined) return credential;
  if (named) {
    throw usageFailure(
      `There is no credential file ${file}.`,
      'SALLYPORT_CREDENTIAL_FILE names it. Unset that to act as the first operator.',
    );
  }
  if (address === undefined) return undefined;
  throw usageFailure(
    `SALLYPORT_ADDRESS is set, and there is no credential of yours in ${file}.`,
    'Put there what `sallyport person add` printed for you, or name another file with SALLYPORT_CREDENTIAL_FILE. ' +
      'The first operator unsets SALLYPORT_ADDRESS.',
  );
}

function readCredentialFile(file: string, { isNamed }: { readonly isNamed: boolean }): string | undefined {
  try {
    return readSecret(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // A folder of another user holds no credential of this one.
    if (!isNamed && hasErrorCode(error, 'EACCES', 'ENOTDIR')) return undefined;
    throw usageFailure(`The credential file cannot be read: ${describeError(error)}`);
  }
}

/** The operator socket where this user may use it, and else the port. */
function nearestDoor({ home, port }: ClientOptions): Target {
  const socket = { path: home.operatorSocket };
  try {
    accessSync(home.operatorSocket, constants.W_OK);
    return socket;
  } catch {
    return port === 0 ? socket : { host: '127.0.0.1', port };
  }
}

function readFirstCredential(options: ClientOptions): string {
  const { home } = options;
  try {
    return readFileSync(home.operatorCredentialFile, 'utf8').trim();
  } catch (error) {
    // The first start writes it, so without it there has been none.
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) throw unreachable(options, { path: home.operatorSocket });
    throw new CommandFailure(
      'CREDENTIAL_UNREADABLE',
      exitCodes.unreachable,
      `The operator credential cannot be read: ${describeError(error)}`,
      { remedy: `${askForOwn} SALLYPORT_TOKEN is for agents.` },
    );
  }
}

const askForOwn =
  'Run the command as the user who runs the daemon, or ask them for a credential of your own (`sallyport person add`) ' +
  'and name its file with SALLYPORT_CREDENTIAL_FILE.';

/** Why nobody answered there, and what to do. */
export function unreachable({ home, startCommand }: ClientOptions, target: Target, error?: unknown): CommandFailure {
  const fail = (message: string, remedy: string) =>
    new CommandFailure('UNREACHABLE', exitCodes.unreachable, message, { remedy });
  if (!('path' in target)) {
    return fail(
      `No daemon answers at ${describeTarget(target)}.`,
      `Set SALLYPORT_ADDRESS to the address of a running one, or start one with \`${startCommand}\`.`,
    );
  }
  if (hasErrorCode(error, 'EACCES')) return fail(`This user may not use ${target.path}.`, askForOwn);
  return fail(
    `No daemon answers in ${home.folder}.`,
    `Start one with \`${startCommand}\`, or set SALLYPORT_HOME to the folder of a running one.`,
  );
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/** Undefined when no address is set. Only this machine: what is sent there is not encrypted, and holds a credential. */
export function readAddress(text: string | undefined): Target | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const { protocol = '', hostname = '', port = '', href = '' } = url ?? {};
  // Whatever else an address can hold would be set aside silently.
  if (protocol === 'http:' && loopback.includes(hostname) && href === `http://${hostname}${port && ':'}${port}/`) {
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  }
  throw usageFailure(
    `SALLYPORT_ADDRESS is not the address of a daemon on this machine: ${text}`,
    'Set it to the address that `sallyport status` shows, such as http://127.0.0.1:4780, or unset it.',
  );
}

export function describeTarget(target: Target): string {
  if ('path' in target) return target.path;
  return `http://${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
}
