import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Listening {
  readonly url: string;
  /** Ends the program and whatever it has started. */
  readonly close: () => Promise<void>;
}

const startWithinMs = 30_000;

/** Starts a program that serves MCP over HTTP, at a port that it is told. Resolves when it takes connections. */
export async function startListening(argsFor: (port: number) => readonly string[]): Promise<Listening> {
  const port = await findFreePort();
  // In a group of its own: some start servers through a shell, and do not always end them.
  const child = spawn(process.execPath, argsFor(port), {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: 'ignore',
    detached: true,
  });
  const close = (): Promise<void> => endGroup(child);
  const end = (): void => killGroup(child);
  process.once('exit', end);
  try {
    for (const untilMs = Date.now() + startWithinMs; !(await accepts(port)); await sleep(50)) {
      if (child.exitCode !== null || Date.now() > untilMs)
        throw new Error(`did not start: ${child.spawnargs.join(' ')}`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      process.off('exit', end);
      await close();
    },
  };
}

async function endGroup(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const ended = isOver ? Promise.resolve() : once(child, 'exit');
  killGroup(child);
  await ended;
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
