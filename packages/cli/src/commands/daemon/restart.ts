import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { visibleJson } from '../../terminal/visible-text.ts';
import { startInBackground } from './start-in-background.ts';
import { endDaemon } from './stop.ts';

/** Ends the daemon, if one runs, and starts the program as it is on disk now, in the workspace that it had. */
export async function restartDaemon(context: CommandContext): Promise<number> {
  const { terminal, json, config } = context;
  const workspace = await readWorkspace(context);
  if (workspace !== undefined) await endDaemon(context);
  await startInBackground(context, workspace === undefined ? {} : { SALLYPORT_WORKSPACE: workspace });
  const { pid, version, address } = await context.openOperatorClient().call('OperatorService/GetStatus', {});
  if (json) terminal.print(visibleJson({ pid, version, address }));
  else {
    terminal.print(`Sallyport ${version} is serving at ${address}, in the background (process ${pid}).`);
    terminal.print(`It writes to ${config.home.logFile}`);
  }
  return exitCodes.success;
}

/** Undefined: none is running. */
async function readWorkspace(context: CommandContext): Promise<string | undefined> {
  try {
    return (await context.openOperatorClient().call('OperatorService/GetStatus', {})).workspace;
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'UNREACHABLE') return undefined;
    throw error;
  }
}
