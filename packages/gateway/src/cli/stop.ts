import { exitCodes } from '@sallyport/contract/codes';
import type { Home } from '../daemon/home.ts';
import { readHolder } from '../daemon/lock.ts';
import type { CommandContext } from './command-context.ts';
import { CommandFailure, hasErrorCode } from './failure.ts';
import { visibleJson } from './visible-text.ts';

const pollMs = 25;
const patienceMs = 60_000;
const lastBreathMs = 2000;

/** Asks the daemon to end and waits until it has: its home is free for another one when this returns. */
export async function stopDaemon(context: CommandContext): Promise<number> {
  const { terminal, config } = context;
  const client = context.openOperatorClient();
  const { pid = 0, callsInFlight = 0 } = await client.getStatus();
  await client.stop();
  if (!context.json && callsInFlight > 0) terminal.note(`Ending what is still running (${callsInFlight}).`);
  if (!(await waitUntil(() => hasLetGo(config.home, pid), patienceMs))) {
    throw new CommandFailure('STILL_RUNNING', exitCodes.toolError, `The daemon (process ${pid}) has not ended yet.`, {
      remedy: `It ends after its last call. \`kill -9 ${pid}\` ends it now; the log survives that.`,
    });
  }
  // Its work is done; where nobody collects ended processes, its id stays.
  await waitUntil(() => !isAlive(pid), lastBreathMs);
  terminal.print(context.json ? visibleJson({ stopped: true, pid }) : 'Stopped.');
  return exitCodes.success;
}

/** The home is free for another daemon. */
function hasLetGo(home: Home, pid: number): boolean {
  return readHolder(home.lockFile)?.pid !== pid || !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, 'EPERM');
  }
}

async function waitUntil(condition: () => boolean, limitMs: number): Promise<boolean> {
  for (const untilMs = Date.now() + limitMs; Date.now() < untilMs;) {
    if (condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return condition();
}
