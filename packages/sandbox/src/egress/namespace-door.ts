import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { getSystemErrorName } from 'node:util';
import { ProgramNotStarted } from '../program.ts';
import { listenInside } from './listen-inside.ts';
import { withResolvers } from '../with-resolvers.ts';

/** A process that waits to be released, and the inode of its network namespace as bubblewrap reported it. */
export interface InsideOf {
  readonly pid: number;
  readonly networkNamespace: number;
}

/** A handle of Node for a socket that does not listen yet: to be given to `listen` of a server, or closed. */
export interface BoundSocket {
  readonly close: () => void;
}

interface Waiting {
  readonly resolve: (socket: BoundSocket) => void;
  readonly reject: (error: Error) => void;
}

/** `setns` and `sendmsg`, where Node runs on Linux. */
const systemCalls: Readonly<Record<string, readonly [setns: number, sendmsg: number]>> = {
  x64: [308, 46],
  arm64: [268, 211],
};

const perl = '/usr/bin/perl';
const installPerl = 'Install Perl: apt install perl-base (Debian, Ubuntu), dnf install perl-interpreter (Fedora).';
const answerWithinMs = 10_000;

/**
 * Opens sockets inside the network namespaces of other processes. One for all calls of a spawner: it keeps a small
 * helper process, which is started with the first call and ends with the spawner, however that ends.
 *
 * Concurrency: any number of calls at once. Failure: rejects with ProgramNotStarted, for nothing runs before.
 */
export class NamespaceDoor {
  readonly #port: number;
  readonly #user: { readonly uid: number; readonly gid: number } | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #helper: ChildProcess | undefined;
  #lastId = 0;

  /** `user`: the one that sandboxes run under, whose processes it may then enter. Absent: that of this process. */
  constructor(options: { readonly port: number; readonly user?: { readonly uid: number; readonly gid: number } }) {
    this.#port = options.port;
    this.#user = options.user;
  }

  /** A socket bound to 127.0.0.1 and the port of this door, in the namespace of the process. To be listened on. */
  async bind({ pid, networkNamespace }: InsideOf): Promise<BoundSocket> {
    const helper = (this.#helper ??= this.#start());
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = withResolvers<BoundSocket>();
    const late = setTimeout(() => {
      reject(lost('it did not answer'));
      helper.kill('SIGKILL');
    }, answerWithinMs);
    this.#waiting.set(id, { resolve, reject });
    helper.send(`${id} ${pid} ${networkNamespace}`, (error) => error && reject(lost(error.message)));
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(id);
    }
  }

  /** Ends the helper. What was bound stays open. */
  async close(): Promise<void> {
    const helper = this.#helper;
    if (helper?.pid === undefined || helper.exitCode !== null || helper.signalCode !== null) return;
    const { promise, resolve } = withResolvers<void>();
    helper.once('close', () => resolve());
    helper.ref();
    helper.kill('SIGKILL');
    await promise;
  }

  #start(): ChildProcess {
    const numbers = systemCalls[process.arch];
    if (process.platform !== 'linux' || numbers === undefined) {
      throw notStarted(`there is none for ${process.platform} on ${process.arch}`);
    }
    const helper = spawn(perl, ['-e', listenInside, ...numbers.map(String), String(this.#port)], {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      ...this.#user,
    });
    helper.on('message', (message, handle) => this.#take(message, handle as BoundSocket | undefined));
    helper.on('error', (error) => this.#drop(helper, explainMissing(error)));
    helper.once('exit', () => this.#drop(helper, lost('it ended')));
    // Only calls that wait for it, by their clocks, keep this process from ending.
    helper.unref();
    helper.channel?.unref();
    return helper;
  }

  #take(message: unknown, socket: BoundSocket | undefined): void {
    const { id, step, errno = 0 } = message as { id: number; step?: string; errno?: number };
    const waiting = this.#waiting.get(id);
    if (socket === undefined) waiting?.reject(notStarted(describeStep(step, errno)));
    // Too late for its call: kept open, it would keep the namespace alive.
    else if (waiting === undefined) socket.close();
    else waiting.resolve(socket);
  }

  #drop(helper: ChildProcess, error: Error): void {
    if (this.#helper === helper) this.#helper = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function describeStep(step: string | undefined, errno: number): string {
  return `${step} failed${errno === 0 ? '' : ` with ${getSystemErrorName(-errno)}`}`;
}

function notStarted(reason: string, options: { isTransient?: boolean; remedy?: string } = {}): ProgramNotStarted {
  const message = `The network of the sandbox could not be opened, because the helper for it failed: ${reason}.`;
  return new ProgramNotStarted('SANDBOX_UNAVAILABLE', message, options);
}

/** The next call starts a new helper. */
function lost(reason: string): ProgramNotStarted {
  return notStarted(reason, { isTransient: true });
}

function explainMissing(error: NodeJS.ErrnoException): ProgramNotStarted {
  return notStarted(error.message, error.code === 'ENOENT' || error.code === 'EACCES' ? { remedy: installPerl } : {});
}
