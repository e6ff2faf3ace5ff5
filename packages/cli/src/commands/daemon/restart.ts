import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GetStatusResponse, InJson } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { findInstalled } from '../service/installed-service.ts';
import type { ServiceManager } from '../service/installed-service.ts';
import { startInBackground } from './start-in-background.ts';
import { endDaemon } from './stop.ts';

const startWithinMs = 60_000;

type Status = InJson<GetStatusResponse>;

/**
 * Ends the daemon, if one runs, and starts the program as it is on disk now, in the workspace that it had. One that a
 * service manager started stays its service.
 */
export async function restartDaemon(context: CommandContext): Promise<number> {
  const { terminal, json, config } = context;
  const before = await readStatus(context);
  const manager = findManager(before);
  const { pid, version, address } = await (manager === undefined
    ? restartInBackground(before, context)
    : restartService(manager, before, context));
  const how = manager === undefined ? 'in the background' : 'as a service';
  if (json) terminal.print(visibleJson({ pid, version, address }));
  else {
    terminal.print(`Sallyport ${version} is serving at ${address}, ${how} (process ${pid}).`);
    terminal.print(`It writes to ${config.home.logFile}`);
  }
  return exitCodes.success;
}

/** Undefined: no service manager looks after this daemon. */
function findManager(running: Status | undefined): ServiceManager | undefined {
  const { kind, manager } = findInstalled() ?? {};
  if (manager === undefined) return undefined;
  // Without a daemon, the service of this user is the one that is meant.
  return running === undefined
    ? kind === 'user'
      ? manager
      : undefined
    : manager.readPid() === running.pid
      ? manager
      : undefined;
}

async function restartService(manager: ServiceManager, before: Status | undefined, context: CommandContext) {
  const [name, ...args] = manager.restart;
  const { status, stderr } = spawnSync(name, args, { encoding: 'utf8' });
  if (status !== 0) {
    const remedy = `As root: ${manager.restart.map(quoteForShell).join(' ')}`;
    throw new CommandFailure('NOT_RESTARTED', exitCodes.toolError, stderr.trim() || `${name} failed.`, { remedy });
  }
  for (const untilMs = Date.now() + startWithinMs; Date.now() < untilMs; await sleep(100)) {
    const now = await readStatus(context);
    if (now !== undefined && now.pid !== before?.pid) return now;
  }
  const remedy = `See \`${context.commandName} service logs\`.`;
  throw new CommandFailure('UNREACHABLE', exitCodes.unreachable, 'The service did not start.', { remedy });
}

async function restartInBackground(before: Status | undefined, context: CommandContext) {
  if (before !== undefined) await endDaemon(context);
  await startInBackground(context, before === undefined ? {} : { SALLYPORT_WORKSPACE: before.workspace });
  return context.openOperatorClient().call('OperatorService/GetStatus', {});
}

/** Undefined: none is running. */
async function readStatus(context: CommandContext): Promise<Status | undefined> {
  try {
    return await context.openOperatorClient().call('OperatorService/GetStatus', {});
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'UNREACHABLE') return undefined;
    throw error;
  }
}
