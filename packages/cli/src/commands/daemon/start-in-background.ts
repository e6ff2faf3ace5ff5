import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '@sallyport/contract/codes';
import type { Target } from '@sallyport/contract/http-transport';
import { CommandFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';

const startWithinMs = 20_000;

/** Starts a daemon that outlives this command, unless one answers. Two that start at once end up with the same one. */
export async function startInBackground(
  { config, terminal, commandName }: CommandContext,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { agentSocket, folder } = config.home;
  const target = { path: agentSocket };
  if (await isReachable(target)) return;
  terminal.note(`Starting a daemon in ${folder}.`);
  // The token is the client's own and no business of the daemon, whose environment others may read.
  const { SALLYPORT_TOKEN: _, ...env } = process.env;
  spawn(process.execPath, [process.argv[1] ?? '', 'up'], {
    detached: true,
    stdio: 'ignore',
    env: { ...env, ...more },
  }).unref();
  const untilMs = Date.now() + startWithinMs;
  while (!(await isReachable(target))) {
    if (Date.now() < untilMs) await sleep(50);
    else {
      throw new CommandFailure('UNREACHABLE', exitCodes.unreachable, 'The daemon did not start.', {
        remedy: `Run \`${commandName} up\` to see why.`,
      });
    }
  }
}

async function isReachable(target: Target): Promise<boolean> {
  try {
    await reach(target);
    return true;
  } catch {
    return false;
  }
}

/** Rejects with the error of the system when nobody listens. */
export async function reach(target: Target): Promise<void> {
  const socket = connect(target);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
