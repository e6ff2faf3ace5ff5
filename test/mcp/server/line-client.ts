import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { marks, readFrame, writeFrame } from '../../../packages/contract/src/client/message-line.ts';
import type { Frame } from '../../../packages/contract/src/client/message-line.ts';
import type { TestDoor } from './door-kit.ts';
import { initialize, sendRaw } from './raw-client.ts';

/** A line of messages as somebody may speak it who is not the bridge. */
export class LineClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  #rest = '';
  #wake: () => void = () => undefined;

  constructor(t: TestContext, socket: Socket) {
    this.socket = socket;
    t.after(() => socket.destroy());
    socket.on('data', (data: Buffer) => {
      const lines = (this.#rest + data.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.frames.push(readFrame(line) ?? assert.fail(`no frame: ${line}`));
      this.#wake();
    });
    socket.on('close', () => this.#wake());
    socket.on('error', () => undefined);
  }

  send(number: number, message: object | string): void {
    const json = typeof message === 'string' ? message : JSON.stringify(message);
    this.socket.write(writeFrame(number, marks.message, json));
  }

  cancel(number: number): void {
    this.socket.write(writeFrame(number, marks.ended));
  }

  /** The last frame of this number. */
  async end(number: number): Promise<Frame> {
    for (;;) {
      const found = this.frames.find((frame) => frame.number === number && frame.mark !== marks.news);
      if (found !== undefined) return found;
      assert.ok(!this.socket.destroyed, 'the line was closed');
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async answer(number: number, message: object | string): Promise<Frame> {
    this.send(number, message);
    return this.end(number);
  }

  async closed(): Promise<void> {
    if (!this.socket.destroyed) await new Promise((resolve) => this.socket.once('close', resolve));
  }
}

export const lineHeaders = { connection: 'Upgrade', upgrade: 'sallyport-messages/1' };

/** Everything that was answered, until the connection ends or the head is there. */
export async function askForLine(
  door: TestDoor,
  headers: Readonly<Record<string, string>>,
  start = 'GET /mcp/messages',
): Promise<{ readonly socket: Socket; readonly head: string }> {
  const socket = connect(Number(door.url.port), '127.0.0.1');
  const lines = Object.entries({ host: door.url.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${start} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let head = '';
  for (;;) {
    const data = socket.read() as Buffer | null;
    if (data !== null) head += data.toString('latin1');
    if (head.includes('\r\n\r\n') || socket.destroyed) return { socket, head };
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
}

/** An older client with a session, and a line for it. */
export async function openLine(t: TestContext, door: TestDoor, token = door.setSession()) {
  const { headers } = await sendRaw(door.url, { token, body: initialize });
  const session = String(headers['mcp-session-id']);
  const { socket, head } = await askForLine(door, {
    ...lineHeaders,
    authorization: `Bearer ${token}`,
    'mcp-session-id': session,
  });
  assert.match(head, /^HTTP\/1\.1 101 /);
  return { token, session, line: new LineClient(t, socket) };
}
