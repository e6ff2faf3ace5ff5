import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { openSigner } from '@sallyport/log';
import type { Signer } from '@sallyport/log';
import type { Check, Config, Home } from '@sallyport/gateway';
import { readSecret, auditVerifier, openRememberedCheckpoint, resolveWorkspace, ConfigError } from '@sallyport/gateway';
import { describeError } from '../../client/failure.ts';

/** What a start would stumble over, looked at without starting. Empty: nothing. Not to be asked while a daemon runs. */
export async function checkStart(config: Config, signal: AbortSignal): Promise<readonly Check[]> {
  const { home } = config;
  const checks = [
    await look('workspace', () => checkWorkspace(config)),
    await look('keys', () => checkKeys(home)),
    await look('port', () => checkPort(config.port)),
    await look('log', () => checkLog(config, signal)),
  ];
  return checks.filter((check) => check !== undefined);
}

/** A problem as the start would tell it. */
async function look(name: string, check: () => void | Promise<void>): Promise<Check | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    const remedy = error instanceof ConfigError ? error.remedy : undefined;
    return { name, state: 'fail', message: describeError(error), ...(remedy === undefined ? {} : { remedy }) };
  }
}

function checkWorkspace({ home, userHome, programFolder, rulesFolder, workspace, startFolder }: Config): void {
  if (workspace === undefined) return;
  const folders = { home: home.folder, userHome, programFolder, rulesFolder };
  resolveWorkspace({ ...folders, explicit: workspace, startFolder, makeOwnWorkspace: () => home.workspaceFolder });
}

function checkKeys(home: Home): void {
  const key = readSecret(home.signingKeyFile);
  if (key !== undefined) openSigner(key);
  for (const file of [home.secretsKeyFile, home.confirmKeyFile, home.operatorCredentialFile]) readSecret(file);
}

async function checkPort(port: number): Promise<void> {
  if (port === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer();
  server.once('error', reject);
  server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve()));
  await promise.catch((error: unknown) => {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new ConfigError(
      `Port ${port} cannot be opened: ${isTaken ? 'another program uses it' : describeError(error)}.`,
      'Choose another port with SALLYPORT_PORT; 0 takes a free one.',
    );
  });
}

/** As the start looks at it, which says what to do. */
function checkCheckpoint({ signingKeyFile, checkpointFile }: Home): void {
  const signer = openSignerAt(signingKeyFile);
  if (signer === undefined || !existsSync(checkpointFile)) return;
  openRememberedCheckpoint(readFileSync(checkpointFile, 'utf8'), checkpointFile, { signer, checkpointFile });
}

/** Undefined: there is no key, or it cannot be used, which the check of the keys tells. */
function openSignerAt(file: string): Signer | undefined {
  try {
    const key = readSecret(file);
    return key === undefined ? undefined : openSigner(key);
  } catch {
    return undefined;
  }
}

/** From its files alone, as `audit verify` does it. */
async function checkLog(config: Config, signal: AbortSignal): Promise<void> {
  if (!existsSync(config.home.databaseFile)) return;
  checkCheckpoint(config.home);
  const { intact, problems } = await auditVerifier(config)(signal);
  if (!intact)
    throw new ConfigError(problems.join('\n'), 'Restore the home from a backup, or see docs/audit-format.md.');
}
