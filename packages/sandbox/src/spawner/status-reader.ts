import type { Socket } from 'node:net';
import { readPipe } from './read-pipe.ts';
import { withResolvers } from '../with-resolvers.ts';

/** The waiting child of a sandbox, in the numbers of this process. */
export interface SandboxedChild {
  readonly pid: number;
  /** Inode. Absent: the sandbox has the network of the machine. */
  readonly networkNamespace?: number;
}

const maxBytes = 64 * 1024;

/** Reads the reports of `bwrap --json-status-fd`: first who the child is, then how the program in it ended. */
export class StatusReader {
  /** Undefined when the sandbox ended before it had a child. */
  readonly child: Promise<SandboxedChild | undefined>;
  /**
   * Undefined when the program was never executed, or its end was not reported. 128 and more: ended by that signal, as
   * reported.
   */
  readonly exitCode: Promise<number | undefined>;
  readonly #socket: Socket;

  constructor(fd: number) {
    const child = withResolvers<SandboxedChild | undefined>();
    const exitCode = withResolvers<number | undefined>();
    [this.child, this.exitCode] = [child.promise, exitCode.promise];
    let text = '';
    this.#socket = readPipe(fd, (bytes) => {
      const lines = (text + Buffer.from(bytes).toString()).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const { pid, networkNamespace, code } = parseLine(line);
        if (pid !== undefined) child.resolve({ pid, ...(networkNamespace !== undefined && { networkNamespace }) });
        if (code !== undefined) exitCode.resolve(code);
      }
      if (text.length > maxBytes) this.close();
    });
    this.#socket.once('close', () => {
      child.resolve(undefined);
      exitCode.resolve(undefined);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

function parseLine(line: string): { pid?: number; networkNamespace?: number; code?: number } {
  const read = (name: string): number | undefined => {
    const [, digits] = new RegExp(`"${name}": *(\\d+)`).exec(line) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const [pid, networkNamespace, code] = [read('child-pid'), read('net-namespace'), read('exit-code')];
  return {
    ...(pid !== undefined && { pid }),
    ...(networkNamespace !== undefined && { networkNamespace }),
    ...(code !== undefined && { code }),
  };
}
