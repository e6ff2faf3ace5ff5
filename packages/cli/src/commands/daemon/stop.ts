import { exitCodes } from '@sallyport/contract/codes';
import type { Home } from '@sallyport/gateway';
import { isAlive, readHolder } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { CommandFailure } from '../../client/failure.ts';
import { visibleJson } from '../../terminal/visible-text.ts';

const pollMs = 25;
const patienceMs = 60_000;
const lastBreathMs = 2000;

/** Asks the daemon to end and waits until it has: its home is free for another one when this returns. */
export async function stopDaemon(context: CommandContext): Promise<number> {
  const pid = await endDaemon(context);
  context.terminal.print(context.json ? visibleJson({ stopped: true, pid }) : 'Stopped.');
  return exitCodes.success;
}

/** Returns the id of the process that it was. */
export async function endDaemon(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { terminal } = context;
  const { pid, callsInFlight } = await client.call('OperatorService/GetStatus', {});
  await client.call('OperatorService/Stop', {});
  if (!context.json && callsInFlight > 0) terminal.note(`Ending running calls (${callsInFlight}).`);
  if (!(await waitUntil(endOf(client, context.config.home, pid), patienceMs))) {
    throw new CommandFailure('STILL_RUNNING', exitCodes.toolError, `The daemon (process ${pid}) has not ended yet.`, {
      remedy: `It ends after its last call. \`kill -9 ${pid}\` ends it now; the log survives that.`,
    });
  }
  // Its work is done. Without /proc, an ended process that nobody collected looks alive.
  await waitUntil(() => !isRunning(pid), lastBreathMs);
  return pid;
}

/** Whether it has ended. Who came by its port cannot look into its home, and sees that it answers no more. */
function endOf(client: DaemonClient, home: Home, pid: number): () => boolean | Promise<boolean> {
  return 'path' in client.target ? () => hasLetGo(home, pid) : () => isSilent(client);
}

async function isSilent(client: DaemonClient): Promise<boolean> {
  try {
    await client.call('OperatorService/GetStatus', {});
    return false;
  } catch (error) {
    return error instanceof CommandFailure && error.code === 'UNREACHABLE';
  }
}

/** The home is free for another daemon. */
function hasLetGo(home: Home, pid: number): boolean {
  return readHolder(home.lockFile)?.pid !== pid || !isRunning(pid);
}

function isRunning(pid: number): boolean {
  return isAlive({ pid, began: '' });
}

async function waitUntil(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  for (const untilMs = Date.now() + limitMs; Date.now() < untilMs;) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return condition();
}
