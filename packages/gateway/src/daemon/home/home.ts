import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { isDiskFull } from '../../storage/sqlite/database.ts';

/** The paths of all files under $SALLYPORT_HOME. */
export interface Home {
  readonly folder: string;
  readonly databaseFile: string;
  readonly signingKeyFile: string;
  readonly verifierFile: string;
  readonly secretsKeyFile: string;
  readonly confirmKeyFile: string;
  readonly stateKeyFile: string;
  readonly operatorCredentialFile: string;
  /** Of a person who runs a gate that another user started. Read by their command line only. */
  readonly personCredentialFile: string;
  readonly operatorSocket: string;
  readonly agentSocket: string;
  readonly lockFile: string;
  readonly logFile: string;
  /** The events of calls. */
  readonly callLogFile: string;
  /** Opens `/metrics` and nothing else. */
  readonly metricsTokenFile: string;
  readonly checkpointFile: string;
  readonly verifiedCheckpointFile: string;
  /** The newest checkpoint with the signatures of witnesses. */
  readonly cosignedCheckpointFile: string;
  /** What can be searched in the log. It is derived, and may be removed. */
  readonly indexFile: string;
  /** Payloads of old records. */
  readonly archiveFolder: string;
  readonly reserveFile: string;
  readonly contentFolder: string;
  readonly trashFolder: string;
  readonly sweepsFolder: string;
  readonly rulesFolder: string;
  readonly appliedRulesFile: string;
  readonly toolsFolder: string;
  readonly workspaceFolder: string;
  readonly databasesFile: string;
}

/** `sockets`: a folder for the sockets, where others may come to them. Absent: within the home. */
export function describeHome(folder: string, sockets = join(folder, 'run')): Home {
  const at = (...parts: string[]): string => join(folder, ...parts);
  return {
    folder,
    databaseFile: at('sallyport.db'),
    signingKeyFile: at('keys', 'audit.key'),
    verifierFile: at('keys', 'audit.pub'),
    secretsKeyFile: at('keys', 'secrets.key'),
    confirmKeyFile: at('keys', 'confirm.key'),
    stateKeyFile: at('keys', 'state.key'),
    operatorCredentialFile: at('credentials', 'operator'),
    personCredentialFile: at('credentials', 'person'),
    operatorSocket: join(sockets, 'operator', 'sallyport.sock'),
    agentSocket: join(sockets, 'agent', 'sallyport.sock'),
    lockFile: at('run', 'daemon.lock'),
    logFile: at('log', 'daemon.log'),
    callLogFile: at('log', 'calls.log'),
    metricsTokenFile: at('credentials', 'metrics'),
    checkpointFile: at('audit', 'checkpoint'),
    verifiedCheckpointFile: at('audit', 'verified-checkpoint'),
    cosignedCheckpointFile: at('audit', 'cosigned-checkpoint'),
    indexFile: at('audit', 'index.db'),
    archiveFolder: at('audit', 'archive'),
    reserveFile: at('audit', 'reserve'),
    contentFolder: at('content'),
    trashFolder: at('trash'),
    sweepsFolder: at('sweeps'),
    rulesFolder: at('governance'),
    appliedRulesFile: at('audit', 'applied-rules.json'),
    toolsFolder: at('tools'),
    workspaceFolder: at('workspace'),
    databasesFile: at('databases.yaml'),
  };
}

/** Longest path that fits into a socket address on Linux; macOS has four less. */
const maxSocketPath = process.platform === 'linux' ? 107 : 103;

/**
 * Creates the folders, readable by their owner only. Programs that root starts run as another user, who may pass
 * through the home to what is shown to them; each file in it is protected by its own rights. Refuses a home that cannot be
 * written, that belongs to someone else, or that was open, so that anyone could have put rules and keys there.
 */
export function prepareHome(home: Home): void {
  if (Buffer.byteLength(home.operatorSocket) > maxSocketPath) {
    throw new ConfigError(
      `SALLYPORT_HOME is too long for a socket: ${home.operatorSocket}`,
      'Choose a shorter folder with SALLYPORT_HOME.',
    );
  }
  try {
    const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
    mkdirSync(home.folder, { recursive: true, mode });
    refuseForeignFolder(home.folder);
    chmodSync(home.folder, mode);
    for (const name of ['keys', 'credentials', 'run', 'log', 'audit', 'trash', 'content', 'cache']) {
      mkdirSync(join(home.folder, name), { recursive: true, mode: 0o700 });
    }
    for (const socket of [home.operatorSocket, home.agentSocket]) {
      mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
    }
  } catch (error) {
    if (error instanceof ConfigError || isDiskFull(error)) throw error;
    const reason = error instanceof Error ? error.message.replace(/^E[A-Z]+: /, '') : String(error);
    throw new ConfigError(
      `SALLYPORT_HOME cannot be written: ${reason}`,
      `Make ${home.folder} writable, or choose another folder with SALLYPORT_HOME.`,
    );
  }
}

/** Throws ConfigError for a folder of tools that somebody else could have put programs into. */
export function prepareToolsFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^E[A-Z]+: /, '') : String(error);
    throw new ConfigError(`The tools folder cannot be made: ${reason}`, 'Choose another with SALLYPORT_TOOLS.');
  }
  refuseForeignFolder(folder, 'SALLYPORT_TOOLS');
}

function refuseForeignFolder(folder: string, variable = 'SALLYPORT_HOME'): void {
  const own = process.getuid?.();
  const { uid: owner, mode } = statSync(folder);
  if (own !== undefined && owner !== own) {
    throw new ConfigError(
      `${folder} belongs to another user (uid ${owner}).`,
      `Start as that user, or choose another folder with ${variable}.`,
    );
  }
  if ((mode & 0o002) !== 0) {
    throw new ConfigError(
      `Every user of this machine can write to ${folder}.`,
      `Choose a folder of your own with ${variable}.`,
    );
  }
}
