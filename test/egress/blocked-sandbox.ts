import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { InsideOf } from '../../packages/sandbox/src/egress/namespace-door.ts';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Why the tests with sandboxes cannot run here. */
export const skip: string | false =
  process.platform !== 'linux'
    ? 'network namespaces are of Linux'
    : (['/usr/bin/bwrap', '/usr/bin/curl'].find((file) => !existsSync(file))?.concat(' is missing') ?? false);

export const isRoot = process.getuid?.() === 0;
export const ordinaryUser: User = { uid: 21_128, gid: 21_128 };

/** As the gate starts programs: own namespaces, no capabilities. They wait until they are released. */
const confinement = [
  ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534'],
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
  ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--clearenv'],
  ...['--ro-bind', process.execPath, '/node', '--json-status-fd', '3', '--block-fd', '4'],
];

/** A program in its namespaces, before its first instruction. */
export class BlockedSandbox {
  readonly inside: InsideOf;
  readonly #bwrap: ChildProcess;
  readonly #output: Promise<string>;

  private constructor(bwrap: ChildProcess, inside: InsideOf) {
    this.#bwrap = bwrap;
    this.inside = inside;
    this.#output = text(bwrap.stdout as Readable);
  }

  static async start(
    argv: readonly string[],
    options: { readonly user?: User | undefined; readonly environment?: Readonly<Record<string, string>> } = {},
  ): Promise<BlockedSandbox> {
    const variables = Object.entries(options.environment ?? {}).flatMap(([name, value]) => ['--setenv', name, value]);
    const bwrap = spawn('/usr/bin/bwrap', [...confinement, ...variables, '--', ...argv], {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
      ...options.user,
    });
    const status = bwrap.stdio[3] as Readable;
    const [first] = (await once(createInterface(status), 'line')) as [string];
    const report = JSON.parse(first) as Record<string, number>;
    const { 'child-pid': pid = 0, 'net-namespace': networkNamespace = 0 } = report;
    return new BlockedSandbox(bwrap, { pid, networkNamespace });
  }

  /** What the program wrote, once it has ended. */
  async release(): Promise<string> {
    (this.#bwrap.stdio[4] as Writable).end('1');
    return this.#output;
  }

  /** Before it is released: a program that waits does not die with bubblewrap, so it is killed itself. */
  async kill(): Promise<void> {
    const ended = once(this.#bwrap, 'close');
    process.kill(this.inside.pid, 'SIGKILL');
    await ended;
  }
}
